// What a recorder hands over: everything one process did, not yet compared with any other process.
//
// A *sequence* is what one thread did in one segment of its life: rows (distinct call signatures in order of
// first occurrence) and a grammar whose symbols are row numbers. Segments of one thread follow each
// other: 0 until finalize unless memory ran out, more when the recorder spilled; `kEpilogue` is what came after
// MPI_Finalize.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "grammar/grammar.h"
#include "timing/call_stats.h"
#include "timing/gap_stats.h"
#include "timing/stream.h"
#include "trace/model/losses.h"
#include "trace/values/atom.h"

namespace cairn::trace {

/// One field of a row: integers, or bytes (a string). An integer field without atoms is *absent*: the call
/// gave no such value (not significant on this rank, or not valid after the call).
struct Field {
  bool is_bytes = false;
  std::vector<Atom> atoms;
  Bytes bytes;
  bool operator==(const Field &) const = default;
};

/// One call signature. `function` is the permanent id in spec/; `site` numbers the sequence's sites. The fields are
/// the function's parameters in order, then the return value.
struct Row {
  uint32_t function = 0;
  uint32_t site = 0;
  uint32_t depth = 0;  ///< 0, or how many MPI calls of the program this one is nested in
  std::vector<Field> fields;
  bool operator==(const Row &) const = default;
};

/// The recorder's packed form of a row, the key of its signature table:
/// varint function, varint site, varint depth, varint number of fields, then per field varint (n << 1 | is_bytes)
/// and n signed varints, or n bytes.
void pack_row(const Row &row, ByteWriter &out);
Result<Row> unpack_row(ByteReader &in);
/// The same for one field. `in` fails on malformed bytes.
void pack_field(const Field &field, ByteWriter &out);
Field unpack_field(ByteReader &in);

/// What is known of a row whose function asks whether something has happened (MPI_Test, MPI_Iprobe, …): see
/// poll_fold.h; or takes what has completed out of an array of requests (MPI_Waitany, MPI_Testsome, …): drain_fold.h.
struct Poll {
  enum Kind : uint8_t { none, unsuccessful, successful };
  Kind kind = none;
  Bytes unsuccessful_form;    ///< of a successful one: the packed row of the same call, had it found nothing
  uint32_t first_output = 0;  ///< the first field that only the call sets, if it drains; else 0
  uint32_t answer = 0;        ///< the field that says whether a poll that drains found something; else 0
  bool stays = false;         ///< readers look for this call by its row: it is never optional (branch_fold.h)
};

/// A module (the executable or a shared object) that call sites, static buffers or callbacks lie in.
struct Module {
  Bytes build_id;    ///< GNU build-id, or 16 bytes hashed from its headers and size if it has none
  std::string path;  ///< as mapped; empty for anonymous code (JIT)
  bool operator==(const Module &) const = default;
};

/// A call site: the return address of the call. Site 0 of every sequence is the unknown site: what `sites[0]` holds is
/// ignored, and it may be missing if no other site is there.
struct Site {
  uint32_t module = 0;  ///< index into ProcessRecord::modules
  uint64_t offset = 0;  ///< of the return address in the module's file image (address minus load base)
  uint32_t caller = 0;  ///< 1 + index into ProcessRecord::frames of the site that called its function; 0: not known
  bool operator==(const Site &) const = default;
};

/// A segment of the heap (the second atom of kHeap) is named for the first time, or the program gave it up.
struct HeapEvent {
  uint64_t calls = 0;  ///< that the sequence's thread made since the event before, or since the sequence began; without
                       ///< those that chance repeats (docs/format.md, "heap")
  int64_t number = 0;
  uint64_t bytes = 0;  ///< that it has, or up to a sixteenth more; 0: it ends
  [[nodiscard]] bool ends() const { return bytes == 0; }
  bool operator==(const HeapEvent &) const = default;
};

/// A thread of the program was made, or waited for, by the thread whose sequence this is; or this very thread begins,
/// or ends. It stands among the events of the heap, as one whose number is negative.
struct ThreadEvent {
  uint64_t calls = 0;   ///< as a HeapEvent's
  uint64_t passed = 0;  ///< calls of the other kind since the last ThreadEvent, or since the sequence began
  uint32_t thread = 0;
  bool ends = false;
  static bool is(const HeapEvent &event) { return event.number < 0 && event.number >= -(int64_t{1} << 32); }
  [[nodiscard]] HeapEvent packed() const { return {calls, -1 - int64_t{thread}, passed << 1 | (ends ? 1U : 0U)}; }
  static ThreadEvent of(const HeapEvent &event) {
    return {event.calls, event.bytes >> 1, static_cast<uint32_t>(-1 - event.number), (event.bytes & 1) != 0};
  }
};

/// A block of device memory (the second atom of kDevice) is named for the first time, or one of another size or place
/// under a number that was given before. When it ends is not known. It stands among the events of the heap, as one
/// whose number is below those of threads.
struct DeviceEvent {
  uint64_t calls = 0;  ///< as a HeapEvent's
  int64_t number = 0;
  uint64_t bytes = 0;  ///< that it has, or up to a sixteenth more
  static bool is(const HeapEvent &event) { return event.number < kFirst && event.number > INT64_MIN / 2; }
  [[nodiscard]] HeapEvent packed() const { return {calls, kFirst - 1 - number, bytes}; }
  static DeviceEvent of(const HeapEvent &event) { return {event.calls, kFirst - 1 - event.number, event.bytes}; }

 private:
  static constexpr int64_t kFirst = -(int64_t{1} << 32);
};

struct SequenceRecord {
  static constexpr uint32_t kEpilogue = UINT32_MAX;
  uint32_t thread = 0;
  uint32_t segment = 0;
  grammar::Grammar calls;
  std::vector<Bytes> rows;               ///< packed rows; index = symbol
  std::vector<Poll> polls;               ///< one a row; or empty
  std::vector<timing::CallStats> stats;  ///< one a row, where the timing mode keeps statistics; else empty
  std::vector<Site> sites;               ///< this sequence's sites, in order of first occurrence
  std::vector<timing::GapStats> gaps;    ///< one a site, where the timing mode keeps gaps; else empty
  grammar::Grammar order;  ///< process-wide ticket minus (previous ticket of this sequence + 1), one a call; empty if
                           ///< the process had one thread
  uint64_t first_ticket = 0;
  grammar::Grammar heap;               ///< what became of heap segments, in order
  std::vector<HeapEvent> heap_events;  ///< its symbols
  Bytes times;                         ///< of the calls, as the timing mode writes them; empty if it keeps none
  uint64_t begin_ns = 0;               ///< when the first call began, from the rank's begin (its own clock)
};

/// Where a rank's time lies on the axis of the run. It begins with the rank's MPI_Init, or with a call before that if
/// one is in the trace. A moment `t` ns after its begin is `begin_unix_ns + t + drift_ns * t / wall_ns` ns since 1970
/// by rank 0's clock.
struct RankClock {
  static constexpr int64_t kOwn = -1;  ///< `uncertainty_ns`: never compared; `begin_unix_ns` is by the rank's own clock
  static constexpr int64_t kNone = -2;  ///< nothing is known of it
  int64_t begin_unix_ns = 0;
  int64_t drift_ns = 0;            ///< what rank 0's clock gained on this one's over the whole recording
  int64_t uncertainty_ns = kNone;  ///< the axis may be so much wrong, either way, against rank 0's
  bool operator==(const RankClock &) const = default;
};

struct ProcessRecord {
  uint32_t world = 0;  ///< 0, or which spawned/session world
  uint32_t rank = 0;
  uint32_t size = 1;  ///< of the world
  std::string host;
  std::vector<Loss> losses;  ///< why not all could be kept
  bool complete = true;      ///< MPI_Finalize was reached
  uint64_t wall_ns = 0;      ///< from its begin (RankClock) until it reached MPI_Finalize, or the recording ended
  uint64_t mpi_ns = 0;       ///< in MPI, outermost calls only
  uint64_t peak_memory = 0;
  timing::TimesCost times_cost;
  RankClock clock;
  std::vector<Module> modules;
  std::vector<Site> frames;  ///< callers of sites, where call stacks are kept; a frame's caller stands before it
  std::vector<SequenceRecord> sequences;
};

}  // namespace cairn::trace
