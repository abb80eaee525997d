#include "check/access_spans.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <utility>
#include <vector>

namespace cairn::check {
namespace {

using Pairs = std::set<std::pair<uint64_t, uint64_t>>;

AccessSpans::Span span(uint64_t number, uint32_t rank, bool puts, int64_t begin, int64_t end, uint64_t from,
                       uint64_t until) {
  AccessSpans::Span made;
  made.access.call.rank = rank;
  made.access.call.call = number;
  made.access.what.role = puts ? analyze::WindowRole::puts : analyze::WindowRole::gets;
  made.begin = begin;
  made.end = end;
  made.from_ns = from;
  made.until_ns = until;
  return made;
}

bool meet(const AccessSpans::Span &a, const AccessSpans::Span &b, uint64_t uncertainty) {
  if (a.access.call.rank == b.access.call.rank || !(a.access.puts() || b.access.puts())) return false;
  if (a.begin >= b.end || b.begin >= a.end) return false;
  const uint64_t from = std::max(a.from_ns, b.from_ns);
  const uint64_t until = std::min(a.until_ns, b.until_ns);
  return until > from && until - from > uncertainty;
}

/// Each pair that overlaps is told once, whatever was forgotten on the way.
TEST(AccessSpans, MeetAsEveryPairByItselfSays) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](uint64_t most) { return random() % most; };
    std::vector<AccessSpans::Span> all;
    for (uint64_t i = 0; i < 600; ++i) {
      const auto begin = static_cast<int64_t>(below(300));
      const uint64_t from = 20 * i + below(40);
      all.push_back(span(i, static_cast<uint32_t>(below(4)), below(3) == 0, begin,
                         begin + 1 + static_cast<int64_t>(below(below(10) == 0 ? 100 : 8)), from, from + below(400)));
    }
    AccessSpans spans;
    Pairs told;
    Pairs truth;
    for (size_t i = 0; i < all.size(); ++i) {
      spans.forget_until(20 * i);
      spans.add(all[i], 3, [&](const AccessSpans::Span &before, const AccessSpans::Span &added) {
        EXPECT_TRUE(told.emplace(before.access.call.call, added.access.call.call).second);
      });
      for (size_t k = 0; k < i; ++k) {
        if (meet(all[k], all[i], 3)) truth.emplace(k, i);
      }
    }
    EXPECT_EQ(told, truth);
    EXPECT_GT(truth.size(), 20U);
    EXPECT_LT(spans.size(), 300U);
  }
}

}  // namespace
}  // namespace cairn::check
