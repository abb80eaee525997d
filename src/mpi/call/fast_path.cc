// The way that nearly all calls of a program that repeats itself take: the grammar predicted them, and words are equal.
//
// enter knows the call by its return address, so no table of call sites is asked (out of mpi4py it asks for the line,
// too); begin reads the clock, and of a waiting call notes the requests; end compares arguments and outcome with the
// memo, then makes or ends requests and counts. Whatever is unusual (a second thread that records, nesting, a clock
// without counter, …) leaves for engine.h before anything has changed. Nothing here makes a system call, but to wait
// where several threads' order outgrows memory, or touches errno.
#include <atomic>
#include <cerrno>
#include <cstring>

#include "mpi/call/append.h"
#include "mpi/call/engine.h"
#include "mpi/call/recognise.h"

namespace cairn::recorder {
namespace {

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

inline Frame *enter_expected(Thread *thread, Memo *expected, uint32_t function, void *frame_address) {
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

/// Not by its return address alone: it may be the expected call out of mpi4py, if the line is the expected one.
[[gnu::noinline]] Frame *enter_unlike(Thread *thread, uint32_t function, void *return_address, void *frame_address) {
  Memo *const expected = thread->expected;
  if (expected != nullptr && expected->return_address == (reinterpret_cast<uintptr_t>(return_address) | kByLine) &&
      expected->function == function && expected->epoch == epoch_now(thread->process->names)) {
    const int saved_errno = errno;
    thread->busy = true;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    const Site *site = thread->python_sites->find(nullptr);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    thread->busy = false;
    errno = saved_errno;
    if (site == expected->site) return enter_expected(thread, expected, function, frame_address);
  }
  return enter_slowly(function, return_address, frame_address);
}

}  // namespace

Frame *enter(uint32_t function, void *return_address, void *frame_address) {
  Thread *const thread = current_thread;
  if (thread == nullptr || thread->busy || thread->depth != 0) [[unlikely]]
    return enter_slowly(function, return_address, frame_address);
  Memo *const expected = thread->expected;
  if (expected == nullptr || expected->return_address != reinterpret_cast<uintptr_t>(return_address) ||
      expected->function != function || expected->epoch != epoch_now(thread->process->names)) [[unlikely]] {
    return enter_unlike(thread, function, return_address, frame_address);
  }
  return enter_expected(thread, expected, function, frame_address);
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
  bool leaves = false;
  if (!calls.append_predicted()) [[unlikely]] {
    lose_call(of);
  } else {
    thread.sequence.heap.calls += memo->placing;
    const uint64_t duration = of.clock.counted(frame->begin, end_ticks);
    Signature &signature = *memo->signature;
    if (memo->histogram == nullptr) [[unlikely]] {
      add_time(thread, signature, *frame, end_ticks, duration);
      // Where gaps are kept this stays the way: the usual mode is not to ask.
      if (!of.run.config.gaps) memo->histogram = signature.histogram;
    } else {
      ++signature.count;
      signature.sum += duration;
      signature.add_to(memo->histogram, duration);
    }
    thread.mpi_ns += duration;
    thread.last_end = end_ticks;
    if (of.thread_count.load(std::memory_order_relaxed) > 1) [[unlikely]] {
      add_ticket(thread);
      leaves = tickets_need_room(thread);
    }
  }
  if (leaves) [[unlikely]] {
    thread.expected = nullptr;
  } else if (memo->next_id == calls.predict() && memo->next != nullptr) [[likely]] {
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
