// What `cairn diff` says of MPI calls.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "analyze/call_diff.h"
#include "analyze/summary.h"

namespace cairn::cli {

class Output;

/// The calls of two runs, and what became of the functions' calls, bytes and times.
struct ComparedCalls {
  analyze::CallDiff diff;
  analyze::Summary first;
  analyze::Summary second;
  bool same_ranks = false;           ///< else sums are of other ranks, and no change
  std::vector<uint32_t> cut_first;   ///< ranks of the first run that did not complete, ascending
  std::vector<uint32_t> cut_second;  ///< of the second run
};

/// `ranks`: as --rank has them. `results`: whether other results are differences.
Result<ComparedCalls> compare_calls(const trace::Trace &first, const trace::Trace &second, const std::string &ranks,
                                    bool results);
/// At most `limit` lines of differences.
void print(const ComparedCalls &compared, const std::optional<uint64_t> &limit, Output *out);
nlohmann::ordered_json json_of(const ComparedCalls &compared);
/// Its differences as CSV, calls as they are printed.
std::string csv_of(const ComparedCalls &compared);

}  // namespace cairn::cli
