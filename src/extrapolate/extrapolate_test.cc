#include "extrapolate/extrapolate.h"

#include <gtest/gtest.h>

#include "analyze/call_diff.h"
#include "extrapolate/distance.h"
#include "trace/testing/synthetic.h"
#include "trace/testing/synthetic_parts.h"

namespace cairn::extrapolate {
namespace {

using trace::Part;
using trace::ProcessRecord;
using trace::Trace;

Trace trace_of(const std::vector<ProcessRecord> &processes) {
  Part whole = *Part::of(processes.front());
  for (size_t i = 1; i < processes.size(); ++i) whole = *Part::merge(std::move(whole), *Part::of(processes[i]));
  trace::RunInfo run;
  run.command = "stencil";
  run.timing = "none";
  return *Trace::from_bytes(*whole.to_file(run), "made.cairn");
}

Trace stencil(uint32_t side, uint32_t iterations) {
  std::vector<ProcessRecord> processes;
  for (uint32_t rank = 0; rank < side * side; ++rank) {
    processes.push_back(trace::stencil_rank(rank, side, side, iterations));
  }
  return trace_of(processes);
}

std::vector<Given> given(const std::vector<Trace> &traces, const std::vector<int64_t> &scales = {}) {
  std::vector<Given> result;
  for (size_t i = 0; i < traces.size(); ++i) {
    result.push_back({&traces[i], "trace " + std::to_string(i), scales.empty() ? 0 : scales[i]});
  }
  return result;
}

std::vector<Trace> stencils(const std::vector<uint32_t> &sides, const std::vector<uint32_t> &iterations) {
  std::vector<Trace> traces;
  for (size_t i = 0; i < sides.size(); ++i) traces.push_back(stencil(sides[i], iterations[i]));
  return traces;
}

TEST(Extrapolate, AStencilIsWhatItWouldBe) {
  const std::vector<Trace> small = stencils({2, 3, 4}, {20, 20, 20});
  auto made = extrapolated(given(small), {100, 0});
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_TRUE(made->certainty.drawn.empty());
  EXPECT_EQ(made->failed, 0U);
  const Trace large = *Trace::from_bytes(made->file, "large.cairn");
  const analyze::CallDiff diff = analyze::call_diff(large, stencil(10, 20), {}, true);
  EXPECT_TRUE(diff.equal()) << diff.other_order << ' ' << diff.other_arguments << ' ' << diff.other_results;
  EXPECT_EQ(diff.calls, 100U * 197) << "all calls of all ranks";
  EXPECT_EQ(large.run().status, "extrapolated");
  EXPECT_NE(large.rank_info(0).degraded.find("extrapolated from runs of 4, 9, 16 ranks"), std::string::npos);
}

TEST(Extrapolate, StepsAreWhatTheyWouldBe) {
  const std::vector<Trace> small = stencils({3, 3, 3}, {10, 20, 40});
  auto made = extrapolated(given(small, {10, 20, 40}), {9, 170});
  ASSERT_TRUE(made.has_value()) << made.error().message;
  const Trace large = *Trace::from_bytes(made->file, "large.cairn");
  EXPECT_TRUE(analyze::call_diff(large, stencil(3, 170), {}, true).equal());
}

TEST(Extrapolate, SaysWhatItDrew) {
  // Sizes in another order on each rank: nothing that a law could give.
  std::vector<Trace> small;
  for (const uint32_t ranks : {4U, 8U, 16U}) small.push_back(trace_of(trace::varying_program(ranks, 3)));
  auto made = extrapolated(given(small), {32, 0});
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_FALSE(made->certainty.drawn.empty());
  const Trace large = *Trace::from_bytes(made->file, "large.cairn");
  EXPECT_NE(large.rank_info(31).degraded.find("no rule, drawn from the largest run"), std::string::npos);
}

TEST(Extrapolate, RefusesWhatTellsNothing) {
  const auto refused = [](std::vector<Given> from, const Target &target) {
    const auto made = extrapolated(std::move(from), target);
    return made ? std::string() : made.error().message;
  };
  const std::vector<Trace> small = stencils({2, 2, 3}, {10, 20, 10});
  EXPECT_EQ(refused({given(small)[0]}, {16, 0}),
            "one trace is not enough: what differs with the number of ranks cannot be seen in it");
  EXPECT_EQ(refused({given(small)[0], given(small)[1]}, {16, 0}), "trace 0 and trace 1 both have 4 ranks");
  EXPECT_EQ(refused({given(small)[0], given(small)[2]}, {3, 0}),
            "3 ranks are fewer than the 4 of trace 0, the smallest trace");
  EXPECT_EQ(refused(given({}), {3, 0}).substr(0, 26), "one trace is not enough: w");
  std::vector<Given> by_steps = given(small, {10, 20, 30});
  EXPECT_EQ(refused({by_steps[0], by_steps[2]}, {4, 100}), "trace 0 has 4 ranks and trace 2 has 9");
  std::vector<Trace> others;
  others.push_back(stencil(2, 10));
  others.push_back(trace_of(trace::partners_program(16, 1)));
  EXPECT_NE(refused(given(others), {64, 0}).find("are of different programs"), std::string::npos);
}

/// Each rank sends so often to the one that is so far away.
Trace sending(uint32_t ranks, uint32_t away, uint32_t often) {
  using trace::synthetic::atoms;
  std::vector<ProcessRecord> processes;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    trace::synthetic::Recording recording;
    const trace::Atom dest = (rank + away) % ranks;
    for (uint32_t i = 0; i < often; ++i) {
      recording.call({spec::find_function("MPI_Send")->id,
                      1,
                      0,
                      {atoms({trace::kStack, 0, -64}), atoms({3}), atoms({trace::synthetic::kDouble, 0}), atoms({dest}),
                       atoms({7}), atoms({trace::synthetic::kWorld})}});
    }
    processes.push_back(trace::synthetic::single_thread(rank, ranks, recording, 1));
  }
  return trace_of(processes);
}

TEST(Distance, IsNothingToItselfAndAllToAnother) {
  const Trace one = sending(8, 1, 10);
  const Distance none = distance_between(one, one);
  EXPECT_EQ(none.messages, 0);
  EXPECT_EQ(none.first.messages, 80U);
  EXPECT_EQ(none.second.messages, 80U);
  EXPECT_EQ(distance_between(one, sending(8, 2, 10)).messages, 1);
  EXPECT_DOUBLE_EQ(distance_between(one, sending(8, 1, 30)).messages, 0.5);
}

}  // namespace
}  // namespace cairn::extrapolate
