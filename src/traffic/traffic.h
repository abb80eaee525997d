// Traffic of a run: what every call of every rank moves, told call by distinct call with how often it was made.
//
// Nothing is expanded where a name means one thing on a rank: then each class is gone through by the fields that say
// how much goes to whom (trace/read/partial_rows.h), after a look at the calls that make communicators, datatypes,
// windows and persistent requests. Of a rank where a name came to mean something else (a number of a communicator that
// was freed, given to another one; a request made anew with another partner), or of which MPI_Cancel took messages
// back, and of all ranks where times of single calls are wanted, the calls are gone through in their order.
// `Seen::expanded_ranks` says how many those were.
//
// A call is one that a filter wants, as every verb asks it (analyze/wanted_calls.h); what MPI_Start moves is chosen by
// the partner, tag and communicator of the call that made the request, and by the place, thread and result of
// MPI_Start itself. One thread. Memory for the names of all ranks, and for the columns of one row.
#pragma once

#include <cstdint>
#include <optional>

#include "analyze/filter.h"
#include "analyze/sources.h"
#include "base/result.h"
#include "trace/read/trace.h"
#include "traffic/flows.h"

namespace cairn::traffic {

struct Called {
  uint32_t rank = 0;
  uint32_t class_index = 0;
  uint32_t class_row = 0;
  uint32_t site = 0;  ///< of the class
  uint64_t count = 0;
  std::optional<uint64_t> ns;  ///< how long those took together, where asked for and known
  /// Where sums are wanted: how many elements these calls move together. The bytes of flows are those of one element
  /// then, and known.
  std::optional<uint64_t> elements;
  /// How often bytes are to be taken.
  [[nodiscard]] uint64_t times() const { return elements.value_or(count); }
};

class Listener {
 public:
  virtual ~Listener() = default;
  /// Valid until it returns.
  virtual void moved(const Traffic &traffic, const Called &called) = 0;
};

struct Wanting {
  bool expanded = false;  ///< collectives as what they are by their definition
  bool times = false;     ///< of single calls, where the trace has them: every call is gone through
  bool sums = false;      ///< messages of one rank to another that differ in their length alone are told together
  bool peers = true;      ///< to whom messages go; else flows may name another
  bool ranks = true;      ///< who calls; else Called::count may be that of several ranks, of which it names one
};

struct Seen {
  uint64_t nowhere = 0;  ///< flows with processes that the trace does not know
  uint64_t expanded_ranks = 0;
};

/// Fails where the trace cannot tell its communicators, or the calls of a rank cannot be read.
Result<Seen> each_traffic(const trace::Trace &trace, const analyze::Sources &sources, const analyze::Filter &filter,
                          const Wanting &wanting, Listener *listener);

}  // namespace cairn::traffic
