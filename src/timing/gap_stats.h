// GapStats: how long a rank was outside MPI before its calls at one call site: the sum, and how many gaps each bucket
// of the histogram (call_stats.h) has. A *gap* is from the end of the outermost MPI call before to the begin of this
// one.
//
// Plain value, times in nanoseconds. Merging and coding cost the buckets in use, some two to ten.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "timing/call_stats.h"

namespace cairn::timing {

struct GapStats {
  uint64_t sum = 0;
  Histogram histogram;

  /// How many there are.
  [[nodiscard]] uint64_t count() const;
  [[nodiscard]] double mean() const;
  void add(uint64_t nanoseconds);
  /// Sums that would not fit stay at the greatest number.
  void merge(const GapStats &other);
  void write(ByteWriter &out) const;
  /// `in` fails on what is malformed.
  static GapStats parse(ByteReader &in);
  bool operator==(const GapStats &) const = default;
};

/// Buckets as docs/format.md, "Statistics", has them; empty ones are left out.
void write_histogram(const Histogram &histogram, ByteWriter &out);
Histogram parse_histogram(ByteReader &in);
/// The same, added to others. Sums that would not fit stay at the greatest number.
void add_histogram(ByteReader &in, Histogram *to);

}  // namespace cairn::timing
