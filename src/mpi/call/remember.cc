// What a memo remembers of the call that was last encoded to its signature, and the parts of recognising the next one
// that few calls need.
#include <cstring>

#include "mpi/call/call_names.h"
#include "mpi/call/encoder.h"
#include "mpi/call/engine.h"
#include "mpi/call/status_code.h"

namespace cairn::recorder {
namespace {

using spec::Kind;

/// What the status of such a call, or of its request, carries.
PostedKind carried(const FunctionFacts &facts) {
  if (facts.receives) return PostedKind::envelope;
  return facts.transfers_file ? PostedKind::bytes : PostedKind::nothing;
}

bool is_name(const HandleEntry &entry, const RequestName &name) {
  return entry.pool == name.pool && entry.place == name.place && entry.constant < 0;
}

}  // namespace

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
  HandleTable &handles = *thread.process->handles;
  if (memo.pool->peek() != memo.place) return false;
  handles.settle();
  HandleEntry *entry = handles.shared() ? nullptr : handles.add_only(Kind::request, raw);
  if (entry == nullptr) entry = handles.add(Kind::request, raw);
  if (entry == nullptr) return false;
  memo.pool->mark(memo.place, handles.shared());
  entry->site = memo.site;
  entry->thread = thread.number;
  entry->place = memo.place;
  entry->pool = memo.pool;
  entry->persistent = memo.persistent;
  entry->posted = memo.posted;
  return true;
}

bool complete_among_equals(Thread &thread, Frame &frame, const Memo &memo) {
  const WaitedRequests waited(thread, frame, memo.parameter);
  const uint64_t count = waited.count();
  HandleEntry *entries[WaitedRequests::kMost];
  HandleTable &handles = *thread.process->handles;
  const auto *statuses = memo.checks_status ? reinterpret_cast<const uint8_t *>(frame.argument[memo.status]) : nullptr;
  const uint64_t mark = thread.new_mark();
  for (uint64_t k = 0; k < count; ++k) {
    // The same value twice in one array (MPICH's shared requests): the second one is another object.
    HandleEntry *entry = handles.find(Kind::request, waited.before(k), thread.number, mark);
    if (entry == nullptr) return false;
    entries[k] = entry;
    if (entry->constant < 0) {
      if (entry->mark == mark) return false;
      entry->mark = mark;
    }
    const RequestName &name = memo.names[k];
    if (name.pool == nullptr ? entry->constant < 0 : !is_name(*entry, name)) return false;
    if (entry->pending != nullptr) return false;
    if (statuses != nullptr) {
      const auto *at = statuses + k * mpi::status_size;
      const Posted empty = {PostedKind::empty, 0, 0, 0};
      if (!status_implied(mpi::read_status(at), entry->constant < 0 ? entry->posted : empty, false)) return false;
    }
  }
  for (uint64_t k = 0; k < count; ++k) {
    if (entries[k]->constant >= 0) continue;
    if (waited.before(k) != waited.after(k)) handles.remove(entries[k]);
  }
  return true;
}

void note_names(Thread &thread, const Frame &frame) {
  thread.names.clear();
  const FunctionFacts &facts = function_facts[frame.function];
  if (facts.memo != MemoKind::wait || (frame.flags & kFrameSaved) == 0) return;
  const WaitedRequests waited(thread, frame, static_cast<unsigned>(facts.requests));
  const uint64_t count = waited.count();
  if (count > WaitedRequests::kMost) return;
  const uint64_t mark = thread.new_mark();
  for (uint64_t k = 0; k < count; ++k) {
    HandleEntry *entry = thread.process->handles->find(Kind::request, waited.before(k), thread.number, mark);
    RequestName name = {nullptr, 0};
    if (entry != nullptr && entry->constant < 0) {
      entry->mark = mark;
      if (entry->pool == nullptr) return thread.names.clear();
      name = {entry->pool, entry->place};
    }
    if (!thread.names.push(*thread.process->arena, name)) return thread.names.clear();
  }
}

namespace {

/// Whether status parameter `i` stands for no status (MPI_STATUS_IGNORE).
bool is_ignored(const Frame &frame, int i) {
  return constant_of(spec::functions()[frame.function].parameters[i].pointer_domain, frame.argument[i]) >= 0;
}

/// Whether statuses have to be looked at when the call comes again; false if they were not what was implied, or not
/// there.
bool remember_status(const Frame &frame, Memo &memo, const FunctionFacts &facts, bool implied) {
  memo.checks_status = facts.status >= 0 && !is_ignored(frame, facts.status);
  return !memo.checks_status || (implied && frame.argument[facts.status] != 0);
}

bool remember_request(Thread &thread, const Frame &frame, Memo &memo, const FunctionFacts &facts,
                      const Outcome &outcome) {
  memo.posted = outcome.posted;
  memo.posted.kind = carried(facts);
  if (facts.memo == MemoKind::status) {
    memo.parameter = static_cast<uint8_t>(facts.status);
    return remember_status(frame, memo, facts, outcome.implied_status);
  }
  memo.pool = CallNames(thread).pool(frame.site);
  if (outcome.created == nullptr || memo.pool == nullptr || outcome.created->pool != memo.pool) return false;
  memo.place = outcome.created->place;
  memo.persistent = spec::functions()[frame.function].persistent;
  memo.parameter = static_cast<uint8_t>(facts.request);
  return true;
}

bool remember_wait(Thread &thread, const Frame &frame, Memo &memo, const FunctionFacts &facts, const Outcome &outcome) {
  const size_t n = thread.names.size();
  if ((frame.flags & kFrameSaved) == 0) return false;
  if (n != WaitedRequests(thread, frame, static_cast<unsigned>(facts.requests)).count()) return false;
  if (n > memo.name_capacity) {
    Arena &arena = *thread.process->arena;
    arena.release_array(memo.names, memo.name_capacity);
    memo.names = arena.allocate_array<RequestName>(n);
    memo.name_capacity = memo.names == nullptr ? 0 : static_cast<uint32_t>(n);
    memo.has_names = memo.names != nullptr;
    if (memo.names == nullptr) return false;
  }
  memo.name_count = static_cast<uint32_t>(n);
  if (n != 0) memcpy(memo.names, thread.names.data(), n * sizeof(RequestName));
  memo.parameter = static_cast<uint8_t>(facts.requests);
  memo.count_parameter = facts.request_count;
  memo.status = static_cast<uint8_t>(facts.status);
  if (!outcome.implied_status) return false;
  return remember_status(frame, memo, facts, true);
}

bool remember_outputs(const Frame &frame, Memo &memo, const FunctionFacts &facts) {
  const spec::Function &function = spec::functions()[frame.function];
  memo.outputs = facts.outputs;
  for (uint32_t left = facts.outputs; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(__builtin_ctz(left));
    if (frame.argument[i] == 0) return false;
    memo.argument[i] = element_word(function.parameters[i], reinterpret_cast<const void *>(frame.argument[i]), 0);
    // MPI_Test whose flag is false: there is no status.
    if (facts.waits && memo.argument[i] == 0) memo.checks_status = false;
  }
  return true;
}

}  // namespace

void remember(Thread &thread, const Frame &frame, Signature &signature, const Outcome &outcome) {
  const FunctionFacts &facts = function_facts[frame.function];
  if (facts.memo == MemoKind::none) return;
  if (signature.memo == nullptr) signature.memo = thread.process->arena->create<Memo>();
  if (signature.memo == nullptr) return;
  Memo &memo = *signature.memo;
  memo.signature = &signature;
  memo.kind = MemoKind::none;
  memo.return_address = 0;
  const bool returns_code = spec::functions()[frame.function].returns == spec::ReturnKind::error_code;
  if (frame.depth != 0 || !outcome.lasting_addresses) return;
  if (is_landmark(frame.function)) return;
  if (returns_code && frame.result != static_cast<uint64_t>(int64_t{mpi::success})) return;
  const Process &of = *thread.process;
  memo.checks_status = false;
  switch (facts.memo) {
    case MemoKind::request:
    case MemoKind::status:
      if (!remember_request(thread, frame, memo, facts, outcome)) return;
      break;
    case MemoKind::wait:
      if (!remember_wait(thread, frame, memo, facts, outcome)) return;
      break;
    default:
      break;
  }
  memo.site = frame.site;
  memo.thread = thread.number;
  memo.function = static_cast<uint16_t>(frame.function);
  memo.any_result = !returns_code;
  memcpy(memo.argument, frame.argument, sizeof memo.argument);
  if (!remember_outputs(frame, memo, facts)) return;
  const uint64_t *mask = compared_arguments[frame.function].mask;
  memo.many_arguments = false;
  for (unsigned i = spec::kMaxParameters / 2; i < spec::kMaxParameters; ++i) {
    if (mask[i] != 0) memo.many_arguments = true;
  }
  memo.epoch = of.handles->epoch() + *of.preload_epoch;
  memo.kind = facts.memo;
  if (of.clock.counts()) memo.return_address = frame.return_address;
}

}  // namespace cairn::recorder
