#include "mpi/call/recognise.h"

#include <cassert>

namespace cairn::recorder {

using spec::Kind;

bool outputs_match(const Frame &frame, const Memo &memo) {
  const spec::Function &function = spec::functions()[frame.function];
  for (uint32_t left = memo.outputs; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(__builtin_ctz(left));
    const uint64_t at = frame.argument[i];
    if (at == 0) return false;
    if (element_word(function.parameters[i], reinterpret_cast<const void *>(at), 0) != memo.argument[i]) return false;
  }
  return true;
}

bool enter_request(Thread &thread, uint64_t raw, const Memo &memo) {
  HandleTable &handles = *thread.process->names.handles;
  assert(memo.kind == MemoKind::request && memo.pool != nullptr);
  if (memo.pool->peek() != memo.place) return false;
  handles.settle();
  HandleEntry *entry = handles.shared() ? nullptr : handles.add_only(Kind::request, raw);
  if (entry == nullptr) entry = handles.add(Kind::request, raw);
  if (entry == nullptr) return false;
  const bool taken = memo.pool->mark(memo.place, handles.shared());
  assert(taken);
  (void)taken;
  entry->site = memo.site;
  entry->thread = thread.number;
  entry->place = memo.place;
  entry->pool = memo.pool;
  entry->persistent = memo.persistent;
  entry->posted = memo.posted;
  return true;
}

namespace {

/// Whether `entry`, which stands at place k of the array, is the request that stood there when the memo was made, and
/// its status as implied. One that has `mark` stood in the array before.
bool is_as_remembered(const HandleEntry &entry, const Frame &frame, const Memo &memo, uint64_t k, uint64_t mark) {
  const RequestName &name = memo.names[k];
  const bool none = entry.constant >= 0;
  if (none ? name.pool != nullptr
           : name.pool == nullptr || entry.pool != name.pool || entry.place != name.place || entry.mark == mark) {
    return false;
  }
  return entry.pending == nullptr &&
         (!memo.checks_status || as_implied(frame, memo.status, k, none ? kEmptyStatus : entry.posted));
}

/// Where several threads may be at MPI, or one value means several requests.
bool complete_among_equals(Thread &thread, Frame &frame, const Memo &memo) {
  const WaitedRequests waited(thread, frame, memo.parameter);
  const uint64_t count = waited.count();
  HandleEntry *entries[WaitedRequests::kMost];
  HandleTable &handles = *thread.process->names.handles;
  const uint64_t mark = thread.new_mark();
  for (uint64_t k = 0; k < count; ++k) {
    // The same value twice in one array (MPICH's shared requests): the second one is another object.
    HandleEntry *entry = handles.find(Kind::request, waited.before(k), thread.number, mark);
    if (entry == nullptr) return false;
    if (!is_as_remembered(*entry, frame, memo, k, mark)) return false;
    if (entry->constant < 0) entry->mark = mark;
    entries[k] = entry;
  }
  for (uint64_t k = 0; k < count; ++k) {
    if (entries[k]->constant >= 0) continue;
    if (waited.before(k) != waited.after(k)) handles.remove(entries[k]);
  }
  return true;
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
    if (memo.checks_status && !as_implied(frame, memo.status, k, made == nullptr ? kEmptyStatus : made->posted)) {
      return false;
    }
  }
  handles.end_fresh(ended);
  return true;
}

/// Where requests are in the table.
[[gnu::noinline]] bool complete_entered(Thread &thread, Frame &frame, const Memo &memo) {
  HandleTable &handles = *thread.process->names.handles;
  handles.settle();
  if (handles.shared()) return complete_among_equals(thread, frame, memo);
  const WaitedRequests waited(thread, frame, memo.parameter);
  const uint64_t count = waited.count();
  HandleEntry *entries[WaitedRequests::kMost];
  const uint64_t mark = thread.new_mark();
  for (uint64_t k = 0; k < count; ++k) {
    HandleEntry *entry = handles.find_only(Kind::request, waited.before(k));
    if (entry == nullptr) return complete_among_equals(thread, frame, memo);
    if (!is_as_remembered(*entry, frame, memo, k, mark)) return false;
    entry->mark = mark;
    entries[k] = entry;
  }
  for (uint64_t k = 0; k < count; ++k) {
    if (entries[k]->constant < 0 && waited.after(k) != entries[k]->raw) handles.remove_only(entries[k]);
  }
  return true;
}

}  // namespace

bool complete_requests(Thread &thread, Frame &frame, const Memo &memo) {
  if ((frame.flags & kFrameSaved) == 0) return false;
  const WaitedRequests waited(thread, frame, memo.parameter);
  const uint64_t count = waited.count();
  // Longer arrays are encoded: the entries found are kept on the stack.
  if (count != memo.name_count || count > WaitedRequests::kMost) return false;
  HandleTable &handles = *thread.process->names.handles;
  if (!handles.all_fresh()) return complete_entered(thread, frame, memo);
  const bool in_order = mpi::handle_size == sizeof(int32_t) ? complete_in_order<int32_t>(waited, handles, memo)
                                                            : complete_in_order<uint64_t>(waited, handles, memo);
  return in_order || complete_fresh(waited, handles, frame, memo);
}

}  // namespace cairn::recorder
