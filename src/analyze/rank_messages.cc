#include "analyze/rank_messages.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "analyze/groups.h"
#include "analyze/outcome.h"
#include "analyze/summary.h"
#include "base/hash.h"
#include "spec/ids.h"
#include "trace/read/corrections.h"

namespace cairn::analyze {
namespace {

/// Beyond them stand no times of a run.
bool is_time(uint64_t ns) { return ns <= trace::Knots::kMost; }

bool is_pending(const trace::Row &row) { return outcome_of(row).kind == Outcome::Kind::pending; }

/// Of what is used up, to be used again.
constexpr size_t kMostSpare = 64;

}  // namespace

void MessageStep::clear() {
  call = {};
  timed = false;
  outside_ns = 0;
  sends.clear();
  completes.clear();
  arriving.clear();
  enters.clear();
  leaves.clear();
  lock.reset();
  begun = false;
  arrived = 0;
  left = 0;
}

size_t RankMessages::NameHash::operator()(const HandleName &name) const {
  const uint64_t words[] = {static_cast<uint64_t>(name.special), static_cast<uint64_t>(name.number), name.site.offset,
                            uint64_t{name.thread} << 32 | name.site.module, name.site.caller};
  return static_cast<size_t>(hash64({reinterpret_cast<const uint8_t *>(words), sizeof words}));
}

RankMessages::RankMessages(const MessageScope &scope, uint32_t rank, Channels *channels, Gatherings *gatherings,
                           MessageCounts *counts, Arrivals *arrivals, const std::vector<Cut> &cuts, bool times)
    : scope_(scope),
      rank_(rank),
      events_(*scope.trace, rank, times && arrivals->wants_times()),
      cuts_(cuts.rbegin(), cuts.rend()),
      posts_(channels, rank),
      gatherings_(gatherings),
      counts_(*counts),
      arrivals_(arrivals),
      cancelled_(*scope.trace, rank),
      names_(*scope.trace, rank),
      topologies_(&scope.communicators.graphs()),
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
  if (spare_steps_.size() < kMostSpare) spare_steps_.push_back(std::move(steps_.front()));
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
  see_topology(*event->values, scope, names_.see(*event->values));
  bool changed = Sizes::is_creator(event->values->function) && sizes_.see(*event->values, scope);
  changed = arrivals_->called(*event, scope) || changed;
  if (changed) known_.clear();
  if (spare_steps_.empty()) spare_steps_.push_back(std::make_unique<MessageStep>());
  MessageStep &step = *spare_steps_.back();
  step.clear();
  step.timed = event->timed && event->begin_ns <= event->end_ns && is_time(event->end_ns);
  if (step.timed) {
    const uint64_t last = last_end_ns_.value_or(event->begin_ns);
    outside_ns_ += event->begin_ns - std::min(event->begin_ns, last);
    last_end_ns_ = std::max(last, event->end_ns);
  }
  const uint32_t function = event->values->function;
  if (windows_ != nullptr && Groups::makes_or_frees(function)) {
    windows_->see_group(*event->values, scope, number_of(RowAccess(*event->values, scope).handle("comm")));
  }
  const KnownCall &known = look_at(*event);
  const MessageCall *call = known.message.get();
  const bool landmark = step.timed && (is_apart(function) || (cut_short_ && is_pending(*event->values)));
  if (call == nullptr && known.window == nullptr && !landmark) return true;
  step.call = {rank_,
               event->index,
               event->begin_ns,
               event->end_ns,
               event->class_index,
               function,
               static_cast<uint32_t>(event->values->site)};
  if (call != nullptr) act(*call, &step);
  if (known.window != nullptr) {
    windows_->act(*known.window, number_of(known.window->communicator), &step);
  }
  if (!landmark && step.sends.empty() && step.arriving.empty() && step.enters.empty() && step.leaves.empty() &&
      step.completes.empty() && !step.lock) {
    return true;
  }
  step.outside_ns = std::exchange(outside_ns_, 0);
  steps_.push_back(std::move(spare_steps_.back()));
  spare_steps_.pop_back();
  return true;
}

/// `made`: what the call made.
void RankMessages::see_topology(const trace::Row &row, const RowScope &scope, const NewCommunicator *made) {
  if (made != nullptr) topologies_.see(RowAccess(row, scope), *made);
  if (row.function != spec::function_id::Dist_graph_neighbors) return;
  const RowAccess access(row, scope);
  const std::optional<HandleName> communicator = access.handle("comm");
  const std::string *name = communicator && communicator->special == 0 ? names_.name(communicator->number) : nullptr;
  if (name != nullptr) topologies_.asked(access, *name);
}

/// Those who send to this process when it makes a collective call of that communicator among neighbours.
void RankMessages::add_neighbors(const HandleName &communicator, uint32_t place, Awaited *awaited) const {
  const std::string *name = communicator.special == 0 ? names_.name(communicator.number) : nullptr;
  const auto neighbors = name == nullptr ? std::nullopt : topologies_.of(*name, place);
  if (!neighbors) return;
  for (const int64_t source : neighbors->sources) {
    if (source >= 0 && source != int64_t{place}) awaited->ranks.push_back(static_cast<uint32_t>(source));
  }
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

void RankMessages::act(const MessageCall &call, MessageStep *step) {
  using Does = MessageCall::Does;
  switch (call.does) {
    case Does::transfer:
      return transfer(call, step);
    case Does::seek:
      return look(call, step);
    case Does::collective:
      if (arrivals_->wants_meetings()) collective(call, step);
      return;
    case Does::start:
      for (size_t i = 0; i < call.requests.size(); ++i) start(call.requests[i], i, step);
      return;
    case Does::ready:
      for (const HandleName &name : call.requests) ready(name, call.partitions.value_or(0), step);
      return;
    case Does::complete:
      for (size_t i = 0; i < call.requests.size(); ++i) complete(call.requests[i], call.outcomes[i], step);
      return;
    case Does::cancel:
      for (const HandleName &name : call.requests) {
        const auto found = requests_.find(name);
        if (found != requests_.end() && found->second.active) Posts::cancel(found->second.active.get());
      }
      return;
    case Does::release:
      for (const HandleName &name : call.requests) {
        const auto found = requests_.find(name);
        if (found == requests_.end()) continue;
        if (found->second.active) posts_.let_go(found->second.active);
        if (found->second.part) step->leaves.push_back({found->second.part->gathering, found->second.part->place, {}});
        requests_.erase(found);
      }
      return;
  }
}

void RankMessages::transfer(const MessageCall &call, MessageStep *step) {
  using How = MessageStep::Arriving::How;
  if (call.taken) {  // by MPI_Mrecv or MPI_Imrecv
    const auto found = found_.find(*call.taken);
    if (found == found_.end()) {
      // It may be any that was found: after a call that failed, names of messages are not sure.
      for (const auto &[name, receive] : found_) posts_.doubt(*receive);
      return;
    }
    const ReceivePointer receive = found->second;
    receive->content = call.content;
    receive->posting = step->call;  // a send that waits for its receive waits for this call
    found_.erase(found);
    if (call.request) {
      new_request(*call.request).active = receive;
    } else if (call.returned) {
      arrive(receive, call.outcome, step);
    }
    return;
  }
  const std::optional<uint32_t> communicator = number_of(call.communicator);
  if (!communicator) {
    if (call.receive) ++counts_.apart;
    return;
  }
  if (call.persistent) return make(call, *communicator);
  if (call.send && call.request && cancelled_.is_cancelled(step->call.call)) {
    ++counts_.cancelled;
    new_request(*call.request);
    return;
  }
  SentPointer message;
  if (call.send) message = send(*call.send, *communicator, call.sent_bytes, call.content, step);
  if (message && call.request && !call.receive) {
    new_request(*call.request).sending = message;
  } else if (message && !call.request && call.returned) {
    step->completes.push_back(message);
  }
  if (!call.receive) return;
  const ReceivePointer receive = post(*call.receive, *communicator, call.content, *step);
  if (!receive) return;
  if (call.found) {
    found_[*call.found] = receive;
    if (call.outcome.told || (receive->from && receive->tag)) arrive(receive, call.outcome, step, How::probed);
  } else if (call.request) {
    Request &made = new_request(*call.request);
    made.active = receive;
    made.sending = message;
  } else if (call.returned) {
    arrive(receive, call.outcome, step);
  }
}

SentPointer RankMessages::send(const Envelope &envelope, uint32_t communicator, std::optional<uint64_t> bytes,
                               const MarkPointer &content, MessageStep *step, uint32_t pair) {
  if (!envelope.rank || !envelope.tag) return nullptr;
  const auto to = in_world(communicator, *envelope.rank);
  if (!to) return nullptr;
  auto message = std::make_shared<Sent>();
  message->from = step->call;
  message->timed = step->timed;
  message->bytes = bytes;
  message->content = content;
  step->sends.push_back({{communicator, rank_, *to, *envelope.tag, 0, pair}, message});
  return message;
}

ReceivePointer RankMessages::post(const Envelope &envelope, uint32_t communicator, const MarkPointer &content,
                                  const MessageStep &step, uint32_t pair) {
  auto receive = std::make_shared<Receive>();
  receive->content = content;
  receive->posting = step.call;
  receive->communicator = communicator;
  receive->tag = envelope.tag;
  receive->pair = pair;
  receive->anybody = !envelope.rank || !envelope.tag;
  if (envelope.rank) {
    receive->from = in_world(communicator, *envelope.rank);
    if (!receive->from) {
      ++counts_.unsent;
      return nullptr;
    }
  }
  posts_.post(receive);
  return receive;
}

RankMessages::Request &RankMessages::new_request(const HandleName &name) {
  if (const auto found = requests_.find(name); found != requests_.end()) return found->second = {};
  if (spare_requests_.empty()) return requests_[name];
  Requests::node_type node = std::move(spare_requests_.back());
  spare_requests_.pop_back();
  node.key() = name;
  return requests_.insert(std::move(node)).position->second;
}

void RankMessages::make(const MessageCall &call, uint32_t communicator) {
  if (!call.request) return;
  Request &made = new_request(*call.request);
  made.persistent = true;
  made.bytes = call.sent_bytes;
  made.content = call.content;
  if (call.partitions) {
    const Envelope &envelope = call.send ? *call.send : *call.receive;
    const auto other = envelope.rank ? in_world(communicator, *envelope.rank) : std::nullopt;
    if (!other || !envelope.tag) return;
    made.partitions = Partitions(*call.partitions);
    made.pair = call.send ? ++partitioned_sends_[{communicator, rank_, *other, *envelope.tag}]
                          : ++partitioned_receives_[{communicator, *other, rank_, *envelope.tag}];
  }
  made.send = call.send;
  made.receive = call.receive;
  made.communicator = communicator;
}

void RankMessages::send(Request *request, MessageStep *step) {
  request->sending =
      send(*request->send, *request->communicator, request->bytes, request->content, step, request->pair);
}

void RankMessages::ready(const HandleName &name, uint64_t partitions, MessageStep *step) {
  const auto found = requests_.find(name);
  if (found != requests_.end() && found->second.partitions.ready(partitions)) send(&found->second, step);
}

void RankMessages::start(const HandleName &name, size_t place, MessageStep *step) {
  const auto found = requests_.find(name);
  if (found == requests_.end()) return;
  Request &request = found->second;
  if (request.meets) {
    PersistentMeeting &meets = *request.meets;
    MeetingPart part = meets.part;
    part.gathering = gatherings_->of(meets.next, meets.operation);
    ++meets.next.count;
    step->enters.push_back(part);
    request.part = std::move(part);
  }
  if (!request.communicator) return;
  if (request.send && request.partitions.start()) {
    const bool is_message = !cancelled_.is_cancelled(step->call.call, place);
    counts_.cancelled += is_message ? 0 : 1;
    if (is_message) send(&request, step);
  }
  if (request.receive) {
    request.active = post(*request.receive, *request.communicator, request.content, *step, request.pair);
  }
}

void RankMessages::complete(const HandleName &name, const MessageOutcome &outcome, MessageStep *step) {
  const auto found = requests_.find(name);
  if (found == requests_.end()) return;
  if (found->second.active) arrive(found->second.active, outcome, step);
  if (found->second.part) step->leaves.push_back(*std::move(found->second.part));
  if (found->second.sending) step->completes.push_back(std::move(found->second.sending));
  found->second.sending = nullptr;
  found->second.active = nullptr;
  found->second.part.reset();
  if (found->second.persistent) return;
  Requests::node_type node = requests_.extract(found);
  if (spare_requests_.size() >= kMostSpare) return;
  node.mapped() = {};
  spare_requests_.push_back(std::move(node));
}

void RankMessages::arrive(const ReceivePointer &receive, const MessageOutcome &outcome, MessageStep *step,
                          MessageStep::Arriving::How how) {
  // In other statuses MPICH leaves what lay there.
  if (receive->cancelled && outcome.may_be_cancelled()) {
    ++counts_.cancelled;
    return posts_.drop(receive, !outcome.cancelled);
  }
  std::optional<uint32_t> from = receive->from;
  if (outcome.rank) from = in_world(receive->communicator, *outcome.rank);
  const std::optional<int64_t> tag = outcome.tag ? outcome.tag : receive->tag;
  if (receive->state == Receive::State::open) {
    if (!from || !tag) {
      ++counts_.nameless;
      return posts_.drop(receive, true);
    }
    posts_.received(receive, *from, *tag);
  }
  step->arriving.push_back({receive, how});
}

void RankMessages::look(const MessageCall &call, MessageStep *step) {
  const std::optional<uint32_t> communicator = number_of(call.communicator);
  if (!communicator || several_threads_) return;  // another one may take what this one sees
  const auto source = call.outcome.rank ? call.outcome.rank : call.receive->rank;
  const auto tag = call.outcome.tag ? call.outcome.tag : call.receive->tag;
  const auto from = source ? in_world(*communicator, *source) : std::nullopt;
  if (!from || !tag) return;
  if (auto found = posts_.look({*communicator, *from, rank_, *tag}, step->call)) {
    step->arriving.push_back({std::move(found), MessageStep::Arriving::How::looked_at});
  }
}

void RankMessages::collective(const MessageCall &call, MessageStep *step) {
  const std::optional<uint32_t> communicator = number_of(call.communicator);
  if (communicator == kSelfNumber) return;
  if (call.failed) {
    if (communicator) arrivals_->spoiled(*communicator);
    return;
  }
  if (!communicator || scope_.places[*communicator].empty()) {
    if (!call.customary || arrivals_->wants_all_meetings()) ++counts_.apart;
    return;
  }
  const auto place = scope_.places[*communicator].find(rank_);
  if (place == scope_.places[*communicator].end()) return;
  MeetingPart part;
  part.place = place->second;
  part.content = call.content;
  part.awaited = awaited_in(call, *communicator, part.place);
  if (call.persistent) {
    const uint32_t number = ++persistent_[*communicator];
    if (!call.request) return;
    Request &made = new_request(*call.request);
    made.persistent = true;
    made.meets = std::make_shared<PersistentMeeting>(
        PersistentMeeting{{*communicator, 0, number, 0}, call.operation, std::move(part)});
    return;
  }
  part.gathering = gatherings_->of({*communicator, 0, 0, meetings_[*communicator]++}, call.operation);
  part.gathering->meeting.customary = call.customary;
  step->enters.push_back(part);
  if (call.request) {
    new_request(*call.request).part = std::move(part);
  } else {
    if (!call.returned) part.awaited = {};
    step->leaves.push_back(std::move(part));
  }
}

/// Places of whom the process at `place` waits for.
Awaited RankMessages::awaited_in(const MessageCall &call, uint32_t communicator, uint32_t place) const {
  const auto members = static_cast<uint32_t>(scope_.places[communicator].size());
  const uint32_t first_group = scope_.first_groups[communicator];
  const bool two = first_group != 0;
  Awaited awaited = (two ? call.is_root : call.root == int64_t{place}) ? call.awaited_at_root : call.awaited;
  if (two && !call.customary) {
    // Each waits for those of the other group, by their ranks there.
    const uint32_t first = place < first_group ? first_group : 0;
    const uint32_t others = place < first_group ? members - first_group : first_group;
    if (std::exchange(awaited.all, false)) {
      awaited.ranks.resize(others);
      std::iota(awaited.ranks.begin(), awaited.ranks.end(), 0U);
    }
    std::erase_if(awaited.ranks, [&](uint32_t rank) { return rank >= others; });
    for (uint32_t &rank : awaited.ranks) rank += first;
  }
  if (call.awaits_lower) {
    for (uint32_t lower = 0; lower < place; ++lower) awaited.ranks.push_back(lower);
  }
  if (call.awaits_neighbors) add_neighbors(*call.communicator, place, &awaited);
  std::erase_if(awaited.ranks, [&](uint32_t rank) { return rank >= members; });
  return awaited;
}

std::optional<uint32_t> RankMessages::number_of(const std::optional<HandleName> &name) {
  if (!name) return std::nullopt;
  if (name->constant() == spec::constant_id::k_COMM_WORLD) return scope_.world_of(rank_);
  if (name->constant() == spec::constant_id::k_COMM_SELF) return kSelfNumber;
  if (name->special != 0) return std::nullopt;
  if (names_version_ != names_.version()) numbers_.clear();
  names_version_ = names_.version();
  const auto [known, fresh] = numbers_.try_emplace(name->number);
  if (fresh) {
    const std::string *text = names_.name(name->number);
    const auto found = text == nullptr ? scope_.numbers.end() : scope_.numbers.find(*text);
    if (found != scope_.numbers.end()) known->second = found->second;
  }
  return known->second;
}

std::optional<uint32_t> RankMessages::in_world(uint32_t communicator, int64_t rank) const {
  if (communicator == kSelfNumber) return rank_;
  return world_rank(*scope_.by_number[communicator], rank, rank_, Side::other);
}

}  // namespace cairn::analyze
