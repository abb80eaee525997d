// What processes attached to dynamic windows (MPI_Win_attach), and what a displacement there means: it is an address of
// the target process, which the origin knows as a number. The recorder keeps that number with each segment
// (spec::Parameter::keeps_raw), so that the place within the segment can be told.
//
// Borrows nothing; any thread may read it. Cost of making it: the distinct calls of the rank; of a rank whose classes
// have no such call, their rows.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "analyze/row_access.h"
#include "spec/spec.h"
#include "trace/read/trace.h"

namespace cairn::analyze {

/// What one call attached.
struct Segment {
  uint64_t raw = 0;   ///< its address in the process, when it was recorded
  uint64_t size = 0;  ///< bytes
  // As the trace names the address (spec::Layout::address).
  trace::Atom address_class = 0;
  int64_t number = 0;
  int64_t offset = 0;
  uint32_t thread = 0;  ///< whose stack it is on; 0 elsewhere
  [[nodiscard]] auto key() const { return std::tuple(raw, size, address_class, number, offset, thread); }
  bool operator<(const Segment &other) const { return key() < other.key(); }
  bool operator==(const Segment &other) const { return key() == other.key(); }
  /// The end of a segment is no place of it.
  [[nodiscard]] bool holds(uint64_t address) const { return address - raw < size; }
};

/// Of a call; nothing if it attaches nothing, or was recorded before Cairn kept the number.
std::optional<Segment> attached_by(const trace::Row &row, uint32_t thread);

/// Whether some rank has such calls.
bool attaches(const trace::Trace &trace);

/// The distinct segments of a rank, ascending: the same list for everybody who asks.
std::vector<Segment> attached_segments(const trace::Trace &trace, uint32_t rank);

/// The number of an address with keeps_raw, whether it has a name or not; nothing of a constant or NULL.
std::optional<uint64_t> raw_address(const trace::Field &field);

}  // namespace cairn::analyze
