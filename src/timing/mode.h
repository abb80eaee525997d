// Timing modes: what a trace keeps of the time that calls took. One table; whatever else asks which mode it is asks for
// what the mode keeps.
//
// A mode keeps *statistics* of the calls with one signature (call_stats.h on a rank, rank_stats.h merged over ranks),
// or *times*: a stream of bytes for each sequence, which a writer of the mode makes while the program runs, and which
// only the mode's `read` understands. Between the two, times are carried rank by rank (rank_times.h): merges, the
// reduction tree, the file and its readers need not know what is in them.
//
// A new mode is a row in mode.cc and a pair of files like lossless.h: a writer that owns no memory, and a reader that
// trusts nothing. src/mpi/store/timing_log.h holds and feeds the writer of a thread; it has one kind so far, and takes
// another by a number (Config's), not by virtual functions: what it holds is read when its process is dead.
//
// Constant data; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace cairn::timing {

/// When a call was: nanoseconds from the end of the call before it in its sequence (of the first: from the sequence's
/// begin), and how long it took.
struct CallTime {
  uint64_t gap = 0;
  uint64_t duration = 0;
  bool operator==(const CallTime &) const = default;
};

struct Mode {
  std::string_view name;  ///< as in --timing, and in the file
  std::string_view help;  ///< a few words for a user
  bool statistics;        ///< whether it keeps statistics
  /// Appends the times of a stream of at most `calls` calls, in order; fewer if recording stopped early. False, with
  /// the byte where it went wrong, on anything else; memory in proportion to the bytes. nullptr: the mode keeps no
  /// times.
  bool (*read)(ByteView stream, uint64_t calls, std::vector<CallTime> *out, size_t *bad_byte);
};

/// All of them, the usual one first.
std::span<const Mode> modes();
/// nullptr if there is none of that name: a trace without calls, or one of a later version.
const Mode *mode_named(std::string_view name);
/// Whether a trace of the mode of that name knows when each call was.
bool keeps_times(std::string_view name);

}  // namespace cairn::timing
