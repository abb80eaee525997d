#include "waits/path.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace cairn::waits {
namespace {

using Sums = std::map<std::pair<uint32_t, Activity>, uint64_t>;

Sums sums_of(const Path &path) {
  Sums sums;
  if (!path.now()) return sums;
  for (const auto &[cause, ns] : path.now()->all()) sums[{cause.rank, cause.activity}] += ns;
  return sums;
}

/// Ranks that work and take over each other's paths, or how those stood some time ago, against plain copies.
TEST(Path, IsWhatCopiesOfAllPathsWouldBe) {
  std::mt19937 random(7);
  const auto below = [&](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
  constexpr uint32_t kRanks = 6;
  std::vector<Path> paths(kRanks);
  std::vector<Sums> copies(kRanks);
  struct Flying {
    PathPointer path;
    Sums copy;
  };
  std::vector<Flying> flying;
  for (int i = 0; i < 20000; ++i) {
    const uint32_t rank = below(kRanks);
    const Cause cause{rank, below(30)};
    const uint64_t ns = 1 + below(100);
    paths[rank].add(cause, ns);
    copies[rank][{cause.rank, cause.activity}] += ns;
    if (below(3) == 0) flying.push_back({paths[rank].now(), copies[rank]});
    if (below(3) == 0 && !flying.empty()) {
      const size_t which = below(static_cast<uint32_t>(flying.size()));
      const uint32_t to = below(kRanks);
      if (below(2) == 0) {
        paths[to].become(flying[which].path);
        copies[to] = flying[which].copy;
      }
      flying.erase(flying.begin() + static_cast<std::ptrdiff_t>(which));
    }
    if (i % 1000 == 0) {
      for (uint32_t each = 0; each < kRanks; ++each) ASSERT_EQ(sums_of(paths[each]), copies[each]);
    }
  }
  for (uint32_t each = 0; each < kRanks; ++each) EXPECT_EQ(sums_of(paths[each]), copies[each]);
}

TEST(Path, OfMillionsOfStepsIsForgottenWithoutRecursion) {
  Path path;
  std::vector<PathPointer> kept;
  for (uint32_t i = 0; i < 1000000; ++i) {
    path.add({0, i % 3}, 1);
    kept.push_back(path.now());
  }
  EXPECT_EQ(sums_of(path).size(), 3);
  kept.clear();
  path.become(nullptr);
}

}  // namespace
}  // namespace cairn::waits
