#include "mpi/call/remember.h"

#include <cstring>

#include "mpi/call/call_names.h"
#include "mpi/call/environment.h"
#include "mpi/call/facts.h"
#include "mpi/call/landmarks.h"
#include "mpi/call/recognise.h"

namespace cairn::recorder {

using spec::Kind;

namespace {

/// Of a call that only asks: whether it found something.
bool has_answer(const Frame &frame) {
  const spec::Function &function = spec::functions()[frame.function];
  const unsigned answer = function.answer - 1U;
  if (frame.argument[answer] == 0) return true;
  return element_word(function.parameters[answer], reinterpret_cast<const void *>(frame.argument[answer]), 0) != 0;
}

}  // namespace

void note_names(Thread &thread, const Frame &frame) {
  thread.names.clear();
  const FunctionFacts &facts = function_facts[frame.function];
  if ((facts.memo != MemoKind::wait && facts.memo != MemoKind::poll) || (frame.flags & kFrameSaved) == 0) return;
  if (facts.memo == MemoKind::poll && has_answer(frame)) return;  // no memo is made of it
  const WaitedRequests waited(thread, frame, static_cast<unsigned>(facts.requests));
  const uint64_t count = waited.count();
  if (count > WaitedRequests::kMost) return;
  const uint64_t mark = thread.new_mark();
  for (uint64_t k = 0; k < count; ++k) {
    HandleEntry *entry = thread.process->names.handles->find(Kind::request, waited.before(k), thread.number, mark);
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

/// What the status of such a call, or of its request, carries.
PostedKind carried(const FunctionFacts &facts) {
  if (facts.receives) return PostedKind::envelope;
  return facts.transfers_file ? PostedKind::bytes : PostedKind::nothing;
}

/// Whether status parameter `i` stands for no status (MPI_STATUS_IGNORE).
bool is_ignored(const Frame &frame, int i) {
  return constant_of(spec::functions()[frame.function].parameters[i].pointer_domain, frame.argument[i]) >= 0;
}

/// Whether there is one: not if the call's flag says that nothing was found or completed, which a memo compares.
bool has_status(const Frame &frame, int i) {
  const spec::Parameter &status = spec::functions()[frame.function].parameters[i];
  Environment environment(frame, true);
  return !status.valid || spec::evaluate(status.valid, environment) != 0;
}

/// Whether statuses have to be looked at when the call comes again; false if they were not what was implied, or not
/// there.
bool remember_status(const Frame &frame, Memo &memo, const FunctionFacts &facts, bool implied) {
  memo.checks_status = facts.status >= 0 && !is_ignored(frame, facts.status) && has_status(frame, facts.status);
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
    case MemoKind::poll:
      if (!outcome.array_as_left || has_answer(frame)) return;
      if (!remember_wait(thread, frame, memo, facts, outcome)) return;
      memo.checks_status = false;  // none is there
      break;
    default:
      break;
  }
  memo.site = frame.site;
  if (facts.memo == MemoKind::poll) {
    memo.drained = thread.sequence.drained.generation();
  } else {
    memo.thread = thread.number;
  }
  memo.function = static_cast<uint16_t>(frame.function);
  memo.placing = facts.placing ? 1 : 0;
  memo.any_result = !returns_code;
  memcpy(memo.argument, frame.argument, sizeof memo.argument);
  if (!remember_outputs(frame, memo, facts)) return;
  const uint64_t *mask = compared_arguments[frame.function].mask;
  memo.many_arguments = false;
  for (unsigned i = spec::kMaxParameters / 2; i < spec::kMaxParameters; ++i) {
    if (mask[i] != 0) memo.many_arguments = true;
  }
  memo.epoch = of.names.handles->epoch() + *of.names.preload_epoch;
  memo.kind = facts.memo;
  // What a poll may overwrite is kept by `save_before`, which knows how much that is.
  if (of.clock.counts() && facts.memo != MemoKind::poll) memo.return_address = frame.return_address;
}

}  // namespace cairn::recorder
