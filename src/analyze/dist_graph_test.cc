// Neighbours that processes told for each other.
#include "analyze/dist_graph.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analyze/topology.h"
#include "spec/spec.h"
#include "trace/values/atom.h"

namespace cairn::analyze {
namespace {

using trace::Atom;
using Numbers = std::vector<int64_t>;

trace::Row creation(const std::vector<Atom> &sources, const std::vector<Atom> &degrees,
                    const std::vector<Atom> &destinations) {
  trace::Row row;
  const spec::Function &function = *spec::find_function("MPI_Dist_graph_create");
  row.function = function.id;
  row.fields.resize(function.parameter_count + 1U);
  row.fields[1].atoms = {static_cast<Atom>(sources.size())};
  row.fields[2].atoms = sources;
  row.fields[3].atoms = degrees;
  row.fields[4].atoms = destinations;
  row.fields.back().atoms = {0};
  return row;
}

class Graph : public testing::Test {
 protected:
  void add(uint32_t process, const trace::Row &row) { graph_.add(process, RowAccess(row, scope_)); }
  [[nodiscard]] Numbers sources(uint32_t place) const { return graph_.of(place)->sources; }
  [[nodiscard]] Numbers destinations(uint32_t place) const { return graph_.of(place)->destinations; }
  RowScope scope_;
  DistGraph graph_;
};

TEST_F(Graph, IsWhatAllOfThemSay) {
  add(4, creation({1, 2}, {2, 1}, {0, 2, 0}));
  add(5, creation({}, {}, {}));
  add(6, creation({2}, {1}, {1}));
  add(6, creation({2}, {1}, {1}));  // a call that was recorded twice over
  graph_.finish(3);
  EXPECT_EQ(sources(0), (Numbers{1, 2}));
  EXPECT_EQ(destinations(0), Numbers());
  EXPECT_EQ(sources(1), Numbers{2});
  EXPECT_EQ(destinations(1), (Numbers{0, 2}));
  EXPECT_EQ(sources(2), Numbers{1});
  EXPECT_EQ(destinations(2), (Numbers{0, 1}));
  EXPECT_FALSE(graph_.of(1)->ordered);
  EXPECT_FALSE(graph_.of(2)->ordered);
}

TEST_F(Graph, HasAnOrderWhereNobodyHasTwoNeighbors) {
  add(0, creation({0, 1}, {2, 1}, {1, 1, 0}));
  add(1, creation({}, {}, {}));
  graph_.finish(2);
  EXPECT_EQ(destinations(0), (Numbers{1, 1}));
  EXPECT_TRUE(graph_.of(0)->ordered) << "it is the same one twice";
  EXPECT_TRUE(graph_.of(1)->ordered);
}

TEST_F(Graph, IsUnknownWhereACallIsMissing) {
  add(0, creation({0}, {1}, {1}));
  graph_.finish(2);
  EXPECT_FALSE(graph_.of(0).has_value());
}

TEST_F(Graph, IsUnknownWhereACallDoesNotSayIt) {
  add(0, creation({0}, {2}, {1}));
  add(1, creation({}, {}, {}));
  graph_.finish(2);
  EXPECT_FALSE(graph_.of(0).has_value());
}

TEST_F(Graph, IsTheTopologyOfItsCommunicatorAndOfCopies) {
  const trace::Row row = creation({0, 1}, {1, 1}, {1, 2});
  add(0, row);
  auto graph = std::make_shared<DistGraph>(graph_);
  graph->finish(1);
  const DistGraphs graphs{{"comm(1@0)", graph}};
  Topologies topologies(&graphs);
  NewCommunicator made;
  made.name = "comm(1@0)";
  topologies.see(RowAccess(row, scope_), made);
  EXPECT_EQ(topologies.of("comm(1@0)", 1)->sources, Numbers{0});
  trace::Row copy;
  copy.function = spec::find_function("MPI_Comm_dup")->id;
  copy.fields.resize(4);
  made.parent = "comm(1@0)";
  made.name = "comm(1@0.0@0)";
  topologies.see(RowAccess(copy, scope_), made);
  EXPECT_EQ(topologies.of("comm(1@0.0@0)", 1)->destinations, Numbers{2});
  Topologies without;
  made.name = "comm(1@0)";
  without.see(RowAccess(row, scope_), made);
  EXPECT_FALSE(without.of("comm(1@0)", 1).has_value());
}

}  // namespace
}  // namespace cairn::analyze
