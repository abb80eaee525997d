// Times as programs have them, and as nobody would: for tests of what codes them.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "timing/call_time.h"

namespace cairn::timing {

struct MadeUpTimes {
  std::string name;
  std::vector<uint32_t> groups;  ///< of each call, in any numbering
  std::vector<CallTime> times;
};

/// A loop of `body` call sites, in which every third is called a few times in a row.
inline std::vector<uint32_t> looping_groups(size_t calls, uint32_t body) {
  std::vector<uint32_t> groups;
  while (groups.size() < calls) {
    for (uint32_t site = 0; site < body && groups.size() < calls; ++site) {
      for (uint32_t i = 0; i <= (site % 3 == 2 ? 3U : 0U) && groups.size() < calls; ++i) groups.push_back(site);
    }
  }
  return groups;
}

inline std::vector<MadeUpTimes> made_up_times(size_t calls) {
  std::mt19937_64 random(20);
  const auto like = [&](const std::string &name, auto value) {
    MadeUpTimes made{name, looping_groups(calls, 7), {}};
    for (size_t i = 0; i < calls; ++i) {
      const uint64_t gap = value(i, made.groups[i]);
      made.times.push_back({gap, value(i + 1, made.groups[i] + 100)});
    }
    return made;
  };
  std::lognormal_distribution<double> lognormal(8, 2);
  const auto pareto = [&] { return 100 * std::pow(std::uniform_real_distribution(1e-12, 1.0)(random), -1.2); };
  std::vector<MadeUpTimes> all;
  all.push_back(like("constant", [](size_t, uint32_t) -> uint64_t { return 1234; }));
  all.push_back(like("zero", [](size_t, uint32_t) -> uint64_t { return 0; }));
  all.push_back(like("per site", [&](size_t, uint32_t site) -> uint64_t { return 50 + 1000 * site + random() % 40; }));
  all.push_back(like("bursty", [&](size_t i, uint32_t) -> uint64_t {
    return i % 1000 < 990 ? 100 + random() % 10 : 50'000'000 + random() % 1'000'000;
  }));
  all.push_back(like("heavy-tailed", [&](size_t, uint32_t) { return static_cast<uint64_t>(lognormal(random)); }));
  all.push_back(like("Pareto", [&](size_t, uint32_t) { return static_cast<uint64_t>(std::min(pareto(), 1e18)); }));
  all.push_back(like("huge", [&](size_t i, uint32_t) -> uint64_t { return i % 5 == 0 ? UINT64_MAX - i : random(); }));
  all.push_back(like("adversarial", [&](size_t, uint32_t) -> uint64_t {
    const uint64_t power = uint64_t{1} << random() % 64;
    return power + random() % 3 - 1;
  }));
  MadeUpTimes sites{"new site each time", {}, {}};
  for (size_t i = 0; i < calls; ++i) {
    sites.groups.push_back(static_cast<uint32_t>(i % 5000));
    sites.times.push_back({random() % 100'000, random() % 1000});
  }
  all.push_back(sites);
  return all;
}

}  // namespace cairn::timing
