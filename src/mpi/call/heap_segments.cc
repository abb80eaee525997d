#include "mpi/call/heap_segments.h"

namespace cairn::recorder {
namespace {

void add(Thread &thread, int64_t number, uint64_t bytes) {
  Process &of = *thread.process;
  if (!thread.sequence.heap.add(*of.arena, number, bytes)) of.losses.note(Loss::heap);
}

}  // namespace

void note_heap_segment(int64_t number, uint64_t bytes) {
  Process *of = process;
  if (of == nullptr || of->phase.load(std::memory_order_relaxed) == Phase::off) return;
  Thread *thread = current_thread;
  if (thread != nullptr && !thread->wants_epilogue) return add(*thread, number, bytes);
  const SpinGuard guard(of->ended.lock);
  if (bytes != 0 || !of->ended.numbers.push(*of->arena, number)) of->losses.note(Loss::heap);
  of->ended.count.store(of->ended.numbers.size(), std::memory_order_release);
}

void take_ended_segments(Thread &thread) {
  EndedSegments &ended = thread.process->ended;
  if (ended.count.load(std::memory_order_acquire) == 0) return;
  const SpinGuard guard(ended.lock);
  for (size_t i = 0; i < ended.numbers.size(); ++i) add(thread, ended.numbers[i], 0);
  ended.numbers.clear();
  ended.count.store(0, std::memory_order_release);
}

}  // namespace cairn::recorder
