#include "mpi/call/heap_segments.h"

namespace cairn::recorder {
namespace {

void add(Thread &thread, trace::Atom kind, int64_t number, uint64_t bytes) {
  Process &of = *thread.process;
  HeapLog &log = thread.sequence.heap;
  const bool kept =
      kind == trace::kDevice ? log.add_device(*of.arena, number, bytes) : log.add(*of.arena, number, bytes);
  if (!kept) of.losses.note(Loss::heap);
}

}  // namespace

void note_heap_segment(trace::Atom kind, int64_t number, uint64_t bytes) {
  Process *of = process;
  if (of == nullptr || of->phase.load(std::memory_order_relaxed) == Phase::off) return;
  Thread *thread = current_thread;
  if (thread != nullptr && !thread->wants_epilogue) return add(*thread, kind, number, bytes);
  const SpinGuard guard(of->ended.lock);
  if (bytes != 0 || !of->ended.numbers.push(*of->arena, number)) of->losses.note(Loss::heap);
  of->ended.count.store(of->ended.numbers.size(), std::memory_order_release);
}

void take_ended_segments(Thread &thread) {
  EndedSegments &ended = thread.process->ended;
  if (ended.count.load(std::memory_order_acquire) == 0) return;
  const SpinGuard guard(ended.lock);
  for (size_t i = 0; i < ended.numbers.size(); ++i) add(thread, trace::kHeap, ended.numbers[i], 0);
  ended.numbers.clear();
  ended.count.store(0, std::memory_order_release);
}

}  // namespace cairn::recorder
