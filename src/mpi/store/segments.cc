#include "mpi/store/segments.h"

#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <utility>

#include "mpi/store/harvest.h"
#include "mpi/store/spool_file.h"

namespace cairn::recorder {
namespace {

/// The file in `folder` that holds the process's n-th segment, a SpoolHeader and a serialised Part.
std::string path_of(const Process &of, const std::string &folder, uint32_t n) {
  return of.run.file_in(folder, std::to_string(n) + ".segment");
}

void release(Arena &arena, ClosedSequence &closed) {
  Sequence &old = closed.sequence;
  for (grammar::Builder *builder : {old.calls, old.order, old.heap.order}) {
    if (builder == nullptr) continue;
    builder->release();
    arena.release(builder, sizeof *builder);
  }
  old.signatures.release(arena);
  old.heap.events.release(arena);
  old.local_site.release(arena);
  old.sites.release(arena);
  for (size_t i = 0; i < old.gaps.size(); ++i) arena.release_array(old.gaps[i], 1);
  old.gaps.release(arena);
  old.drained.release(arena);
  closed.timing.release(arena);
}

bool place(Process &of, ClosedSequence &closed, const Bytes &bytes) {
  const uint32_t n = of.spilling.spilled.load();
  const std::string path = path_of(of, of.run.config.spool, n);
  const std::string partial = path + ".partial";
  if (!write_file(partial, bytes)) return false;
  if (of.run.config.spill_pause_ms != 0) {
    const timespec pause = {of.run.config.spill_pause_ms / 1000, of.run.config.spill_pause_ms % 1000 * 1'000'000L};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, nullptr);
  }
  assert(closed.file.load() == ClosedSequence::kNotPlaced || closed.file.load() == n);
  closed.file.store(n);
  if (rename(partial.c_str(), path.c_str()) != 0) return false;
  of.spilling.spilled.store(n + 1);
  return true;
}

bool write_segment(Process &of, ClosedSequence &closed) {
  try {
    Result<trace::Part> part = trace::Part();
    timing::TimesCost cost;
    {
      Result<trace::ProcessRecord> record = harvest_closed(of, closed);
      if (!record) return false;
      cost = record->times_cost;
      part = trace::Part::of(*std::move(record));
    }
    if (!part) return false;
    if (!place(of, closed, spool_file_of(of, SpoolHeader::Kind::segment, "", *part))) return false;
    of.spilling.times_cost.add(cost);
    return true;
  } catch (...) {
    return false;  // no memory
  }
}

/// The file's bytes are gone when the part is there.
Result<trace::Part> read_segment(const std::string &path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = in ? static_cast<std::streamoff>(in.tellg()) : 0;
  Bytes bytes(static_cast<size_t>(std::max<std::streamoff>(size, 0)));
  in.seekg(0);
  in.read(reinterpret_cast<char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!in) bytes.clear();
  ByteReader reader(bytes);
  const Result<SpoolHeader> header = read_spool_header(reader);
  if (!header) return tl::unexpected(header.error());
  return trace::Part::parse(ByteView(bytes).subspan(reader.position()));
}

}  // namespace

bool write_closed(Process &of) {
  ClosedSequence *closed = of.spilling.closed.load();
  if (closed == nullptr) return false;
  if (!write_segment(of, *closed)) {
    of.spilling.spool_refuses.store(true);
    return false;
  }
  release(*of.arena, *closed);
  of.spilling.spool_refuses.store(false);
  of.spilling.making_bytes.store(0);
  of.spilling.closed.store(nullptr);
  of.arena->release(closed, sizeof *closed);
  of.arena->clean();
  return true;
}

Result<trace::Part> with_segments(const Process &of, const std::string &folder, trace::Part part,
                                  const SegmentJoined &joined) {
  for (uint32_t n = 0; n < of.spilling.spilled.load(); ++n) {
    const std::string path = path_of(of, folder, n);
    Result<trace::Part> segment = read_segment(path);
    Result<trace::Part> both =
        segment ? trace::Part::merge(std::move(part), std::move(*segment)) : tl::unexpected(segment.error());
    Result<void> taken = both && joined ? joined(&*both) : Result<void>();
    if (!taken) both = tl::unexpected(taken.error());
    if (!both) {
      both.error().path = path;
      return both;
    }
    part = std::move(*both);
  }
  return part;
}

void drop_segments(Process &of) {
  Spilling &spilling = of.spilling;
  for (uint32_t n = 0; n < spilling.spilled.load(); ++n) unlink(path_of(of, of.run.config.spool, n).c_str());
  spilling.spilled.store(0);
  ClosedSequence *closed = spilling.closed.load();
  spilling.closed.store(nullptr);  // its memory is not used again
  if (closed != nullptr) closed->timing.reset();
}

}  // namespace cairn::recorder
