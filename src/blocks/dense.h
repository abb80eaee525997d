// write_dense: many ranks write blocks of any size into one file, without a gap, each rank its own bytes: an
// exclusive scan of the sizes says where. The bytes go nowhere else, and no rank holds more than its own sizes
// (the "dense" layout of transparent parallel compression for PnetCDF).
//
// Why not MPI-IO's collective writes: they send data between ranks to make large pieces of small ones, and these are
// large already. Why not a file a rank: nobody wants a million of them. Why not through the root: its memory and its
// network would carry all bytes (ARCHITECTURE.md has what that took).
//
// All ranks write or nobody does, and all know which. Before the first byte is written they agree that each of them
// sees the one file: rank 0 puts a random mark into it, and the others find it there. (Device and inode differ
// between nodes that share a file, and may be equal where nothing is shared.) Every rank makes the same MPI calls
// whatever happens to its file, so nobody waits for a call that another leaves out; an MPI call that itself fails on
// some ranks only is beyond repair.
//
// The mark lies on a page of its own behind the blocks. NFS clients write whole pages that they have read before: where
// two ranks' blocks share a page, nobody has read it.
//
// Cost: four collectives of a few words, one of 4 KiB; a file opened and written once by each rank. No allocation, no
// exception, no output. Beyond RLIMIT_FSIZE it refuses instead of having the process killed.
#pragma once

#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "blocks/calls.h"

namespace cairn::blocks {

struct Dense {
  bool written = false;   ///< the bytes of all ranks are in the file; otherwise none, and there is no fresh file
  uint64_t begin = 0;     ///< where this rank's bytes lie, from the first rank's
  uint64_t opposing = 0;  ///< how many ranks could not open the file, or not write to it
  int error = 0;          ///< errno of this rank, if it is one of them
};

enum class Target : uint8_t {
  fresh,   ///< the file is made; something of that name is replaced
  longer,  ///< the file is there, with `front` bytes, and stays so if not all ranks can write to it
};

/// Collective. Writes the `own` pieces of all ranks into the file `path`, in rank order, from byte `front` on; path and
/// target are rank 0's word. `total` is the size of all ranks' pieces and the same on all. Afterwards the file ends
/// with the last rank's bytes; the first `front` bytes of a fresh one are the caller's to write.
Dense write_dense(const Calls &calls, const char *path, Target target, uint64_t front, uint64_t total,
                  std::span<const ByteView> own);

}  // namespace cairn::blocks
