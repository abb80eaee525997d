// Regions: which bytes of a file a request touches, and which of them a compressed block holds.
//
// A box of an array in a NetCDF file is runs of bytes at regular distances: a Region, whatever the array's shape. Bytes
// are counted in file order: a region's runs never overlap, and each begins after the one before it ends, so that the
// n-th byte of the data belongs to the n-th byte of the region. Requests are lists of such regions in file order.
// Sizes and offsets are bytes. Nothing here allocates but what it returns or hashes; no threads, no MPI.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"

namespace cairn::arrays {

struct Run {
  uint64_t offset = 0;
  uint64_t bytes = 0;
  [[nodiscard]] uint64_t end() const { return offset + bytes; }
  friend bool operator==(const Run &, const Run &) = default;
};

/// Runs in file order, put together where they touch or are no further than `near` apart.
void unite(std::vector<Run> *runs, uint64_t near = 0);

struct Level {
  uint64_t count = 0;
  uint64_t stride = 0;
  friend bool operator==(const Level &, const Level &) = default;
};

struct Region {
  static constexpr int kMostLevels = 6;

  uint64_t offset = 0;  ///< of the first run
  uint64_t run = 0;     ///< bytes of each run
  int depth = 0;
  std::array<Level, kMostLevels> levels{};  ///< outermost first

  [[nodiscard]] uint64_t runs() const;
  [[nodiscard]] uint64_t bytes() const { return runs() * run; }
  [[nodiscard]] uint64_t end() const;  ///< of the last run
  friend bool operator==(const Region &, const Region &) = default;

  /// Repeats the region `count` times, `stride` apart. False if the result would not be in file order, or too deep.
  [[nodiscard]] bool repeat(uint64_t count, uint64_t stride);
};

using Regions = std::vector<Region>;
uint64_t bytes_of(std::span<const Region> regions);

/// Offset from `from` on, run and levels, as varints.
void pack(const Region &region, uint64_t from, ByteWriter *out);
/// The same of all of them, as one number: equal for lists that lie alike from `from` on, whatever that is.
uint64_t hash_of(std::span<const Region> regions, uint64_t from);

/// Bytes [from, from + bytes) of a region's data, as regions. Appends.
void cut(const Region &region, uint64_t from, uint64_t bytes, Regions *out);
/// The same of a list.
Regions cut(std::span<const Region> regions, uint64_t from, uint64_t bytes);

/// Puts neighbours that follow each other regularly together: as few regions as a linear pass or a few find.
Regions fold(std::span<const Region> regions);

/// Walks the runs of a region in order.
class RunCursor {
 public:
  explicit RunCursor(const Region &region) : region_(&region), run_{region.offset, region.run} {
    if (region.run == 0 || region.runs() == 0) done_ = true;
  }
  [[nodiscard]] bool done() const { return done_; }
  [[nodiscard]] const Run &run() const { return run_; }
  /// Of the run's first byte in the region's data.
  [[nodiscard]] uint64_t position() const { return number_ * region_->run; }
  void next();
  /// To the first run that ends behind `offset`. Never moves back.
  void seek(uint64_t offset);

 private:
  void place();

  const Region *region_;
  Run run_;
  uint64_t number_ = 0;  ///< of this run
  std::array<uint64_t, Region::kMostLevels> index_{};
  bool done_ = false;
};

/// Calls `both(position in a, position in b, bytes)` for each stretch of bytes that both regions hold, in file order,
/// until it gives false.
template <typename F>
void for_each_common(const Region &a, const Region &b, F both) {
  RunCursor in_a(a);
  RunCursor in_b(b);
  while (!in_a.done() && !in_b.done()) {
    const Run &x = in_a.run();
    const Run &y = in_b.run();
    if (x.end() <= y.offset) {
      in_a.seek(y.offset);
    } else if (y.end() <= x.offset) {
      in_b.seek(x.offset);
    } else {
      const uint64_t begin = x.offset > y.offset ? x.offset : y.offset;
      const uint64_t end = x.end() < y.end() ? x.end() : y.end();
      if (!both(in_a.position() + (begin - x.offset), in_b.position() + (begin - y.offset), end - begin)) return;
      const bool a_ends = x.end() == end;
      if (y.end() == end) in_b.next();
      if (a_ends) in_a.next();
    }
  }
}

bool overlap(const Region &a, const Region &b);

}  // namespace cairn::arrays
