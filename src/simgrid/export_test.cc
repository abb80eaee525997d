// Whole runs as actions: made-up ranks, whose calls and actions are told here line by line.
#include "simgrid/export.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "base/test_folder.h"
#include "spec/ids.h"
#include "spec/spec.h"
#include "trace/testing/synthetic.h"
#include "trace/testing/synthetic_parts.h"

namespace cairn::simgrid {
namespace {

namespace fs = std::filesystem;
using trace::Atom;
using trace::synthetic::constant;
namespace id = spec::constant_id;

constexpr Atom kWorld = constant(id::k_COMM_WORLD);
constexpr Atom kAny = constant(id::k_ANY_SOURCE);
constexpr Atom kInt = constant(id::k_INT);

/// Calls of one rank, each told by its fields in the order of its parameters.
class Rank {
 public:
  explicit Rank(uint32_t rank) : rank_(rank) {}
  Rank &call(const char *function, std::vector<std::vector<Atom>> fields) {
    trace::Row row;
    row.function = spec::find_function(function)->id;
    row.site = 1;
    for (auto &atoms : fields) row.fields.push_back({false, std::move(atoms), {}});
    recording_.call(std::move(row));
    return *this;
  }
  Rank &init() { return call("MPI_Init", {{trace::kNull}, {trace::kNull}}); }
  Rank &finalize() { return call("MPI_Finalize", {}); }
  Rank &send(Atom count, Atom to, Atom tag) {
    return call("MPI_Send", {kBuffer, {count}, {kInt, 0}, {to}, {tag}, {kWorld}});
  }
  Rank &isend(Atom count, Atom to, Atom tag, Atom request) {
    return call("MPI_Isend", {kBuffer, {count}, {kInt, 0}, {to}, {tag}, {kWorld}, {1, request}});
  }
  Rank &irecv(Atom count, Atom from, Atom tag, Atom request) {
    return call("MPI_Irecv", {kBuffer, {count}, {kInt, 0}, {from}, {tag}, {kWorld}, {1, request}});
  }
  Rank &recv(Atom count, Atom from, Atom tag, std::vector<Atom> status) {
    return call("MPI_Recv", {kBuffer, {count}, {kInt, 0}, {from}, {tag}, {kWorld}, std::move(status)});
  }
  Rank &wait(Atom request, std::vector<Atom> status) { return call("MPI_Wait", {{1, request}, std::move(status)}); }
  [[nodiscard]] trace::ProcessRecord record(uint32_t ranks) const {
    return trace::synthetic::single_thread(rank_, ranks, recording_, rank_ + 1);
  }

 private:
  const std::vector<Atom> kBuffer{trace::kStack, 0, -64};
  uint32_t rank_;
  trace::synthetic::Recording recording_;
};

const std::vector<Atom> kAsAsked{trace::kImplied};
const std::vector<Atom> kIgnored{constant(id::k_STATUS_IGNORE)};

trace::Trace traced(const std::vector<Rank> &ranks) {
  std::optional<trace::Part> part;
  for (const Rank &rank : ranks) {
    trace::Part next = *trace::Part::of(rank.record(static_cast<uint32_t>(ranks.size())));
    part = part ? *trace::Part::merge(*std::move(part), std::move(next)) : std::move(next);
  }
  return *trace::Trace::from_bytes(*part->to_file({"command", "mpi", "cairn", "none", "complete", 1, 2}), "test");
}

class Export : public testing::Test {
 protected:
  /// Without the rank before each line, and the blanks behind it.
  std::vector<std::string> actions(const std::vector<Rank> &ranks, uint32_t rank,
                                   ExportSettings settings = {1e9, false}) {
    const std::string folder = folder_ / std::to_string(runs_++);
    const trace::Trace trace = traced(ranks);
    const auto counts =
        export_run(trace, analyze::Sources(trace, analyze::Sources::Look::in_trace_only), folder, settings);
    EXPECT_TRUE(counts.has_value());
    if (counts) counts_ = *counts;
    std::ifstream in(fmt_path(folder, rank));
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with('#')) continue;
      std::istringstream words(line);
      std::string text;
      std::string word;
      words >> word;
      EXPECT_EQ(word, std::to_string(rank));
      while (words >> word) text += (text.empty() ? "" : " ") + word;
      lines.push_back(text);
    }
    return lines;
  }
  static std::string fmt_path(const std::string &folder, uint32_t rank) {
    return folder + "/rank-" + std::to_string(rank) + ".txt";
  }
  const TestFolder made_;
  const fs::path folder_ = made_.path();
  int runs_ = 0;
  Counts counts_;
};

using Lines = std::vector<std::string>;

TEST_F(Export, WritesMessages) {
  Rank first(0);
  first.init().isend(10, 1, 7, 0).send(1, 1, 8).wait(0, kIgnored).finalize();
  Rank second(1);
  second.init().irecv(20, 0, 7, 0).recv(1, 0, 8, kAsAsked).wait(0, kAsAsked).finalize();
  EXPECT_EQ(actions({first, second}, 0), (Lines{"init", "isend 1 7 40", "send 1 8 4", "wait 0 1 7", "finalize"}));
  EXPECT_EQ(actions({first, second}, 1), (Lines{"init", "irecv 0 7 80", "recv 0 8 4", "wait 0 1 7", "finalize"}));
  EXPECT_EQ(counts_.sends, 2U);
  EXPECT_EQ(counts_.receives, 2U);
  EXPECT_EQ(counts_.bytes, 44U);
  EXPECT_TRUE(counts_.left_out.empty());
}

TEST_F(Export, FillsInWhomReceivesFromAnybodyHeard) {
  Rank first(0);
  // Posted before, and complete after, another one; what the statuses say follows in each.
  first.init().irecv(5, kAny, 3, 0).irecv(5, kAny, 3, 1);
  first.wait(1, {1, trace::kImplied, 0, 4, 0}).wait(0, {2, trace::kImplied, 0, 4, 0}).finalize();
  Rank second(1);
  second.init().send(1, 0, 3).finalize();
  Rank third(2);
  third.init().send(1, 0, 3).finalize();
  EXPECT_EQ(actions({first, second, third}, 0),
            (Lines{"init", "irecv 2 3 20", "irecv 1 3 20", "wait 1 0 3", "wait 2 0 3", "finalize"}));
}

TEST_F(Export, LeavesWhatNobodySaysToSimGrid) {
  Rank first(0);
  first.init().recv(5, kAny, 3, kIgnored).finalize();
  Rank second(1);
  second.init().send(1, 0, 3).finalize();
  EXPECT_EQ(actions({first, second}, 0), (Lines{"init", "recv -555 3 20", "finalize"}));
  EXPECT_EQ(counts_.inexact.size(), 1U);
}

TEST_F(Export, WaitsForAllAtOnceWhereNothingElseIsOpen) {
  Rank first(0);
  first.init().isend(1, 1, 1, 0).isend(1, 1, 2, 1);
  first.call("MPI_Waitall", {{2}, {1, 0, 1, 1}, {constant(id::k_STATUSES_IGNORE)}}).finalize();
  Rank second(1);
  second.init().recv(1, 0, 1, kAsAsked).recv(1, 0, 2, kAsAsked).finalize();
  EXPECT_EQ(actions({first, second}, 0), (Lines{"init", "isend 1 1 4", "isend 1 2 4", "waitall", "finalize"}));
}

TEST_F(Export, DoesNotWaitForWhatIsStillOpen) {
  Rank first(0);
  first.init().irecv(1, kAny, 3, 0).isend(1, 1, 1, 1).isend(1, 1, 2, 2);
  first.call("MPI_Waitall", {{2}, {1, 1, 1, 2}, {constant(id::k_STATUSES_IGNORE)}});
  first.wait(0, {1, trace::kImplied, 0, 4, 0}).finalize();
  Rank second(1);
  second.init().recv(1, 0, 1, kAsAsked).recv(1, 0, 2, kAsAsked).send(1, 0, 3).finalize();
  EXPECT_EQ(actions({first, second}, 0), (Lines{"init", "irecv 1 3 4", "isend 1 1 4", "isend 1 2 4", "wait 0 1 1",
                                                "wait 0 1 2", "wait 1 0 3", "finalize"}));
}

TEST_F(Export, DropsWhatWasCancelled) {
  Rank first(0);
  first.init().irecv(1, kAny, 3, 0).call("MPI_Cancel", {{1, 0}}).wait(0, {trace::kImplied, trace::kImplied, 0, 0, 1});
  first.irecv(1, 1, 4, 0).call("MPI_Cancel", {{1, 0}}).wait(0, {1, 4, 0, 4, 0}).finalize();
  Rank second(1);
  second.init().send(1, 0, 4).finalize();
  EXPECT_EQ(actions({first, second}, 0), (Lines{"init", "irecv 1 4 4", "wait 1 0 4", "finalize"}));
  EXPECT_EQ(counts_.receives, 1U);
  EXPECT_EQ(counts_.left_out.size(), 1U);
}

TEST_F(Export, WritesCollectiveOperationsOfAll) {
  std::vector<Rank> ranks;
  const std::vector<Atom> buffer{trace::kStack, 0, -64};
  for (uint32_t rank = 0; rank < 3; ++rank) {
    Rank made(rank);
    made.init().call("MPI_Barrier", {{kWorld}});
    made.call("MPI_Bcast", {buffer, {10}, {kInt, 0}, {1}, {kWorld}});
    made.call("MPI_Allreduce", {buffer, buffer, {2}, {kInt, 0}, {constant(id::k_SUM), 0}, {kWorld}});
    made.call("MPI_Alltoall", {buffer, {1}, {kInt, 0}, buffer, {1}, {kInt, 0}, {kWorld}});
    made.finalize();
    ranks.push_back(made);
  }
  EXPECT_EQ(actions(ranks, 2), (Lines{"init", "barrier", "bcast 40 1", "allreduce 8 0", "alltoall 4 4", "finalize"}));
  EXPECT_EQ(counts_.collectives, 12U);
  EXPECT_EQ(counts_.in_messages, 0U);
}

TEST_F(Export, PostsNonblockingOperationsAtOnce) {
  std::vector<Rank> ranks;
  for (uint32_t rank = 0; rank < 2; ++rank) {
    Rank made(rank);
    made.init().call("MPI_Ibarrier", {{kWorld}, {1, 0}}).wait(0, kIgnored).finalize();
    ranks.push_back(made);
  }
  const Lines lines = actions(ranks, 0);
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_TRUE(lines[1].starts_with("irecv 1 -"));
  EXPECT_TRUE(lines[2].starts_with("isend 1 -"));
  EXPECT_EQ(lines[3], "waitall");
}

TEST_F(Export, SharesOutWhatARankComputed) {
  Rank first(0);  // 1,000 ns, and three calls
  first.init().send(1, 1, 8).finalize();
  Rank second(1);
  second.init().recv(1, 0, 8, kAsAsked).finalize();
  EXPECT_EQ(actions({first, second}, 0, {1e9, true}),
            (Lines{"init", "compute 667", "send 1 8 4", "compute 333", "finalize"}));
  EXPECT_EQ(actions({first, second}, 0, {1e12, true})[1], "compute 666667");
}

TEST_F(Export, TakesOnlyItsOwnFolder) {
  Rank alone(0);
  alone.init().finalize();
  const trace::Trace trace = traced({alone});
  const analyze::Sources sources(trace, analyze::Sources::Look::in_trace_only);
  const std::string folder = folder_ / "run";
  ASSERT_TRUE(export_run(trace, sources, folder, {}).has_value());
  const auto again = export_run(trace, sources, folder, {});
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().kind, ErrorKind::usage);
  EXPECT_TRUE(fs::exists(list_in(folder)));
  EXPECT_FALSE(export_run(trace, sources, folder_ / "none" / "run", {}).has_value());
}

TEST_F(Export, NeedsAllRanks) {
  Rank second(1);
  second.init().finalize();
  trace::Part part = *trace::Part::of(second.record(2));
  const auto trace =
      *trace::Trace::from_bytes(*part.to_file({"command", "mpi", "cairn", "none", "complete", 1, 2}), "test");
  const auto may = may_be_exported(trace);
  ASSERT_FALSE(may.has_value());
  EXPECT_NE(may.error().message.find("1 of 2 ranks"), std::string::npos);
}

/// Random programs, whose calls make no sense: whatever they say, nothing goes wrong but what is told.
TEST_F(Export, GoesThroughAnyTrace) {
  for (uint64_t seed = 1; seed < 6; ++seed) {
    for (const auto &processes : {trace::random_program(5, seed), trace::varying_program(4, seed),
                                  trace::exchanging_program(4, seed), trace::polling_program(3, seed)}) {
      std::optional<trace::Part> part;
      for (const trace::ProcessRecord &process : processes) {
        trace::Part next = *trace::Part::of(process);
        part = part ? *trace::Part::merge(*std::move(part), std::move(next)) : std::move(next);
      }
      const char *timing = processes[0].sequences[0].stats.empty() ? "lossless" : "stats";
      const auto trace =
          trace::Trace::from_bytes(*part->to_file({"command", "mpi", "cairn", timing, "complete", 1, 2}), "test");
      ASSERT_TRUE(trace.has_value());
      const analyze::Sources sources(*trace, analyze::Sources::Look::in_trace_only);
      const auto counts = export_run(*trace, sources, folder_ / std::to_string(runs_++), {});
      if (counts) {
        EXPECT_GE(counts->lines, 2 * processes.size());
      }
    }
  }
}

}  // namespace
}  // namespace cairn::simgrid
