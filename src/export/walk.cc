#include "export/walk.h"

#include <algorithm>
#include <utility>

#include "analyze/outcome.h"

namespace cairn::exporting {
namespace {

constexpr uint64_t kLogicalNs = 1000;  ///< from one call to the next, where there are no times
constexpr uint64_t kTellEvery = 1 << 16;

bool has_failed(const trace::Row &row) {
  const analyze::Outcome::Kind kind = analyze::outcome_of(row).kind;
  return kind == analyze::Outcome::Kind::failed || kind == analyze::Outcome::Kind::pending;
}

}  // namespace

Walk::Walk(Scope *scope, uint32_t rank, LeftOut *left_out)
    : scope_(*scope), events_(*scope->trace, rank), ends_(*scope, rank, left_out), left_out_(*left_out) {
  if (scope->received) sizes_.emplace(*scope->received, rank);
  if (!scope->wanted.window || scope->trace->has_threads(rank)) return;
  loops_.emplace(*scope->trace, rank, scope->repeats.get());
  cuts_ = loops_->cuts_before(events_.index_near(scope->wanted.window->begin_ns));
  std::reverse(cuts_.begin(), cuts_.end());
}

/// The next call.
void Walk::read() {
  if (!cuts_.empty() && cuts_.back().from == next_call_) {
    events_.seek(cuts_.back().to);
    cuts_.pop_back();
  }
  event_ = events_.next();
  if (event_ == nullptr) return;
  next_call_ = event_->index + 1;
  const bool whole = event_->values->depth == 0;  // else one that began earlier comes behind it
  if (!loops_ || !whole || !event_->timed) return;
  if (std::min(event_->begin_ns, events_.next_segment_ns()) <= scope_.wanted.window->end_ns) return;
  if (see_) {
    cuts_ = loops_->cuts_behind(next_call_);
    std::reverse(cuts_.begin(), cuts_.end());
  } else {
    event_ = nullptr;  // nobody wants what comes
  }
  loops_.reset();
}

bool Walk::is_wanted(const trace::Event &event) const {
  const Wanted &wanted = scope_.wanted;
  if (!wanted.has_function(event.values->function)) return false;
  if (!wanted.window) return true;
  return event.timed && wanted.window->overlaps(event.begin_ns, event.end_ns);
}

void Walk::take(const trace::Event &event) {
  const trace::Row &row = *event.values;
  call_.rank = event.rank;
  call_.thread = event.thread;
  call_.index = event.index;
  call_.function = row.function;
  call_.depth = row.depth;
  call_.place = scope_.place(event.class_index, row.function, row.site);
  call_.timed = event.timed || scope_.logical;
  call_.failed = has_failed(row);
  call_.begin_ns = event.timed ? event.begin_ns : 0;
  call_.end_ns = event.timed ? std::max(event.begin_ns, event.end_ns) : 0;
  if (scope_.logical) {
    // Those inside of a call come before it.
    call_.end_ns = (event.index + 1) * kLogicalNs;
    call_.begin_ns = call_.end_ns - kLogicalNs / 2;
  }
}

void Walk::settle_sizes(const std::vector<std::optional<uint64_t>> &told) {
  const auto receives = [](const MessageEnd &end) {
    return end.kind == MessageEnd::Kind::receive || end.kind == MessageEnd::Kind::receive_done;
  };
  const auto count = static_cast<size_t>(std::count_if(call_.ends.begin(), call_.ends.end(), receives));
  size_t next = 0;
  for (MessageEnd &end : call_.ends) {
    if (!receives(end)) continue;
    const std::optional<uint64_t> bytes = told.size() == count ? told[next++] : std::nullopt;
    if (!end.is_room) continue;
    if (bytes) {
      end.bytes = *bytes;
      end.known = true;
    } else {
      ++left_out_.room;
    }
  }
}

Call *Walk::next() { return next_until(UINT64_MAX); }

Call *Walk::next_until(uint64_t index) {
  if (!begun_) read();
  begun_ = true;
  while (event_ != nullptr && event_->index <= index) {
    if (++unsaid_ == kTellEvery) {
      if (scope_.progress) scope_.progress(unsaid_);
      unsaid_ = 0;
    }
    if (see_) see_(*event_);
    const std::vector<MessageEnd> &ends = ends_.of(*event_);
    const bool wanted = is_wanted(*event_);
    if (wanted) {
      take(*event_);
      call_.ends = ends;
      static const std::vector<std::optional<uint64_t>> nothing;
      settle_sizes(sizes_ ? sizes_->of(event_->index) : nothing);
    }
    read();
    if (wanted) return &call_;
  }
  return nullptr;
}

void Nesting::add(Call &&call) {
  Thread &thread = threads_[call.thread];
  const bool whole = call.depth == 0;
  thread.held.push_back(std::move(call));
  if (whole) tell(&thread);
}

bool Nesting::holds() const {
  return std::any_of(threads_.begin(), threads_.end(), [](const auto &each) { return !each.second.held.empty(); });
}

void Nesting::finish() {
  for (auto &[number, thread] : threads_) tell(&thread);
}

void Nesting::tell(Thread *thread) {
  tell_range(thread, 0, thread->held.size());
  thread->held.clear();
}

/// Each call stands behind those within it, which are deeper.
void Nesting::tell_range(Thread *thread, size_t first, size_t last) {
  std::vector<Call> &held = thread->held;
  std::vector<size_t> outermost;
  std::vector<size_t> begins;  ///< where what is within each of them begins
  for (size_t end = last; end > first;) {
    const size_t call = end - 1;
    size_t within = call;
    while (within > first && held[within - 1].depth > held[call].depth) --within;
    outermost.push_back(call);
    begins.push_back(within);
    end = within;
  }
  for (size_t i = outermost.size(); i-- > 0;) {
    Call &call = held[outermost[i]];
    if (begins[i] < outermost[i]) call.begin_ns = std::min(call.begin_ns, held[begins[i]].begin_ns);
    begin(thread, &call);
    tell_range(thread, begins[i], outermost[i]);
    end(thread, &call);
  }
}

void Nesting::begin(Thread *thread, Call *call) {
  call->begin_ns = std::max(call->begin_ns, thread->at_ns);
  thread->at_ns = call->begin_ns;
  begin_(*call);
}

void Nesting::end(Thread *thread, Call *call) {
  call->end_ns = std::max(call->end_ns, thread->at_ns);
  thread->at_ns = call->end_ns;
  end_(*call);
}

uint64_t count_calls(const Scope &scope) {
  uint64_t calls = 0;
  for (const uint32_t rank : scope.wanted.ranks) calls += scope.trace->call_count(rank);
  return calls;
}

}  // namespace cairn::exporting
