// Timing modes: what a trace keeps of the time that calls took. One table; whatever else asks which mode it is asks for
// what the mode keeps.
//
// A mode keeps nothing, *statistics* of the calls with one signature (call_stats.h on a rank, rank_stats.h merged over
// ranks) and perhaps of the gaps before the calls of each site (gap_stats.h), or *times*: a stream of blocks for each
// sequence (stream.h), which a pair of functions of the mode codes (block.h). Streams are carried rank by rank
// (rank_times.h): merges, the reduction tree, the file and its readers need not know what is in them.
//
// A new mode of times is a row in mode.cc and a pair of files like context_coder.h.
//
// Constant data; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "timing/block.h"

namespace cairn::timing {

/// In what a mode's bound is said.
enum class Bounds : uint8_t {
  none,      ///< it has no bound: nothing is kept, or all
  relative,  ///< in millionths of each gap and duration
  absolute,  ///< in nanoseconds
};

struct Mode {
  std::string_view name;  ///< as in --timing, and in the file
  std::string_view help;  ///< a few words for a user
  uint8_t number;         ///< in streams; for ever
  bool statistics;        ///< whether it keeps statistics
  Bounds bounds;
  uint64_t usual_bound;
  Encode encode;  ///< nullptr: as the next, or nothing is recorded here
  Decode decode;  ///< nullptr: the mode keeps no times
  /// Coded once the run has ended; what records it keeps times exactly.
  bool after = false;
  /// Why it can be neither coded nor decoded here, "… and there is no … here"; nullptr: it can. nullptr: it always can.
  const char *(*missing)() = nullptr;
  bool gaps = false;  ///< it keeps statistics of gaps at each call site, too (gap_stats.h)
};

/// All of them, the usual one first.
std::span<const Mode> modes();
/// nullptr if there is none of that name. What follows a colon is not looked at: settings begin with the mode's name.
const Mode *mode_named(std::string_view name);
const Mode *mode_numbered(uint8_t number);
/// Whether a trace of that setting (setting.h) knows when each call was.
bool keeps_times(std::string_view setting);
/// Whether it was asked to know nothing of time.
bool keeps_nothing(std::string_view setting);

}  // namespace cairn::timing
