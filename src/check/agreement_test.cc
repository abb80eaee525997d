#include "check/agreement.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "check/sites_testing.h"
#include "spec/ids.h"

namespace cairn::check {
namespace {

/// Ranks 0 and 1 in a group, 2 to 4 in the other.
class AgreementTest : public testing::Test {
 protected:
  static constexpr size_t kFirst = 2;
  static constexpr size_t kAll = 5;

  Content::Part ints(uint64_t count) { return Stretch{signatures.of({{1, 1}}), count}; }
  static std::shared_ptr<Content> of(std::vector<Content::Part> sends, std::vector<Content::Part> receives,
                                     std::optional<int64_t> root = std::nullopt) {
    auto made = std::make_shared<Content>();
    made->sends = std::move(sends);
    made->receives = std::move(receives);
    made->root = root;
    return made;
  }
  static std::shared_ptr<Content> root_of(std::vector<Content::Part> sends, std::vector<Content::Part> receives) {
    auto made = of(std::move(sends), std::move(receives));
    made->is_root = true;
    return made;
  }
  /// What is found at the call, in which each says this.
  std::vector<std::string> found(uint32_t function, const std::vector<std::shared_ptr<Content>> &all) {
    analyze::Meeting meeting;
    meeting.operation = function;
    for (uint32_t rank = 0; rank < kAll; ++rank) {
      analyze::CallTime call;
      call.rank = rank;
      call.function = function;
      call.site = site++ % 60;
      meeting.begins.push_back(call);
      meeting.came.push_back(true);
      meeting.contents.push_back(all[rank]);
    }
    agreement.over(meeting, {0, 1, 2, 3, 4}, kFirst);
    std::vector<std::string> texts;
    for (const Finding &each : findings.take()) texts.push_back(each.text);
    return texts;
  }
  static std::vector<std::string> one(const std::string &text) { return {text}; }

  trace::Trace trace = trace_of_sites(64);
  analyze::Sources sources{trace, analyze::Sources::Look::in_trace_only};
  Findings findings{sources};
  Signatures signatures;
  Kinds kinds = Kinds::all();
  Agreement agreement{kinds, &findings, [](uint32_t) { return "comm"; }, [](uint32_t) { return true; }};
  uint32_t site = 0;
};
using None = std::vector<std::string>;

TEST_F(AgreementTest, TwoGroupsExchangeWhatTheOtherExpects) {
  // 3 to the larger group, 7 to the smaller one.
  const auto a = of({ints(3)}, {ints(7)});
  const auto b = of({ints(7)}, {ints(3)});
  EXPECT_EQ(found(spec::function_id::Allgather, {a, a, b, b, b}), None());
  EXPECT_EQ(found(spec::function_id::Alltoall, {a, a, b, b, b}), None());
  // Rank 3 expects 4 of the first one.
  const auto c = of({ints(7)}, {ints(4), ints(3)});
  EXPECT_EQ(found(spec::function_id::Allgatherv, {a, a, b, c, b}).size(), 1U);
  const auto d = of({ints(7)}, {ints(3), ints(3)});
  const auto e = of({ints(1)}, {ints(7), ints(7), ints(2)});
  EXPECT_EQ(found(spec::function_id::Allgatherv, {of({ints(3)}, {ints(7), ints(7), ints(7)}), e, d, d, d}).size(), 1U);
  EXPECT_EQ(found(spec::function_id::Allreduce, {a, a, of({ints(3)}, {ints(3)}), b, b}),
            None());  // as far as it is known, a's 3 come to b's 3
}

TEST_F(AgreementTest, OneOfTwoGroupsHasTheRoot) {
  const auto beside = of({ints(9)}, {ints(9)});  // MPI_PROC_NULL: what it says does not matter
  const auto root = root_of({ints(5)}, {ints(5)});
  const auto named = of({ints(5)}, {ints(5)}, 1);
  for (const uint32_t function :
       {spec::function_id::Bcast, spec::function_id::Gather, spec::function_id::Scatter, spec::function_id::Reduce}) {
    EXPECT_EQ(found(function, {beside, root, named, named, named}), None());
  }
  const auto other = of({ints(5)}, {ints(5)}, 0);
  EXPECT_EQ(found(spec::function_id::Bcast, {beside, root, named, other, named}),
            one("ranks 1 and 3 of comm name different roots, 1 and 0"));
  EXPECT_EQ(found(spec::function_id::Bcast, {beside, root, named, named, beside}),
            one("ranks 1 and 4 of comm disagree: the first is the root, the other names none"));
  EXPECT_EQ(found(spec::function_id::Bcast, {root, root, named, named, named}),
            one("ranks 0 and 1 of comm both say that they are the root"));
  const auto less = of({ints(4)}, {ints(4)}, 1);
  EXPECT_EQ(found(spec::function_id::Bcast, {beside, root, named, less, named}).size(), 1U);
  EXPECT_EQ(found(spec::function_id::Gather, {beside, root, named, less, named}).size(), 1U);
  // The root in the second group.
  const auto second = of({ints(5)}, {ints(5)}, 2);
  EXPECT_EQ(found(spec::function_id::Bcast, {second, second, beside, beside, root}), None());
}

TEST_F(AgreementTest, OperatorsAgreeInAGroup) {
  const auto with = [&](const char *op, bool nonblocking = false) {
    auto made = of({ints(2)}, {ints(2)});
    made->op = op;
    made->nonblocking = nonblocking;
    return made;
  };
  const auto sum = with("MPI_SUM");
  const auto max = with("MPI_MAX");
  EXPECT_EQ(found(spec::function_id::Allreduce, {sum, sum, sum, sum, sum}), None());
  EXPECT_EQ(found(spec::function_id::Allreduce, {sum, sum, sum, max, sum}),
            one("ranks 2 and 3 of comm use different operators, MPI_SUM and MPI_MAX"));
  EXPECT_EQ(found(spec::function_id::Allreduce, {sum, sum, sum, sum, with("MPI_SUM", true)}),
            one("ranks 0 and 4 of comm make a blocking and a nonblocking call together"));
}

}  // namespace
}  // namespace cairn::check
