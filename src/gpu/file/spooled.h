// What a process leaves of its GPU launches, `<host>.<pid>.<number>.gpu`, in the spool of `cairn record` or beside the
// trace that it would have written: the file of a LaunchLog (launch_log.h), as bytes. `cairn record` and `cairn merge`
// make traces of such files.
//
//   "cairn gpu 2\n", u32 1 if the process ended in order, u32 1 if launches have places among MPI calls,
//   u64 launches that were made, u64 zero of their moments (CLOCK_MONOTONIC), u64 begin
//   (unix ns), u32 rank, varint-length-prefixed text: command; then records, each: u64 size of what follows, u64 its
//   hash, varint number of the launch from 1, varint number of its program, varint number of its streams, varint number
//   of each, blobs: sections `gpu` and `warps` of that launch alone
//
// A program or a stream whose number is the next stands in those sections, one that was there before is empty in them.
// A launch that stands there twice is what it is the second time. Plain functions, any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "gpu/file/launches.h"

namespace cairn::gpu {

/// What the moments of launches are counted from.
struct Zero {
  uint64_t ns = 0;        ///< by CLOCK_MONOTONIC
  bool of_calls = false;  ///< it is that of MPI calls, among which launches have places
};

struct SpooledHead {
  uint32_t rank = 0;
  int64_t start_unix_ns = 0;
  uint64_t made = 0;  ///< launches
  Zero zero;
  bool over = false;  ///< the process ended in order
  std::string command;
};

struct Spooled {
  SpooledHead head;
  Launches launches;            ///< those that ended in their order, then those in flight (Untraced::killed)
  uint64_t in_flight = 0;       ///< of them
  uint64_t unwritten = 0;       ///< launches that are not there, since the disk had no room
  std::optional<Error> damage;  ///< what stands behind it is not there
};

/// As many bytes whatever the numbers are.
Bytes write_spooled_head(const SpooledHead &head);
/// `one` is a launch, its program, and its streams, whose numbers in the file are `streams`.
Bytes write_spooled_launch(uint64_t id, uint64_t program, const std::vector<uint32_t> &streams, const Launches &one);
/// Error: the beginning is damaged already. A last record that is not all there is left out, as the process was killed
/// while it wrote that.
Result<Spooled> read_spooled(ByteView bytes);

}  // namespace cairn::gpu
