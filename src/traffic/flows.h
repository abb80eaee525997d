// Flows: what one call moves from process to process: the messages that it sends, what it puts into and gets out of
// windows, what a collective operation makes it give to others.
//
// All is told by the process that makes the call, from its arguments alone, so a message is counted once, by its
// sender. A call moves something if it succeeded or never returned, and nothing if it failed or its partner is
// MPI_PROC_NULL. Bytes are elements times the size of the sender's datatype. Plain values.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyze/collective.h"
#include "analyze/row_access.h"
#include "trace/read/partial_rows.h"
#include "traffic/members.h"

namespace cairn::traffic {

enum class Kind : uint8_t {
  message,     ///< point to point
  neighbor,    ///< of a neighbourhood collective, to a neighbour in the communicator's topology
  onesided,    ///< into or out of a window: from the process that the bytes leave to the one that has them then
  collective,  ///< what another collective operation is by its definition, where that is asked for
};
constexpr size_t kKinds = 4;
/// "messages", "neighbours", "one-sided", "collectives".
const char *kind_name(Kind kind);
/// As programs read it: "message", "neighbour", "onesided", "collective".
const char *word_of(Kind kind);

struct Flow {
  Kind kind = Kind::message;
  uint32_t from = 0;  ///< in MPI_COMM_WORLD
  uint32_t to = 0;
  std::optional<uint64_t> bytes;  ///< nothing: not known
};

/// What a call of a collective operation is as such.
struct CollectiveUse {
  /// Those that this process gives, or where it gives nothing (off the root of a Bcast or Scatter), gets.
  std::optional<uint64_t> bytes;
  uint32_t members = 0;  ///< how many processes take part
};

/// What one process gives to others.
struct Given {
  uint64_t bytes = 0;    ///< of flows, and of the operation, whose bytes are known
  uint64_t unsized = 0;  ///< how many of them are not
};

struct Traffic {
  std::vector<Flow> flows;
  std::optional<CollectiveUse> collective;
  uint64_t nowhere = 0;        ///< flows with a process that the trace does not know
  uint32_t function = 0;       ///< that says what it is: of what is started later, the one that made the request
  std::optional<Place> place;  ///< in the communicator

  /// What is got out of a window is not given.
  [[nodiscard]] Given given_by(uint32_t rank) const;
};

/// What a function does here.
enum class Role : uint8_t {
  none,
  send,        ///< of one message
  exchange,    ///< MPI_Sendrecv
  replace,     ///< MPI_Sendrecv_replace
  partitions,  ///< MPI_Psend_init
  put,         ///< from the process that calls
  get,         ///< to it
  both,        ///< MPI_Get_accumulate
  fetch,       ///< MPI_Fetch_and_op
  swap,        ///< MPI_Compare_and_swap
  collective,
  start,  ///< of requests that others made
};
Role role_of(uint32_t function);

/// The parameter that says how many elements a call that sends one message sends.
std::optional<size_t> elements_of(uint32_t function);

/// The call succeeded or never returned.
bool happened(const trace::Row &row);

struct Told {
  bool sums = false;     ///< of calls that send one message, their lengths together (trace::Asked::sum)
  bool anybody = false;  ///< of these, not to whom, but whether to anybody
};
/// What must be known of the calls of that function; empty: they move nothing. `all`: all but buffers.
trace::AskedFields asked_of(uint32_t function, bool all, const Told &told);

class Meanings;
struct Asking {
  bool expanded = false;  ///< collectives become flows
};
/// nullptr: the call moves nothing. Not for MPI_Start, which says nothing but names.
std::shared_ptr<const Traffic> traffic_of(const trace::Row &row, const analyze::RowScope &scope,
                                          const Meanings &meanings, const Asking &asking);

}  // namespace cairn::traffic
