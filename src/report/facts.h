// Facts: what the verbs of `cairn` say of a trace, as the page shows it without opening the trace itself. Each is what
// `cairn VERB --json` prints, shortened (shorten.h), with "said", the lines that the verb said of its answer, if there
// are some; a verb that cannot answer stands with the line that it said.
//
// Cost: that of the verbs, which are asked as many at a time as there are cores, each as a process of its own: what one
// of them takes ends with it. Verbs that go through all calls are not asked where there are more than `most_calls`, and
// one that does not end `within` a time is killed; the page says so in its place.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"

namespace cairn::report {

/// Verbs that go through all calls are not asked of more than these, unless the user says so.
constexpr uint64_t kMostCalls = 20'000'000;

struct Asked {
  std::string executable;  ///< cairn
  std::string file;        ///< the trace
  uint64_t most_calls = kMostCalls;
  bool sources = true;                              ///< lines of the program's sources, where these are at hand
  std::chrono::seconds within{120};                 ///< 0: however long it takes
  std::function<void(const std::string &)> saying;  ///< told which verb is asked now, on any thread, one at a time
};

/// Of one trace or two: a member for each verb, and "sources"; of two also what `cairn diff` says. Schema
/// cairn.report/1 (page/src/facts.ts has its fields).
nlohmann::ordered_json facts_of_page(const std::vector<Asked> &traces);

}  // namespace cairn::report
