// The way that nearly all calls of a program that repeats itself take: the grammar predicted them, and words are equal.
//
// enter knows the call by its return address, so no table of call sites is asked; begin reads the clock, and of a
// waiting call notes the requests; end compares arguments and outcome with the memo, then makes or ends requests and
// counts. Whatever is unusual (a second thread that records, nesting, a clock without counter, …) leaves for engine.cc
// before anything has changed. Nothing here makes a system call or touches errno.
#include <cstring>

#include "mpi/engine.h"
#include "mpi/facts.h"
#include "mpi/status_code.h"

namespace cairn::recorder {
namespace {

using spec::Kind;

/// Both counters only grow: their sum is the same only if nothing that raw values stand for has ended.
inline uint32_t epoch_now(const Process &process) { return process.handles->epoch() + *process.preload_epoch; }

/// Two words at once.
using Pair = uint64_t __attribute__((vector_size(16), may_alias));
constexpr int kPairsInHalf = spec::kMaxParameters / 4;

/// The words that differ among half of the arguments, from `first` on.
inline Pair differences(const Frame &frame, const Signature &signature, unsigned first) {
  const auto *now = reinterpret_cast<const Pair *>(frame.argument + first);
  const auto *then = reinterpret_cast<const Pair *>(signature.argument + first);
  const auto *mask = reinterpret_cast<const Pair *>(compared_arguments[frame.function].mask + first);
  Pair all = {};
#pragma GCC unroll 4
  for (int i = 0; i < kPairsInHalf; ++i) all |= (now[i] ^ then[i]) & mask[i];
  return all;
}

inline bool same_arguments(const Frame &frame, const Signature &signature) {
  Pair all = differences(frame, signature, 0);
  if (signature.many_arguments) all |= differences(frame, signature, spec::kMaxParameters / 2);
  return (all[0] | all[1]) == 0;
}

inline bool make_request(Thread &thread, Frame &frame, Signature &signature) {
  PlacePool *pool = signature.request.pool;
  if (pool->peek() != signature.request.place) return false;
  HandleTable &handles = *thread.process->handles;
  const uint64_t raw = mpi::read_handle(reinterpret_cast<const void *>(frame.argument[signature.request.parameter]));
  HandleEntry *entry = handles.shared() ? nullptr : handles.add_only(Kind::request, raw);
  if (entry == nullptr) entry = handles.add(Kind::request, raw);
  if (entry == nullptr) return false;
  pool->mark(signature.request.place, handles.shared());
  entry->site = frame.site;
  entry->thread = thread.number;
  entry->place = signature.request.place;
  entry->pool = pool;
  entry->persistent = signature.request.persistent;
  entry->posted = signature.request.posted();
  return true;
}

inline bool has_name(const HandleEntry &entry, const RequestName &name) {
  return entry.site == name.site && entry.thread == name.thread && entry.place == name.place && entry.constant < 0;
}

inline bool as_implied(const Frame &frame, unsigned parameter, uint64_t k, const Posted &posted) {
  const auto *statuses = reinterpret_cast<const uint8_t *>(frame.argument[parameter]);
  return status_implied(mpi::read_status(statuses + k * mpi::status_size), posted, false);
}

inline bool complete_requests(Thread &thread, Frame &frame, Signature &signature) {
  if ((frame.flags & kFrameSaved) == 0) return false;
  const WaitedRequests waited(thread, frame, signature.wait.parameter);
  const uint64_t count = waited.count();
  HandleTable &handles = *thread.process->handles;
  // Longer arrays are encoded: the entries found are kept on the stack.
  if (count != signature.wait.name_count || count > WaitedRequests::kMost) return false;
  if (handles.shared()) return complete_among_equals(thread, frame, signature);
  HandleEntry *entries[WaitedRequests::kMost];
  const uint64_t mark = thread.new_mark();
  for (uint64_t k = 0; k < count; ++k) {
    HandleEntry *entry = handles.find_only(Kind::request, waited.before(k));
    if (entry == nullptr) return complete_among_equals(thread, frame, signature);
    entries[k] = entry;
    const RequestName &name = signature.wait.names[k];
    const bool none = entry->constant >= 0;
    if (none ? name.site != nullptr : !has_name(*entry, name) || entry->mark == mark) return false;
    entry->mark = mark;
    if (entry->pending != nullptr) return false;
    if (signature.checks_status &&
        !as_implied(frame, signature.wait.status, k, none ? Posted{PostedKind::empty, 0, 0, 0} : entry->posted)) {
      return false;
    }
  }
  for (uint64_t k = 0; k < count; ++k) {
    if (entries[k]->constant < 0 && waited.after(k) != entries[k]->raw) handles.remove_only(entries[k]);
  }
  return true;
}

/// The call is `signature` again: makes and ends objects accordingly and gives true. Else nothing has changed.
[[gnu::always_inline]] inline bool recognise(Thread &thread, Frame &frame, Signature &signature) {
  if (signature.epoch != epoch_now(*thread.process) || (signature.result != frame.result && !signature.any_result) ||
      !same_arguments(frame, signature) || (signature.outputs != 0 && !outputs_match(frame, signature))) {
    return false;
  }
  switch (signature.memo) {
    case MemoKind::plain:
      return true;
    case MemoKind::request:
      return make_request(thread, frame, signature);
    case MemoKind::status:
      return !signature.checks_status || as_implied(frame, signature.request.parameter, 0, signature.request.posted());
    case MemoKind::wait:
      return complete_requests(thread, frame, signature);
    case MemoKind::none:
      break;
  }
  return false;
}

/// What the long way would keep of a call that waits.
inline bool save_requests(Thread &thread, Frame &frame, const Signature &signature) {
  const uint64_t requests = frame.argument[signature.wait.parameter];
  int64_t count =
      signature.wait.count_parameter < 0 ? 1 : static_cast<int64_t>(frame.argument[signature.wait.count_parameter]);
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

}  // namespace

bool apply_memo(Thread &thread, Frame &frame, Signature &signature) {
  return signature.memo != MemoKind::none && signature.function == frame.function && signature.site == frame.site &&
         frame.depth == 0 && recognise(thread, frame, signature);
}

Frame *enter(uint32_t function, void *return_address, void *frame_address) {
  Thread *const thread = current_thread;
  const Process *const of = process;
  if (thread == nullptr || of == nullptr || thread->busy || thread->depth != 0 || thread->wants_epilogue ||
      of->phase.load(std::memory_order_relaxed) == Phase::off) [[unlikely]] {
    return enter_slowly(function, return_address, frame_address);
  }
  const grammar::Symbol predicted = thread->sequence.calls->predict();
  if (predicted == grammar::kNoSymbol) [[unlikely]]
    return enter_slowly(function, return_address, frame_address);
  Signature *const expected = &thread->sequence.signatures[predicted];
  if (expected->return_address != reinterpret_cast<uintptr_t>(return_address) || expected->function != function ||
      expected->epoch != epoch_now(*of)) [[unlikely]] {
    return enter_slowly(function, return_address, frame_address);
  }
  __builtin_prefetch(&expected->site);
  __builtin_prefetch(expected->argument);
  __builtin_prefetch(expected->histogram);
  thread->busy = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  Frame *const frame = &thread->frames[0];
  frame->return_address = reinterpret_cast<uintptr_t>(return_address);
  frame->expected = expected;
  frame->site = expected->site;
  frame->stack = reinterpret_cast<uintptr_t>(frame_address);
  frame->function = function;
  frame->depth = 0;
  frame->flags = expected->memo == MemoKind::wait ? 0 : kFramePlain;
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
  Signature *const expected = frame->expected;
  if (expected == nullptr) [[unlikely]]
    return end_slowly(frame);
  const uint64_t end_ticks = Clock::counter();
  if (current_thread == nullptr) return;
  Thread &thread = *current_thread;
  Process &of = *thread.process;
  thread.busy = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  grammar::Builder &calls = *thread.sequence.calls;
  if (thread.depth != 1 || (frame->flags & kFrameRecorded) != 0 ||
      of.phase.load(std::memory_order_relaxed) == Phase::off || calls.predict() != expected->id ||
      !recognise(thread, *frame, *expected)) [[unlikely]] {
    return end_unexpected(thread, *frame, end_ticks);
  }
  if (!calls.append(expected->id)) [[unlikely]] {
    lose_call(of);
  } else {
    const uint64_t duration = of.clock.between(frame->begin, end_ticks);
    expected->add_time(*of.arena, duration);
    thread.mpi_ns += duration;
    thread.last_end = end_ticks;
    if (of.thread_count.load(std::memory_order_relaxed) > 1) [[unlikely]]
      add_ticket(thread);
  }
  if ((frame->flags & kFrameSaved) != 0) thread.before.resize(frame->scratch);
  thread.depth = 0;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  thread.busy = false;
}

}  // namespace cairn::recorder
