#include "mpi/call/recall.h"

#include "mpi/call/recognise.h"
#include "mpi/call/thread.h"

namespace cairn::recorder {
namespace {

constexpr uint64_t kMostRequests = 8;  ///< longer arrays hardly come again as they were

/// Whoever asks for a key next to another one gets one far from it.
class Key {
 public:
  void add(uint64_t value) {
    sum_ = (sum_ ^ value) * 0x9E3779B97F4A7C15ULL;
    sum_ ^= sum_ >> 32;
  }
  /// 0 is none.
  [[nodiscard]] uint64_t value() const { return sum_ | 1ULL << 63; }

 private:
  uint64_t sum_ = 0;
};

/// Notes the requests that a call waits for, as `note_names` does; false if they are too many, shared, or have no
/// names.
bool add_requests(Key &key, Thread &thread, const Frame &frame) {
  HandleTable &handles = *thread.process->names.handles;
  if ((frame.flags & kFrameSaved) == 0 || handles.shared()) return false;
  const WaitedRequests waited(thread, frame, static_cast<unsigned>(function_facts[frame.function].requests));
  if (waited.count() > kMostRequests) return false;
  thread.names.clear();
  const uint64_t mark = thread.new_mark();
  const bool fresh = handles.all_fresh();
  uint32_t found = 0;  // bit i: fresh request i, since several may have one value
  for (uint64_t k = 0; k < waited.count(); ++k) {
    const uint64_t raw = waited.before(k);
    RequestName name = {nullptr, 0};
    if (raw == handles.null_request()) {
      // has no name
    } else if (fresh) {
      uint32_t i = 0;
      while (i < handles.fresh_count() && (handles.fresh(i).raw != raw || (found >> i & 1) != 0)) ++i;
      if (i == handles.fresh_count()) return false;
      found |= 1U << i;
      name = {handles.fresh(i).memo->pool, handles.fresh(i).memo->place};
    } else {
      HandleEntry *entry = handles.find_only(spec::Kind::request, raw);
      if (entry == nullptr) entry = handles.find(spec::Kind::request, raw, thread.number, mark);
      if (entry == nullptr || entry->pool == nullptr) return false;
      entry->mark = mark;
      name = {entry->pool, entry->place};
    }
    if (!thread.names.push(*thread.process->arena, name)) return false;
    key.add(reinterpret_cast<uintptr_t>(name.pool) + name.place);
  }
  return true;
}

}  // namespace

uint64_t recall_key(Thread &thread, const Frame &frame) {
  const FunctionFacts &facts = function_facts[frame.function];
  if (facts.memo == MemoKind::none || frame.depth != 0) return 0;
  const spec::Function &function = spec::functions()[frame.function];
  Key key;
  key.add(reinterpret_cast<uintptr_t>(frame.site) + frame.function);
  const uint64_t *mask = compared_arguments[frame.function].mask;
  for (unsigned i = 0; i < function.parameter_count; ++i) {
    if (mask[i] != 0) key.add(frame.argument[i]);
  }
  for (uint32_t left = facts.outputs; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(__builtin_ctz(left));
    if (frame.argument[i] == 0) return 0;
    const uint64_t output = element_word(function.parameters[i], reinterpret_cast<const void *>(frame.argument[i]), 0);
    if (facts.memo == MemoKind::poll && i + 1 == function.answer && output != 0) return 0;
    key.add(output);
  }
  if (facts.memo == MemoKind::request) {
    const uint32_t site = frame.site->id;
    if (site >= thread.pools.size() || thread.pools[site] == nullptr) return 0;
    key.add(thread.pools[site]->peek());
  }
  const bool waits = facts.memo == MemoKind::wait || facts.memo == MemoKind::poll;
  if (waits && !add_requests(key, thread, frame)) return 0;
  return key.value();
}

Memo *recall(Thread &thread, Frame &frame) {
  thread.recall_key = recall_key(thread, frame);
  if (thread.recall_key == 0) return nullptr;
  Memo *memo = thread.recalled.find(thread.recall_key);
  return memo != nullptr && recognise_late(thread, frame, *memo) ? memo : nullptr;
}

}  // namespace cairn::recorder
