#include "analyze/rank_messages.h"

#include <algorithm>
#include <utility>

#include "analyze/groups.h"
#include "analyze/outcome.h"
#include "analyze/summary.h"
#include "trace/read/corrections.h"

namespace cairn::analyze {
namespace {

/// Beyond them stand no times of a run.
bool is_time(uint64_t ns) { return ns <= trace::Knots::kMost; }

bool is_pending(const trace::Row &row) { return outcome_of(row).kind == Outcome::Kind::pending; }

/// A call that has to do with no other rank is told of, too, if it took so long, or if the rank was in no call for so
/// long before it: that time then goes by its name.
constexpr uint64_t kLongNs = 100'000;

/// Of what is used up, to be used again.
constexpr size_t kMostSpareSteps = 64;

}  // namespace

RankMessages::RankMessages(const MessageScope &scope, uint32_t rank, Channels *channels, Gatherings *gatherings,
                           MessageCounts *counts, Arrivals *arrivals, const std::vector<Cut> &cuts, bool times)
    : scope_(scope),
      rank_(rank),
      events_(*scope.trace, rank, times && arrivals->wants_times()),
      cuts_(cuts.rbegin(), cuts.rend()),
      posts_(channels, rank),
      counts_(*counts),
      arrivals_(arrivals),
      communicators_(scope, rank),
      requests_(scope, rank, &communicators_, &posts_, gatherings, counts, arrivals),
      sizes_(scope.trace->job_of(rank).size) {
  several_threads_ = scope.trace->has_threads(rank);
  cut_short_ = !scope.trace->rank_info(rank).complete;
  if (const FollowWindows follow = arrivals->follow_windows()) windows_ = follow(scope, rank, &posts_, gatherings);
}

MessageStep *RankMessages::step() {
  while (!ended_ && (steps_.empty() || !settled())) read();
  return steps_.empty() ? nullptr : steps_.front().get();
}

MessageStep *RankMessages::behind(size_t count) {
  while (several_threads_ && !ended_ && steps_.size() <= count) read();
  return several_threads_ && count < steps_.size() ? steps_[count].get() : nullptr;
}

void RankMessages::next() {
  forget_first();
  settled_ = 0;
}

void RankMessages::forget_first() {
  if (spare_steps_.size() < kMostSpareSteps) spare_steps_.push_back(std::move(steps_.front()));
  steps_.pop_front();
}

uint64_t RankMessages::none_before() const {
  if (within_) return 0;
  uint64_t least = ended_ ? UINT64_MAX : events_.next_segment_ns();
  for (const StepPointer &step : steps_) least = std::min(least, step->call.begin_ns);
  return least;
}

bool RankMessages::settled() {
  const auto &arriving = steps_.front()->arriving;
  while (settled_ < arriving.size() && arriving[settled_].receive->settled()) ++settled_;
  return settled_ == arriving.size();
}

bool RankMessages::read() {
  if (!cuts_.empty() && cuts_.back().from == next_call_) {
    events_.seek(cuts_.back().to);
    cuts_.pop_back();
  }
  const trace::Event *event = events_.next();
  if (event == nullptr) {
    ended_ = true;
    posts_.finish();
    return false;
  }
  next_call_ = event->index + 1;
  ++counts_.read;
  within_ = event->values->depth != 0;
  const RowScope &scope = scope_.scopes[event->class_index];
  communicators_.see(*event->values, scope);
  bool changed = Sizes::is_creator(event->values->function) && sizes_.see(*event->values, scope);
  changed = arrivals_->called(*event, scope) || changed;
  if (changed) known_.clear();
  if (spare_steps_.empty()) spare_steps_.push_back(std::make_unique<MessageStep>());
  MessageStep &step = *spare_steps_.back();
  step.clear();
  step.timed = event->timed && event->begin_ns <= event->end_ns && is_time(event->end_ns);
  bool is_long = false;
  if (step.timed) {
    const uint64_t last = last_end_ns_.value_or(event->begin_ns);
    const uint64_t outside = event->begin_ns - std::min(event->begin_ns, last);
    outside_ns_ += outside;
    last_end_ns_ = std::max(last, event->end_ns);
    // Not before MPI_Init, nor in a call that made this one: what was before it then is no time outside MPI.
    is_long = any_ && !within_ && (outside >= kLongNs || event->end_ns - event->begin_ns >= kLongNs);
  }
  const uint32_t function = event->values->function;
  if (windows_ != nullptr && Groups::makes_or_frees(function)) {
    windows_->see_group(*event->values, scope,
                        communicators_.number_of(RowAccess(*event->values, scope).handle("comm")));
  }
  const KnownCall &known = look_at(*event);
  const MessageCall *call = known.message.get();
  const bool landmark = step.timed && (is_long || is_apart(function) || (cut_short_ && is_pending(*event->values)));
  if (call == nullptr && known.window == nullptr && !landmark) return true;
  step.call = {rank_,
               event->index,
               event->begin_ns,
               event->end_ns,
               event->class_index,
               function,
               static_cast<uint32_t>(event->values->site)};
  if (call != nullptr) requests_.act(*call, &step);
  if (known.window != nullptr) {
    windows_->act(*known.window, communicators_.number_of(known.window->communicator), &step);
  }
  if (!landmark && step.sends.empty() && step.arriving.empty() && step.enters.empty() && step.leaves.empty() &&
      step.completes.empty() && !step.lock) {
    return true;
  }
  any_ = true;
  step.outside_ns = std::exchange(outside_ns_, 0);
  steps_.push_back(std::move(spare_steps_.back()));
  spare_steps_.pop_back();
  return true;
}

const RankMessages::KnownCall &RankMessages::look_at(const trace::Event &event) {
  Known &known = known_[event.thread];
  if (known.class_index != event.class_index || known.segment != event.segment) {
    known = {};
    known.class_index = event.class_index;
    known.segment = event.segment;
  }
  if (const auto found = known.calls.find(event.call); found != known.calls.end()) return found->second;
  if (known.calls.size() >= scope_.most_known) known.calls.clear();
  const RowScope &scope = scope_.scopes[event.class_index];
  auto call = message_call(*event.values, scope);
  const uint32_t function = event.values->function;
  const bool meets = arrivals_->wants_all_meetings() || is_among_neighbors(function) ||
                     (arrivals_->wants_customary() && meets_by_custom(function));
  if (call == nullptr && meets) call = meeting_call(*event.values, scope);
  KnownCall made;
  if (windows_ != nullptr) made.window = windows_->read(*event.values, scope);
  if (call != nullptr) call->content = arrivals_->content(event, scope);
  if (call != nullptr && call->send) {
    const RowAccess access(*event.values, scope);
    const bool apart = access.has("sendtype");  // MPI_Sendrecv
    call->sent_bytes = sizes_.bytes(access, apart ? "sendcount" : "count", apart ? "sendtype" : "datatype");
  }
  made.message = std::move(call);
  return known.calls.emplace(event.call, std::move(made)).first->second;
}

}  // namespace cairn::analyze
