// Signature and SignatureTable: the distinct calls of one thread, in order of first occurrence.
//
// A signature is a packed row (trace::pack_row's form), its statistics, and a *memo*: the raw arguments with which it
// was last encoded. When the grammar predicts a signature and the raw arguments equal its memo, the call is that
// signature and nothing is encoded (fast_path.cc). A call that its memo recognises touches the first two cache lines
// and as many of the arguments' as there are.
//
// Owned by one thread; memory from the arena, never throws; `intern` gives nullptr when there is no memory.
#pragma once

#include <bit>
#include <cstdint>

#include "base/arena.h"
#include "mpi/handles.h"
#include "mpi/places.h"
#include "mpi/scratch.h"
#include "mpi/sites.h"
#include "spec/spec.h"
#include "trace/record.h"

namespace cairn::recorder {

/// What besides equal raw arguments must hold for a memo to apply.
enum class MemoKind : uint8_t {
  none,     ///< not memoised: always encoded
  plain,    ///< nothing
  request,  ///< the call makes a request, whose place must come out the same
  status,   ///< a status, whose outcome must be coded the same
  wait,     ///< completes requests, whose names must be the same; statuses, if any, as implied
};

/// A request's name, as a memo of a waiting call keeps it.
struct RequestName {
  const Site *site;  ///< nullptr: MPI_REQUEST_NULL
  uint32_t thread;
  uint32_t place;
};

/// The memo of a call that makes a request or fills one status.
struct RequestMemo {
  PlacePool *pool;       ///< where the request's place comes from
  int64_t posted_bytes;  ///< what the call asked for
  int32_t posted_source;
  int32_t posted_tag;
  uint32_t place;  ///< the place that the request had
  PostedKind posted_kind;
  bool persistent;
  uint8_t parameter;  ///< the request or the status

  [[nodiscard]] Posted posted() const { return {posted_kind, posted_source, posted_tag, posted_bytes}; }
};

/// The memo of a call that waits.
struct WaitMemo {
  RequestName *names;
  uint32_t name_count;
  uint32_t name_capacity;
  uint8_t parameter;       ///< the requests
  int8_t count_parameter;  ///< how many; -1: one
  uint8_t status;          ///< the statuses, if `checks_status`
};

struct alignas(64) Signature {
  // What every call of it touches.
  uintptr_t return_address;  ///< of the call that `site` stands for; 0: no memo, or not known by its return address
  uint32_t function;
  uint32_t epoch;
  uint32_t id;  ///< symbol
  MemoKind memo;
  bool checks_status : 1;   ///< status, wait: there are statuses, all of which must be as implied
  bool has_names : 1;       ///< `wait` is what the union holds
  bool any_result : 1;      ///< what it returns is not part of the row
  bool many_arguments : 1;  ///< more than half of kMaxParameters are compared
  uint16_t outputs;         ///< bit i: what argument i points to must be equal
  uint64_t count;           ///< statistics, in nanoseconds
  uint64_t sum;
  uint64_t minimum;
  uint64_t maximum;
  uint32_t *histogram;  ///< trace::CallStats::kBuckets counters, from the second call on

  Site *site;
  uint64_t result;
  union {
    RequestMemo request;  ///< request, status
    WaitMemo wait;
  };
  uint32_t size;         ///< of `bytes`
  const uint8_t *bytes;  ///< the packed row

  uint64_t argument[spec::kMaxParameters];

  void add_time(Arena &arena, uint64_t nanoseconds) {
    const uint64_t before = count++;
    sum += nanoseconds;
    if (histogram == nullptr) [[unlikely]]
      return begin_statistics(arena, before, nanoseconds);
    if (nanoseconds < minimum) minimum = nanoseconds;
    if (nanoseconds > maximum) maximum = nanoseconds;
    ++histogram[bucket_of(nanoseconds)];
  }

 private:
  /// trace::CallStats::bucket, inlined.
  static unsigned bucket_of(uint64_t nanoseconds) {
    if (nanoseconds < 2) return static_cast<unsigned>(nanoseconds);
    const auto octave = static_cast<unsigned>(std::bit_width(nanoseconds)) - 1;
    const unsigned bucket = 2 * octave + (static_cast<unsigned>(nanoseconds >> (octave - 1)) & 1);
    return bucket < trace::CallStats::kBuckets ? bucket : trace::CallStats::kBuckets - 1;
  }
  void begin_statistics(Arena &arena, uint64_t before, uint64_t nanoseconds);
};
static_assert(sizeof(Signature) == 256);

class SignatureTable {
 public:
  /// The signature with those bytes, new if need be; `*is_new` tells. nullptr without memory.
  Signature *intern(Arena &arena, const uint8_t *bytes, uint32_t size, bool *is_new);
  [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(signatures_.size()); }
  Signature &operator[](uint32_t id) { return signatures_[id]; }
  const Signature &operator[](uint32_t id) const { return signatures_[id]; }
  void release(Arena &arena);

 private:
  struct Slot {
    uint32_t hash;
    uint32_t number;  ///< id + 1; 0: empty
  };
  /// Open addressing; `capacity` is a power of two.
  struct Slots {
    Slot *at = nullptr;
    uint32_t capacity = 0;
  };
  bool grow(Arena &arena);
  void move_some(Arena &arena);
  Signature *find(const Slots &slots, uint32_t hash, const uint8_t *bytes, uint32_t size);
  static void insert(const Slots &slots, Slot slot);

  Chunked<Signature, 64> signatures_;
  Slots slots_;
  Slots old_;           ///< what `slots_` is to take over, a few at each call: no call waits for all
  uint32_t moved_ = 0;  ///< of them
};

}  // namespace cairn::recorder
