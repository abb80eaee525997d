// Signature and SignatureTable: the distinct calls of one thread, in order of first occurrence.
//
// A signature is a packed row (trace::pack_row's form), its statistics, and a *memo*: the raw arguments with which it
// was last encoded. When the grammar predicts a signature and the raw arguments equal its memo, the call is that
// signature and nothing is encoded (engine.h). Hot data comes first: the memo's head and the statistics are two cache
// lines.
//
// Owned by one thread; memory from the arena, never throws; `intern` gives nullptr when there is no memory.
#pragma once

#include <cstdint>

#include "base/arena.h"
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

struct alignas(64) Signature {
  // The memo's head.
  const Site *site;
  uint64_t result;
  uint32_t function;
  uint32_t epoch;
  uint16_t compared;  ///< bit i: argument i must be equal
  MemoKind memo;
  bool implied_status;  ///< status, wait: all outcomes were as implied
  uint32_t place;       ///< request: the place it had
  uint32_t id;          ///< symbol
  uint32_t size;        ///< of `bytes`
  uint64_t hash;
  const uint8_t *bytes;  ///< the packed row
  // Statistics, in nanoseconds.
  uint64_t count;
  uint64_t sum;
  uint64_t minimum;
  uint64_t maximum;
  uint32_t *histogram;  ///< trace::CallStats::kBuckets counters, from the second call on
  RequestName *names;   ///< wait
  uint32_t name_count;
  uint32_t name_capacity;
  // The rest of the memo.
  int64_t posted_bytes;  ///< request, status: what the call asked for
  int32_t posted_source;
  int32_t posted_tag;
  uint64_t argument[spec::kMaxParameters];

  void add_time(Arena &arena, uint64_t nanoseconds);
};

class SignatureTable {
 public:
  /// The signature with those bytes, new if need be; `*is_new` tells. nullptr without memory.
  Signature *intern(Arena &arena, const uint8_t *bytes, uint32_t size, bool *is_new);
  [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(signatures_.size()); }
  Signature &operator[](uint32_t id) { return signatures_[id]; }
  const Signature &operator[](uint32_t id) const { return signatures_[id]; }
  void release(Arena &arena);

 private:
  bool grow(Arena &arena);
  Chunked<Signature, 64> signatures_;
  uint32_t *slots_ = nullptr;  ///< id + 1, 0 empty
  uint32_t capacity_ = 0;      ///< power of two
};

}  // namespace cairn::recorder
