// What handles mean, in calls that are made up.
#include "objects/rank_objects.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

#include "spec/ids.h"

namespace cairn::objects {
namespace {

using Does = ObjectUse::Does;
using Fields = std::vector<std::vector<trace::Atom>>;

class RankObjectsTest : public ::testing::Test {
 protected:
  /// The next call; `fields`: of the parameters, and what it returns.
  const std::vector<ObjectUse> &call(const char *name, const Fields &fields) {
    trace::Row &row = rows_.emplace_back();
    row.function = spec::find_function(name)->id;
    for (const auto &atoms : fields) row.fields.push_back({false, atoms, {}});
    trace::Event event;
    event.index = event.call = static_cast<uint32_t>(next_++);
    event.values = &row;
    return objects_.see(event, scope_);
  }
  /// The one use of the call.
  static ObjectUse only(const std::vector<ObjectUse> &uses) {
    EXPECT_EQ(uses.size(), 1U);
    return uses.size() == 1 ? uses[0] : ObjectUse();
  }
  static trace::Atom constant(int id) { return trace::special(static_cast<uint16_t>(trace::kFirstConstant + id)); }

  static constexpr trace::Atom kSite = 1;
  static Fields isend(trace::Atom place) {
    return {{trace::kHeap, 0, 0}, {1}, {constant(spec::constant_id::k_INT), 0}, {0}, {0}, world(), {kSite, place}, {0}};
  }
  static Fields receive_init(trace::Atom place) { return isend(place); }
  static std::vector<trace::Atom> world() { return {constant(spec::constant_id::k_COMM_WORLD)}; }
  static std::vector<trace::Atom> ignored() { return {constant(spec::constant_id::k_STATUS_IGNORE)}; }

  TypeLayouts layouts_;
  RankObjects objects_{&layouts_};
  analyze::RowScope scope_{{{}, {0, 0x10}}, 0};
  std::deque<trace::Row> rows_;
  uint64_t next_ = 0;
};

TEST_F(RankObjectsTest, TellsObjectsOfOneNameApart) {
  for (uint64_t turn = 0; turn < 3; ++turn) {
    const ObjectUse made = only(call("MPI_Isend", isend(0)));
    EXPECT_EQ(made.does, Does::makes);
    EXPECT_EQ(made.object.made, 2 * turn);
    const ObjectUse completed = only(call("MPI_Wait", {{kSite, 0}, ignored(), {0}}));
    EXPECT_EQ(completed.does, Does::completes);
    EXPECT_EQ(completed.object.made, 2 * turn);
    EXPECT_TRUE(completed.is_gone());
    EXPECT_TRUE(objects_.living().empty());
  }
  EXPECT_TRUE(call("MPI_Wait", {{kSite, 0}, ignored(), {0}}).empty());  // nobody made it
}

TEST_F(RankObjectsTest, KnowsWhatATestFound) {
  call("MPI_Isend", isend(0));
  const ObjectUse tested = only(call("MPI_Test", {{kSite, 0}, {0}, {}, {0}}));
  EXPECT_EQ(tested.does, Does::names);
  ASSERT_EQ(objects_.living().size(), 1U);
  EXPECT_EQ(only(call("MPI_Test", {{kSite, 0}, {1}, ignored(), {0}})).does, Does::completes);
  EXPECT_TRUE(objects_.living().empty());
}

TEST_F(RankObjectsTest, TellsWhichOfAnArrayAreWhich) {
  call("MPI_Isend", isend(0));
  call("MPI_Isend", isend(1));
  const trace::Atom null = constant(spec::constant_id::k_REQUEST_NULL);
  const auto &uses = call("MPI_Waitall", {{3}, {kSite, 1, null, 0, kSite, 0}, ignored(), {0}});
  ASSERT_EQ(uses.size(), 2U);
  EXPECT_EQ(uses[0].place, 0U);
  EXPECT_EQ(uses[0].object.made, 1U);
  EXPECT_EQ(uses[1].place, 2U);
  EXPECT_EQ(uses[1].object.made, 0U);
}

TEST_F(RankObjectsTest, TellsStartsOfPersistentRequestsApart) {
  EXPECT_EQ(only(call("MPI_Recv_init", receive_init(0))).object.started, std::nullopt);
  for (uint64_t turn = 0; turn < 2; ++turn) {
    const ObjectUse started = only(call("MPI_Start", {{kSite, 0}, {0}}));
    EXPECT_EQ(started.does, Does::starts);
    EXPECT_EQ(started.object.started, 1 + 2 * turn);
    const ObjectUse completed = only(call("MPI_Wait", {{kSite, 0}, ignored(), {0}}));
    EXPECT_EQ(completed.object.made, 0U);
    EXPECT_EQ(completed.object.started, 1 + 2 * turn);
    EXPECT_FALSE(completed.is_gone());
  }
  EXPECT_EQ(objects_.living().at(0).second.started, std::nullopt);
  EXPECT_TRUE(only(call("MPI_Request_free", {{kSite, 0}, {0}})).is_gone());
}

TEST_F(RankObjectsTest, KnowsWhatDatatypesSpan) {
  const auto vector = [&](trace::Atom count) {
    return only(call("MPI_Type_vector", {{count}, {1}, {5}, {constant(spec::constant_id::k_INT), 0}, {kSite, 0}, {0}}));
  };
  EXPECT_EQ(vector(3).object.layout->extent(), 44);
  EXPECT_EQ(only(call("MPI_Type_commit", {{kSite, 0}, {0}})).does, Does::names);
  EXPECT_EQ(only(call("MPI_Type_free", {{kSite, 0}, {0}})).object.made, 0U);
  EXPECT_EQ(vector(4).object.layout->extent(), 64);
  EXPECT_EQ(only(call("MPI_Type_free", {{kSite, 0}, {0}})).object.made, 3U);
}

TEST_F(RankObjectsTest, CountsWhatIsGivenOnceMore) {
  call("MPI_Type_contiguous", {{2}, {constant(spec::constant_id::k_INT), 0}, {kSite, 0}, {0}});
  const ObjectUse given = only(call("MPI_Type_get_contents", {{kSite, 5}, {0}, {0}, {1}, {}, {}, {kSite, 0}, {0}}));
  EXPECT_EQ(given.does, Does::names);
  EXPECT_EQ(given.object.made, 0U);
  EXPECT_FALSE(only(call("MPI_Type_free", {{kSite, 0}, {0}})).is_gone());
  EXPECT_TRUE(only(call("MPI_Type_free", {{kSite, 0}, {0}})).is_gone());
  EXPECT_TRUE(objects_.living().empty());
}

TEST_F(RankObjectsTest, TakesNothingFromACallThatFailed) {
  Fields failed = isend(0);
  failed.back() = {constant(spec::constant_id::k_ERR_RANK), 5};
  EXPECT_TRUE(call("MPI_Isend", failed).empty());
  EXPECT_TRUE(objects_.living().empty());
}

}  // namespace
}  // namespace cairn::objects
