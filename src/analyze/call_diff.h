// CallDiff: which MPI calls two runs made differently, rank by rank and thread by thread.
//
// Calls are compared in the order in which each thread made them. They differ in *order*, where another function, or
// the same at another place, is called, or one thread has ended. Where enough of what both do next is alike (a quarter
// of their next 256 calls), the fewest that are not are told as calls of one run alone, and both go on behind them.
// Elsewhere the comparison of that thread ends. Else they differ in
// *arguments*, where the program gave other values; or only in *results*, where MPI did: statuses, what was found,
// error codes. Those are counted, by place and by what differs, and the first is told. Calls that asked and found
// nothing (MPI_Test, …) are no calls here: how often a program asks is chance.
//
// Places are equal if they are the same place in the same binary. If the program was built anew in between, which the
// build-ids of its modules tell, places are paired in the order in which they are first come to, and so are the names
// of handles, which tell where they were made: an edit that only moves lines makes no difference. Static addresses are
// equal wherever the linker put them.
//
// Cost: the calls of both runs, less than 1 µs each; memory for the distinct calls of one rank.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/decode.h"
#include "trace/read/trace.h"

namespace cairn::analyze {

struct CallDifference {
  enum class Kind : uint8_t { order, arguments, results };
  Kind kind = Kind::order;
  uint64_t calls = 0;              ///< that differ so
  bool goes_on = false;            ///< in order: made in one run alone, behind which both go on alike
  std::vector<uint32_t> ranks;     ///< that make them, ascending
  uint32_t thread = 0;             ///< of the first of them, as what follows
  uint64_t index = 0;              ///< among the calls of the thread that count, from 0; in the first run if it has it
  std::vector<std::string> names;  ///< of the arguments that differ; "return" of what it returned
  std::optional<Call> first;       ///< nothing: the thread had ended, or it goes on without
  std::optional<Call> second;
};

struct CallDiff {
  std::vector<uint32_t> only_first;   ///< ranks
  std::vector<uint32_t> only_second;  ///< ranks
  uint64_t ranks = 0;                 ///< in both
  uint64_t calls = 0;                 ///< that were compared
  uint64_t other_order = 0;           ///< ranks
  uint64_t gone = 0;                  ///< calls that the first run alone has, behind which both go on alike
  uint64_t added = 0;                 ///< that the second run alone has
  uint64_t other_arguments = 0;       ///< calls
  uint64_t other_results = 0;         ///< calls whose arguments are the same
  /// In order, then in arguments, then in results; of each those of most calls first.
  std::vector<CallDifference> differences;

  [[nodiscard]] bool equal() const { return only_first.empty() && only_second.empty() && differences.empty(); }
};

/// `ranks`: those to look at; empty: all. `results`: whether other results are differences.
CallDiff call_diff(const trace::Trace &first, const trace::Trace &second, const std::vector<uint32_t> &ranks,
                   bool results);

}  // namespace cairn::analyze
