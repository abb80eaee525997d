// Memo: the raw arguments with which a signature was last encoded, and what else must hold for a call with the same
// ones to be that signature again. Then nothing is encoded (call/recognise.h).
//
// A signature gets one when it is encoded where the grammar predicted it, or for the second time (call/recall.h). Owned
// by the thread whose signature it is, in the arena, and freed with the signature. A call that it recognises touches
// its first two cache lines (more where it has more than eight arguments, or a status to compare).
//
// It lies beside the handles, since until somebody asks the table for it a request is known by the memo of the call
// that made it (FreshRequest).
#pragma once

#include <cstdint>

#include "mpi/names/places.h"
#include "mpi/names/posted.h"
#include "mpi/names/sites.h"
#include "spec/spec.h"

namespace cairn::recorder {

struct Signature;

/// What besides equal raw arguments must hold for a memo to apply.
enum class MemoKind : uint8_t {
  none,     ///< not memoised: always encoded
  plain,    ///< nothing
  request,  ///< the call makes a request, whose place must come out the same
  status,   ///< a status, whose outcome must be coded the same
  wait,     ///< completes requests, whose names must be the same; statuses, if any, as implied
  poll,     ///< asks for some of many requests and finds none completed: their array must be as it was left last
};

/// A request's name, as a memo of a waiting call keeps it. A pool stands for one thread's objects of one site.
struct RequestName {
  const PlacePool *pool;  ///< nullptr: MPI_REQUEST_NULL
  uint32_t place;
};

/// No return address has it.
constexpr uintptr_t kByLine = uintptr_t{1} << 63;

struct alignas(64) Memo {
  // What recognises a call.
  uintptr_t return_address;  ///< of the call that `site` stands for; with kByLine if the Python line must be the same,
                             ///< too; 0: not known by its return address
  Signature *signature;
  uint32_t *histogram;  ///< the signature's, once it has one
  union {
    PlacePool *pool;     ///< request: where the request's place comes from
    RequestName *names;  ///< wait, poll
  };
  Memo *next;  ///< of the signature `next_id`, which came after this one the last time; nullptr if it had none
  uint32_t epoch;
  union {
    uint32_t place;       ///< request: that it had
    uint32_t name_count;  ///< wait, poll
  };
  uint32_t next_id;
  uint16_t function;
  uint16_t outputs;  ///< bit i: what argument i points to must be equal
  MemoKind kind;
  bool checks_status : 1;   ///< status, wait: there are statuses, all of which must be as implied
  bool has_names : 1;       ///< `names` is what the union holds
  bool any_result : 1;      ///< what it returns is not part of the row; else it is MPI_SUCCESS
  bool many_arguments : 1;  ///< more than half of kMaxParameters are compared
  bool persistent : 1;      ///< request
  uint8_t parameter;        ///< the request, the status or the requests
  int8_t count_parameter;   ///< wait: how many; -1: one
  uint8_t status;           ///< wait: the statuses, if `checks_status`
  uint8_t placing;          ///< 1 if the call counts among those that heap segments are placed by, else 0

  alignas(64) uint64_t argument[spec::kMaxParameters];

  // What is read now and then.
  Site *site;
  Posted posted;  ///< request, status
  union {
    uint32_t thread;   ///< request: whose it is
    uint32_t drained;  ///< poll: DrainedArrays::generation
  };
  uint32_t name_capacity;
};
static_assert(sizeof(Memo) == 256);

}  // namespace cairn::recorder
