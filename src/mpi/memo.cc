// The memo: recognising a call by its raw arguments, without encoding it.
#include <cstring>

#include "mpi/encoder.h"
#include "mpi/engine.h"
#include "mpi/names.h"
#include "mpi/status_code.h"

namespace cairn::recorder {
namespace {

using spec::Kind;

/// Both counters only grow: their sum is the same only if nothing that raw values stand for has ended.
uint32_t epoch_now(const Process &process) { return process.handles->epoch() + *process.preload->epoch; }

bool outputs_match(const Frame &frame, const Signature &signature, const FunctionFacts &facts) {
  const spec::Function &function = spec::functions()[frame.function];
  for (uint32_t left = facts.outputs; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(__builtin_ctz(left));
    const uint64_t at = frame.argument[i];
    if (at == 0) return false;
    if (element_word(function.parameters[i], reinterpret_cast<const void *>(at), 0) != signature.argument[i])
      return false;
  }
  return true;
}

struct Waiting {
  const uint8_t *before;  ///< the requests as they were
  const void *after;
  uint64_t count;
};

/// The only thing that `save_before` keeps of a waiting call is its requests.
Waiting waiting(const Thread &thread, const Frame &frame, const FunctionFacts &facts) {
  Waiting result{};
  const uint8_t *at = thread.before.data() + frame.scratch;
  memcpy(&result.count, at, 8);
  result.before = at + 8;
  result.after = reinterpret_cast<const void *>(frame.argument[facts.requests]);
  return result;
}

/// What the status of such a call, or of its request, carries.
PostedKind carried(const FunctionFacts &facts) {
  if (facts.receives) return PostedKind::envelope;
  return facts.transfers_file ? PostedKind::bytes : PostedKind::nothing;
}

bool is_name(const HandleEntry &entry, const RequestName &name) {
  return entry.site == name.site && entry.thread == name.thread && entry.place == name.place && entry.constant < 0;
}

bool apply_wait(Thread &thread, Frame &frame, Signature &signature, const FunctionFacts &facts) {
  if ((frame.flags & kFrameSaved) == 0) return false;
  const Waiting wait = waiting(thread, frame, facts);
  if (wait.count != signature.name_count) return false;
  constexpr uint64_t kMost = 64;  // longer arrays are encoded: the entries found are kept on the stack
  if (wait.count > kMost) return false;
  HandleEntry *entries[kMost];
  HandleTable &handles = *thread.process->handles;
  const spec::Parameter &p = spec::functions()[frame.function].parameters[facts.requests];
  const uint64_t statuses = facts.status >= 0 ? frame.argument[facts.status] : 0;
  const spec::Parameter *status =
      facts.status >= 0 ? &spec::functions()[frame.function].parameters[facts.status] : nullptr;
  const bool reads_statuses =
      status != nullptr && signature.implied_status && constant_of(status->pointer_domain, statuses) < 0;
  const uint64_t mark = thread.new_mark();
  for (uint64_t k = 0; k < wait.count; ++k) {
    // The same value twice in one array (MPICH's shared requests): the second one is another object.
    HandleEntry *entry = handles.find(Kind::request, element_word(p, wait.before, k), thread.number, mark);
    if (entry == nullptr) return false;
    entries[k] = entry;
    if (entry->constant < 0) {
      if (entry->mark == mark) return false;
      entry->mark = mark;
    }
    const RequestName &name = signature.names[k];
    if (name.site == nullptr ? entry->constant < 0 : !is_name(*entry, name)) return false;
    if (entry->pending != nullptr) return false;
    if (reads_statuses) {
      const auto *at = reinterpret_cast<const uint8_t *>(statuses) + k * mpi::status_size;
      const Posted empty = {PostedKind::empty, 0, 0, 0};
      if (!status_implied(mpi::read_status(at), entry->constant < 0 ? entry->posted : empty, false)) return false;
    }
  }
  for (uint64_t k = 0; k < wait.count; ++k) {
    if (entries[k]->constant >= 0) continue;
    if (element_word(p, wait.before, k) != element_word(p, wait.after, k)) handles.remove(entries[k]);
  }
  return true;
}

bool apply_request(Thread &thread, Frame &frame, Signature &signature, const FunctionFacts &facts) {
  PlacePool *pool = Names(thread).pool(frame.site);
  if (pool == nullptr || pool->peek() != signature.place) return false;
  HandleTable &handles = *thread.process->handles;
  const uint64_t raw = mpi::read_handle(reinterpret_cast<const void *>(frame.argument[facts.request]));
  HandleEntry *entry = handles.add(Kind::request, raw);
  if (entry == nullptr) return false;
  entry->site = frame.site;
  entry->thread = thread.number;
  entry->place = pool->take(*thread.process->arena, handles.shared());
  entry->pool = pool;
  entry->persistent = spec::functions()[frame.function].persistent;
  entry->posted = {carried(facts), signature.posted_source, signature.posted_tag, signature.posted_bytes};
  return true;
}

bool apply_status(const Frame &frame, const Signature &signature, const FunctionFacts &facts) {
  const uint64_t at = frame.argument[facts.status];
  const spec::Parameter &p = spec::functions()[frame.function].parameters[facts.status];
  if (constant_of(p.pointer_domain, at) >= 0) return true;
  if (!signature.implied_status || at == 0) return false;
  const Posted posted = {carried(facts), signature.posted_source, signature.posted_tag, signature.posted_bytes};
  return status_implied(mpi::read_status(reinterpret_cast<const void *>(at)), posted, false);
}

}  // namespace

bool apply_memo(Thread &thread, Frame &frame, Signature &signature) {
  if (signature.memo == MemoKind::none || signature.function != frame.function || signature.site != frame.site ||
      signature.result != frame.result || frame.depth != 0 || signature.epoch != epoch_now(*thread.process)) {
    return false;
  }
  for (uint32_t left = signature.compared; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(__builtin_ctz(left));
    if (frame.argument[i] != signature.argument[i]) return false;
  }
  const FunctionFacts &facts = function_facts[frame.function];
  if (facts.outputs != 0 && !outputs_match(frame, signature, facts)) return false;
  switch (signature.memo) {
    case MemoKind::plain:
      return true;
    case MemoKind::request:
      return apply_request(thread, frame, signature, facts);
    case MemoKind::status:
      return apply_status(frame, signature, facts);
    case MemoKind::wait:
      return apply_wait(thread, frame, signature, facts);
    case MemoKind::none:
      break;
  }
  return false;
}

void note_names(Thread &thread, const Frame &frame) {
  thread.names.clear();
  const FunctionFacts &facts = function_facts[frame.function];
  if (facts.memo != MemoKind::wait || (frame.flags & kFrameSaved) == 0) return;
  const Waiting wait = waiting(thread, frame, facts);
  const spec::Parameter &p = spec::functions()[frame.function].parameters[facts.requests];
  const uint64_t mark = thread.new_mark();
  for (uint64_t k = 0; k < wait.count; ++k) {
    HandleEntry *entry =
        thread.process->handles->find(Kind::request, element_word(p, wait.before, k), thread.number, mark);
    RequestName name = {nullptr, 0, 0};
    if (entry != nullptr && entry->constant < 0) {
      entry->mark = mark;
      if (entry->site == nullptr) return thread.names.clear();
      name = {entry->site, entry->thread, entry->place};
    }
    if (!thread.names.push(*thread.process->arena, name)) return thread.names.clear();
  }
}

void remember(Thread &thread, const Frame &frame, Signature &signature, const Outcome &outcome) {
  const FunctionFacts &facts = function_facts[frame.function];
  signature.memo = MemoKind::none;
  const bool returns_code = spec::functions()[frame.function].returns == spec::ReturnKind::error_code;
  if (facts.memo == MemoKind::none || frame.depth != 0 || !outcome.lasting_addresses) return;
  if (returns_code && frame.result != static_cast<uint64_t>(int64_t{mpi::success})) return;
  Process &of = *thread.process;
  if (facts.memo == MemoKind::request) {
    if (outcome.created == nullptr) return;
    signature.place = outcome.created->place;
  }
  if (facts.memo == MemoKind::wait) {
    const size_t n = thread.names.size();
    if (n != waiting(thread, frame, facts).count) return;
    if (n > signature.name_capacity) {
      of.arena->release_array(signature.names, signature.name_capacity);
      signature.names = of.arena->allocate_array<RequestName>(n);
      signature.name_capacity = signature.names == nullptr ? 0 : static_cast<uint32_t>(n);
      if (signature.names == nullptr) return;
    }
    signature.name_count = static_cast<uint32_t>(n);
    if (n != 0) memcpy(signature.names, thread.names.data(), n * sizeof(RequestName));
    if (!outcome.implied_status) return;
  }
  signature.site = frame.site;
  signature.function = frame.function;
  signature.result = frame.result;
  signature.compared = facts.compared;
  signature.implied_status = outcome.implied_status;
  signature.posted_source = outcome.posted.source;
  signature.posted_tag = outcome.posted.tag;
  signature.posted_bytes = outcome.posted.bytes;
  memcpy(signature.argument, frame.argument, sizeof signature.argument);
  const spec::Function &function = spec::functions()[frame.function];
  for (uint32_t left = facts.outputs; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(__builtin_ctz(left));
    if (frame.argument[i] == 0) return;
    signature.argument[i] = element_word(function.parameters[i], reinterpret_cast<const void *>(frame.argument[i]), 0);
  }
  signature.epoch = epoch_now(of);
  signature.memo = facts.memo;
}

}  // namespace cairn::recorder
