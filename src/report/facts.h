// Facts: what the verbs of `cairn` say of a trace, as the page shows it without opening the trace itself. Each is what
// `cairn VERB --json` prints, shortened (shorten.h); a verb that cannot answer stands with the line that it said.
//
// Cost: that of the verbs, which are asked one after the other, each as a process of its own: what one of them takes
// ends with it. Verbs that go through all calls are not asked where there are more than `most_calls`.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "base/result.h"

namespace cairn::report {

struct Asked {
  std::string executable;  ///< cairn
  std::string file;        ///< the trace
  uint64_t calls = 0;      ///< that it has
  uint64_t most_calls = 0;
  bool sources = true;                              ///< lines of the program's sources, where these are at hand
  std::function<void(const std::string &)> saying;  ///< told which verb is asked now
};

/// A member for each verb, and "sources".
nlohmann::ordered_json facts_of(const Asked &asked);

/// What `cairn diff` says of two traces.
nlohmann::ordered_json diff_of(const Asked &asked, const std::string &other);

}  // namespace cairn::report
