// Message sizes: how many messages of which size a run sends, how many bytes that is, and how long the calls take that
// send them, by operation, communicator or call site; and the same of collective operations, by what each process
// gives.
//
// Times: where the trace has each call's, those of the calls; where it has statistics, of the rows of a class whose
// calls all have sizes of one line. A call that moves several sizes has its time in none. Plain values after
// `sizes_of`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "traffic/matrix.h"

namespace cairn::traffic {

enum class SizesBy : uint8_t { operation, communicator, site };

struct SizeLine {
  uint64_t least = 0;  ///< sizes from here
  uint64_t most = 0;   ///< to here, inclusive
  bool known = true;   ///< false: the messages whose size is not known
  uint64_t messages = 0;
  uint64_t bytes = 0;
  std::optional<uint64_t> ns;  ///< of the calls whose time is known
  bool some_untimed = false;   ///< and there are others
};

struct SizeGroup {
  std::string name;             ///< the operation, communicator or site
  bool collective = false;      ///< lines are of calls, not of messages
  std::vector<SizeLine> lines;  ///< least first, what is not known last
};

struct MessageSizes {
  std::vector<SizeGroup> groups;  ///< messages before collectives, then most bytes first
  bool timed = false;             ///< some times are known
  Seen seen;
};

/// `exact`: a line for each size, else for powers of two: 0, 1, 2-3, 4-7, …
Result<MessageSizes> sizes_of(const trace::Trace &trace, const analyze::Sources &sources, const analyze::Filter &filter,
                              SizesBy by, bool exact, bool times);

}  // namespace cairn::traffic
