// The way that nearly all calls of a program that repeats itself take: the grammar predicted them, and words are equal.
//
// enter knows the call by its return address, so no table of call sites is asked; begin reads the clock, and of a
// waiting call notes the requests; end compares arguments and outcome with the memo, then makes or ends requests and
// counts. Whatever is unusual (a second thread that records, nesting, a clock without counter, …) leaves for engine.cc
// before anything has changed. Nothing here makes a system call or touches errno.
#include <cstring>

#include "mpi/call/engine.h"
#include "mpi/call/facts.h"
#include "mpi/call/status_code.h"

namespace cairn::recorder {
namespace {

using spec::Kind;

/// Both counters only grow: their sum is the same only if nothing that raw values stand for has ended.
inline uint32_t epoch_now(const Process &process) { return process.handles->epoch() + *process.preload_epoch; }

/// Two words at once.
using Pair = uint64_t __attribute__((vector_size(16), may_alias));
constexpr int kPairsInHalf = spec::kMaxParameters / 4;

/// The words that differ among half of the arguments, from `first` on.
inline Pair differences(const Frame &frame, const Memo &memo, unsigned first) {
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
  HandleTable &handles = *thread.process->handles;
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

/// The common case of `complete_fresh`: the array holds all of them, in the order of their creation, and all completed.
template <typename Value>
inline bool complete_in_order(const WaitedRequests &waited, HandleTable &handles, const Memo &memo) {
  const uint32_t count = memo.name_count;
  if (memo.checks_status || count != handles.fresh_count()) return false;
  const auto before = waited.all_before<Value>();
  const auto after = waited.all_after<Value>();
  for (uint32_t k = 0; k < count; ++k) {
    const FreshRequest &fresh = handles.fresh(k);
    // MPI_REQUEST_NULL is never fresh.
    if (before[k] != static_cast<Value>(fresh.raw) || after[k] == before[k] || fresh.memo->pool != memo.names[k].pool ||
        fresh.memo->place != memo.names[k].place) {
      return false;
    }
  }
  handles.end_all_fresh();
  return true;
}

/// Where all living requests are fresh: those in the array are found in their order, the oldest of a value first.
[[gnu::noinline]] bool complete_fresh(const WaitedRequests &waited, HandleTable &handles, const Frame &frame,
                                      const Memo &memo) {
  const uint32_t living = handles.fresh_count();
  const uint64_t null_request = handles.null_request();
  uint32_t found = 0;  // bit i: fresh request i stands in the array
  uint32_t ended = 0;
  for (uint64_t k = 0; k < memo.name_count; ++k) {
    const uint64_t raw = waited.before(k);
    const RequestName &name = memo.names[k];
    const Memo *made = nullptr;
    if (raw != null_request) {
      uint32_t i = 0;
      while (i < living && (handles.fresh(i).raw != raw || (found >> i & 1) != 0)) ++i;
      if (i == living) return false;
      made = handles.fresh(i).memo;
      if (made->pool != name.pool || made->place != name.place) return false;
      found |= 1U << i;
      if (waited.after(k) != raw) ended |= 1U << i;
    } else if (name.pool != nullptr) {
      return false;
    }
    if (memo.checks_status &&
        !as_implied(frame, memo.status, k, made == nullptr ? Posted{PostedKind::empty, 0, 0, 0} : made->posted)) {
      return false;
    }
  }
  handles.end_fresh(ended);
  return true;
}

bool complete_entered(Thread &thread, Frame &frame, const Memo &memo);

[[gnu::noinline]] bool complete_requests(Thread &thread, Frame &frame, const Memo &memo) {
  if ((frame.flags & kFrameSaved) == 0) return false;
  const WaitedRequests waited(thread, frame, memo.parameter);
  const uint64_t count = waited.count();
  // Longer arrays are encoded: the entries found are kept on the stack.
  if (count != memo.name_count || count > WaitedRequests::kMost) return false;
  HandleTable &handles = *thread.process->handles;
  if (!handles.all_fresh()) return complete_entered(thread, frame, memo);
  const bool in_order = mpi::handle_size == sizeof(int32_t) ? complete_in_order<int32_t>(waited, handles, memo)
                                                            : complete_in_order<uint64_t>(waited, handles, memo);
  return in_order || complete_fresh(waited, handles, frame, memo);
}

/// Where requests are in the table.
[[gnu::noinline]] bool complete_entered(Thread &thread, Frame &frame, const Memo &memo) {
  HandleTable &handles = *thread.process->handles;
  handles.settle();
  if (handles.shared()) return complete_among_equals(thread, frame, memo);
  const WaitedRequests waited(thread, frame, memo.parameter);
  const uint64_t count = waited.count();
  HandleEntry *entries[WaitedRequests::kMost];
  const uint64_t mark = thread.new_mark();
  for (uint64_t k = 0; k < count; ++k) {
    HandleEntry *entry = handles.find_only(Kind::request, waited.before(k));
    if (entry == nullptr) return complete_among_equals(thread, frame, memo);
    entries[k] = entry;
    const RequestName &name = memo.names[k];
    const bool none = entry->constant >= 0;
    if (none ? name.pool != nullptr : entry->pool != name.pool || entry->place != name.place || entry->mark == mark) {
      return false;
    }
    entry->mark = mark;
    if (entry->pending != nullptr) return false;
    if (memo.checks_status &&
        !as_implied(frame, memo.status, k, none ? Posted{PostedKind::empty, 0, 0, 0} : entry->posted)) {
      return false;
    }
  }
  for (uint64_t k = 0; k < count; ++k) {
    if (entries[k]->constant < 0 && waited.after(k) != entries[k]->raw) handles.remove_only(entries[k]);
  }
  return true;
}

/// The call is `memo.signature` again: makes and ends objects accordingly and gives true. Else nothing has changed.
[[gnu::always_inline]] inline bool recognise(Thread &thread, Frame &frame, Memo &memo) {
  if (memo.epoch != epoch_now(*thread.process) ||
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
    case MemoKind::none:
      break;
  }
  return false;
}

/// What the long way would keep of a call that waits.
inline bool save_requests(Thread &thread, Frame &frame, const Memo &memo) {
  const uint64_t requests = frame.argument[memo.parameter];
  int64_t count = memo.count_parameter < 0 ? 1 : static_cast<int64_t>(frame.argument[memo.count_parameter]);
  if (count < 0 || requests == 0) count = 0;
  if (count > int64_t{WaitedRequests::kMost}) return false;
  const size_t start = thread.before.size();
  const size_t bytes = static_cast<size_t>(count) * mpi::handle_size;
  const size_t end = start + sizeof(uint64_t) + (bytes + 7) / 8 * 8;
  if (end > thread.before.capacity()) return false;
  thread.before.resize(end);
  uint8_t *at = thread.before.data() + start;
  memcpy(at, &count, sizeof count);
  at += sizeof count;
  const auto *from = reinterpret_cast<const uint8_t *>(requests);
  if (mpi::handle_size == sizeof(uint64_t)) {
    for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) memcpy(at + i, from + i, sizeof(uint64_t));
  } else {
    for (size_t i = 0; i < bytes; i += sizeof(uint32_t)) memcpy(at + i, from + i, sizeof(uint32_t));
  }
  frame.scratch = static_cast<uint32_t>(start);
  frame.flags |= kFrameSaved;
  return true;
}

/// Everything else that a recognised call will touch, so that it comes while the real call runs.
inline void bring_near(const Thread &thread, const Memo &memo) {
  constexpr size_t kLine = 64;
  __builtin_prefetch(memo.argument);
  __builtin_prefetch(memo.signature);
  __builtin_prefetch(memo.pool);  // or its names
  __builtin_prefetch(thread.sequence.calls);
  __builtin_prefetch(compared_arguments[memo.function].mask);
  // The counters of what takes more than 256 ns: where caches are warm nothing has to be brought.
  __builtin_prefetch(reinterpret_cast<const char *>(memo.histogram) + kLine);
}

}  // namespace

bool apply_memo(Thread &thread, Frame &frame, Memo &memo) {
  return memo.kind != MemoKind::none && memo.function == frame.function && memo.site == frame.site &&
         frame.depth == 0 && recognise(thread, frame, memo);
}

Frame *enter(uint32_t function, void *return_address, void *frame_address) {
  Thread *const thread = current_thread;
  if (thread == nullptr || thread->busy || thread->depth != 0) [[unlikely]]
    return enter_slowly(function, return_address, frame_address);
  Memo *const expected = thread->expected;
  if (expected == nullptr || expected->return_address != reinterpret_cast<uintptr_t>(return_address) ||
      expected->function != function || expected->epoch != epoch_now(*thread->process)) [[unlikely]] {
    return enter_slowly(function, return_address, frame_address);
  }
  bring_near(*thread, *expected);
  thread->busy = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  Frame *const frame = &thread->frames[0];
  frame->expected = expected;
  frame->stack = reinterpret_cast<uintptr_t>(frame_address);
  frame->function = function;
  frame->depth = 0;
  frame->flags = expected->kind == MemoKind::wait ? 0 : kFramePlain;
  thread->depth = 1;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  thread->busy = false;
  return frame;
}

void begin_slowly(Frame *frame) {
  Thread *const thread = current_thread;
  if (thread == nullptr) return;  // a forked child on its way out of a callback
  if (frame->expected != nullptr) [[likely]] {
    thread->busy = true;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    const bool saved = save_requests(*thread, *frame, *frame->expected);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    thread->busy = false;
    if (saved) {
      frame->begin = Clock::counter();
      return;
    }
  }
  begin_unexpected(*thread, *frame);
}

void end(Frame *frame) {
  Memo *const memo = frame->expected;
  if (memo == nullptr) [[unlikely]]
    return end_slowly(frame);
  const uint64_t end_ticks = Clock::counter();
  if (current_thread == nullptr) return;
  Thread &thread = *current_thread;
  thread.busy = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (thread.depth != 1 || thread.expected != memo || !recognise(thread, *frame, *memo)) [[unlikely]]
    return end_unexpected(thread, *frame, end_ticks);
  Process &of = *thread.process;
  grammar::Builder &calls = *thread.sequence.calls;
  if (!calls.append_predicted()) [[unlikely]] {
    lose_call(of);
  } else {
    const uint64_t duration = of.clock.counted(frame->begin, end_ticks);
    Signature &signature = *memo->signature;
    if (memo->histogram == nullptr) [[unlikely]] {
      signature.add_time(*of.arena, duration);
      memo->histogram = signature.histogram;
    } else {
      ++signature.count;
      signature.sum += duration;
      signature.add_to(memo->histogram, duration);
    }
    thread.mpi_ns += duration;
    thread.last_end = end_ticks;
    if (of.thread_count.load(std::memory_order_relaxed) > 1) [[unlikely]]
      add_ticket(thread);
  }
  if (memo->next_id == calls.predict() && memo->next != nullptr) [[likely]] {
    thread.expected = memo->next;
  } else {
    expect_next(thread, memo);
  }
  __builtin_prefetch(thread.expected);
  if ((frame->flags & kFrameSaved) != 0) thread.before.resize(frame->scratch);
  thread.depth = 0;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  thread.busy = false;
}

}  // namespace cairn::recorder
