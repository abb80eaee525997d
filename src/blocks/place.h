// Where blocks of many ranks go in one file: the places, not the writing.
//
// - place_dense: all ranks together, without a gap: an exclusive scan of what each has (the paper's dense storage).
// - Extents: each rank for itself, without a word to the others: the file behind a common byte is dealt out in extents
// of
//   one size, the k-th of rank r at base + (k * ranks + r) * size. A rank packs its blocks into its own. This is the
//   paper's hybrid storage with the slots of a rank joined: the size of an extent comes from the expected ratio, what a
//   block lacks or has over is made up by its neighbours, and only the last extent of a rank has room to spare.
//
// Source: Bicer, Yin, Agrawal, "Improving I/O Throughput of Scientific Applications using Transparent Parallel
// Compression", III.A. No allocation, no output; the callers' collectives are the only cost.
#pragma once

#include <cstdint>
#include <optional>

#include "blocks/calls.h"

namespace cairn::blocks {

struct DensePlace {
  uint64_t begin = 0;  ///< of this rank's bytes
  uint64_t end = 0;    ///< of all ranks' bytes
};

/// Collective: an exclusive scan (two with an alignment) and a sum. A rank's bytes begin at a multiple of `alignment`
/// if it has that many (the stripes of a parallel file system); 0 or 1: nowhere in particular. The alignment is the
/// same on all ranks. `calls.broadcast` is not called. Nothing if MPI fails.
std::optional<DensePlace> place_dense(const Calls &calls, uint64_t base, uint64_t own, uint64_t alignment);

class Extents {
 public:
  Extents() = default;
  Extents(uint64_t base, uint64_t size, int rank, int ranks)
      : base_(base), size_(size), rank_(static_cast<uint64_t>(rank)), ranks_(static_cast<uint64_t>(ranks)) {}

  [[nodiscard]] uint64_t size() const { return size_; }
  /// Room for `bytes`, at most an extent's size, in one piece.
  uint64_t take(uint64_t bytes);
  /// Further extents are dealt out from `base` on, if that is further than before; what is left in the one under way
  /// stays this rank's.
  void move(uint64_t base);
  /// Leaves the extent under way if it has room before a byte: that place is taken now.
  void leave_before(uint64_t byte) {
    if (at_ < byte) left_ = 0;
  }
  /// The end of all extents of this and other ranks as far as this rank has begun its own.
  [[nodiscard]] uint64_t reserved() const { return base_ + next_ * ranks_ * size_; }
  /// The end of what was taken: `base` if nothing was.
  [[nodiscard]] uint64_t end() const { return end_ > base_ ? end_ : base_; }

 private:
  uint64_t base_ = 0;
  uint64_t size_ = 0;
  uint64_t rank_ = 0;
  uint64_t ranks_ = 1;
  uint64_t next_ = 0;  ///< number of the next extent
  uint64_t at_ = 0;    ///< in the extent under way
  uint64_t left_ = 0;  ///< bytes left there
  uint64_t end_ = 0;
};

/// The size of an extent for splits of `split` bytes that are expected to shrink by `ratio`, give or take `error`: room
/// for as many as make good use of it.
uint64_t extent_size(uint64_t split, double ratio, double error);

}  // namespace cairn::blocks
