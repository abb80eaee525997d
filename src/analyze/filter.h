// Filter: which ranks, functions, calls and times a verb looks at. One struct and one parser for every verb.
//
// `FilterText` is what the user typed; `make_filter` checks it against a trace and the MPI standard, and its errors
// (usage) name the word that is wrong and what would be right.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/read/trace.h"

namespace cairn::analyze {

struct FilterText {
  std::string ranks;                   ///< "0-7,12"
  std::vector<std::string> functions;  ///< "MPI_*send", also comma separated
  std::string time;                    ///< "1s+20ms": 20 ms from 1 s on
  std::optional<uint64_t> limit;
};

struct Filter {
  std::vector<uint32_t> ranks;  ///< ascending, all present in the trace
  bool all_ranks = true;
  std::vector<char> functions;  ///< by function id; empty: all
  std::optional<uint64_t> limit;
  struct Window {
    uint64_t begin_ns = 0;
    uint64_t end_ns = UINT64_MAX;
  };
  std::optional<Window> window;

  [[nodiscard]] bool has_function(uint32_t id) const {
    return functions.empty() || (id < functions.size() && functions[id] != 0);
  }
};

Result<Filter> make_filter(const FilterText &text, const trace::Trace &trace);

/// "0-7,12" → numbers, ascending, each once; at most 2^24 of them.
Result<std::vector<uint32_t>> parse_ranks(const std::string &text);
/// "20ms", "1.5s", "300us", "7ns"; a bare number is seconds.
Result<uint64_t> parse_duration(const std::string &text);
/// Ascending numbers as "0-7,12".
std::string ranks_text(const std::vector<uint32_t> &ranks);

}  // namespace cairn::analyze
