// Recognising a call: the memo of an expected signature applies if its raw arguments and its outcome are the same
// again.
//
// By the thread that makes the call, between its end and the next symbol. What nearly all calls need is inlined into
// the way that they take (fast_path.cc); the rest, and requests that are in the table of handles, is in recognise.cc.
// Nothing here makes a system call. A call that is not recognised has changed nothing.
//
// *Other ways considered:* to encode every call and to look up its row, which takes 100 to 300 ns (encoder.h); and a
// table of memos by hashed arguments alone, whose lines nobody could bring near while the real call runs. The grammar
// names the one memo to compare with before the call begins; where it is wrong, the table is asked (recall.h).
#pragma once

#include <cstring>

#include "mpi/call/facts.h"
#include "mpi/call/mpi_calls.h"
#include "mpi/call/status_code.h"
#include "mpi/call/thread.h"

namespace cairn::recorder {

/// The requests of a call that waits, as they were saved before it and as they are now.
class WaitedRequests {
 public:
  static constexpr uint64_t kMost = 64;  ///< that a memo is used for

  WaitedRequests(const Thread &thread, const Frame &frame, unsigned parameter)
      : saved_(thread.before.data() + frame.scratch),
        now_(reinterpret_cast<const uint8_t *>(frame.argument[parameter])) {}

  [[nodiscard]] uint64_t count() const {
    uint64_t count = 0;
    memcpy(&count, saved_, sizeof count);
    return count;
  }
  [[nodiscard]] uint64_t before(uint64_t k) const {
    return mpi::read_handle(saved_ + sizeof(uint64_t) + k * mpi::handle_size);
  }
  [[nodiscard]] uint64_t after(uint64_t k) const { return mpi::read_handle(now_ + k * mpi::handle_size); }
  /// As arrays of handles, whose type is as large as `Value`.
  template <typename Value>
  struct Array {
    using Element [[gnu::may_alias]] = Value;
    const Element *at;
    Value operator[](uint64_t k) const { return at[k]; }
  };
  template <typename Value>
  [[nodiscard]] Array<Value> all_before() const {
    return {reinterpret_cast<const typename Array<Value>::Element *>(saved_ + sizeof(uint64_t))};
  }
  template <typename Value>
  [[nodiscard]] Array<Value> all_after() const {
    return {reinterpret_cast<const typename Array<Value>::Element *>(now_)};
  }

 private:
  const uint8_t *saved_;
  const uint8_t *now_;
};

/// Both counters only grow: their sum is the same only if nothing that raw values stand for has ended.
inline uint32_t epoch_now(const Names &names) { return names.handles->epoch() + *names.preload_epoch; }

// Parts of `recognise` that few calls need.
bool outputs_match(const Frame &frame, const Memo &memo);
/// Where a new request is not fresh. False, and nothing has changed, without memory.
bool enter_request(Thread &thread, uint64_t raw, const Memo &memo);
bool complete_requests(Thread &thread, Frame &frame, const Memo &memo);

/// Two words at once.
using Pair = uint64_t __attribute__((vector_size(16), may_alias));

/// The words that differ among half of the arguments, from `first` on.
inline Pair differences(const Frame &frame, const Memo &memo, unsigned first) {
  constexpr int kPairsInHalf = spec::kMaxParameters / 4;
  const auto *now = reinterpret_cast<const Pair *>(frame.argument + first);
  const auto *then = reinterpret_cast<const Pair *>(memo.argument + first);
  const auto *mask = reinterpret_cast<const Pair *>(compared_arguments[memo.function].mask + first);
  Pair all = {};
#pragma GCC unroll 4
  for (int i = 0; i < kPairsInHalf; ++i) all |= (now[i] ^ then[i]) & mask[i];
  return all;
}

inline bool same_arguments(const Frame &frame, const Memo &memo) {
  Pair all = differences(frame, memo, 0);
  if (memo.many_arguments) [[unlikely]]
    all |= differences(frame, memo, spec::kMaxParameters / 2);
  return (all[0] | all[1]) == 0;
}

inline bool make_request(Thread &thread, const Frame &frame, Memo &memo) {
  HandleTable &handles = *thread.process->names.handles;
  const uint64_t raw = mpi::read_handle(reinterpret_cast<const void *>(frame.argument[memo.parameter]));
  if (raw == handles.null_request()) [[unlikely]]
    return false;
  if (!memo.persistent && handles.add_fresh(raw, memo)) [[likely]]
    return true;
  return enter_request(thread, raw, memo);
}

inline bool as_implied(const Frame &frame, unsigned parameter, uint64_t k, const Posted &posted) {
  const auto *statuses = reinterpret_cast<const uint8_t *>(frame.argument[parameter]);
  return status_implied(mpi::read_status(statuses + k * mpi::status_size), posted, false);
}

/// The call is `memo.signature` again: makes and ends objects accordingly and gives true. Else nothing has changed.
[[gnu::always_inline]] inline bool recognise(Thread &thread, Frame &frame, Memo &memo) {
  if (memo.epoch != epoch_now(thread.process->names) ||
      (frame.result != static_cast<uint64_t>(int64_t{mpi::success}) && !memo.any_result) ||
      !same_arguments(frame, memo) || (memo.outputs != 0 && !outputs_match(frame, memo))) {
    return false;
  }
  switch (memo.kind) {
    case MemoKind::plain:
      return true;
    case MemoKind::request:
      return make_request(thread, frame, memo);
    case MemoKind::status:
      return !memo.checks_status || as_implied(frame, memo.parameter, 0, memo.posted);
    case MemoKind::wait:
      return complete_requests(thread, frame, memo);
    case MemoKind::poll:
      return memo.drained == thread.sequence.drained.generation() && complete_requests(thread, frame, memo);
    case MemoKind::none:
      break;
  }
  return false;
}

/// The same for a call that was not expected when it began.
inline bool recognise_late(Thread &thread, Frame &frame, Memo &memo) {
  return memo.kind != MemoKind::none && memo.function == frame.function && memo.site == frame.site &&
         frame.depth == 0 && recognise(thread, frame, memo);
}

}  // namespace cairn::recorder
