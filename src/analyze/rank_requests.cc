#include "analyze/rank_requests.h"

#include <utility>

#include "base/hash.h"

namespace cairn::analyze {
namespace {

/// Of what is used up, to be used again.
constexpr size_t kMostSpareRequests = 64;

}  // namespace

size_t RankRequests::NameHash::operator()(const HandleName &name) const {
  const uint64_t words[] = {static_cast<uint64_t>(name.special), static_cast<uint64_t>(name.number), name.site.offset,
                            uint64_t{name.thread} << 32 | name.site.module, name.site.caller};
  return static_cast<size_t>(hash64({reinterpret_cast<const uint8_t *>(words), sizeof words}));
}

RankRequests::RankRequests(const MessageScope &scope, uint32_t rank, RankCommunicators *communicators, Posts *posts,
                           Gatherings *gatherings, MessageCounts *counts, Arrivals *arrivals)
    : scope_(scope),
      rank_(rank),
      communicators_(*communicators),
      posts_(*posts),
      gatherings_(gatherings),
      counts_(*counts),
      arrivals_(arrivals),
      cancelled_(*scope.trace, rank),
      several_threads_(scope.trace->has_threads(rank)) {}

void RankRequests::act(const MessageCall &call, MessageStep *step) {
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

void RankRequests::transfer(const MessageCall &call, MessageStep *step) {
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
  const std::optional<uint32_t> communicator = communicators_.number_of(call.communicator);
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
    if (call.outcome.told || (receive->from && receive->tag))
      arrive(receive, call.outcome, step, MessageStep::Arriving::How::probed);
  } else if (call.request) {
    Request &made = new_request(*call.request);
    made.active = receive;
    made.sending = message;
  } else if (call.returned) {
    arrive(receive, call.outcome, step);
  }
}

SentPointer RankRequests::send(const Envelope &envelope, uint32_t communicator, std::optional<uint64_t> bytes,
                               const MarkPointer &content, MessageStep *step, uint32_t pair) {
  if (!envelope.rank || !envelope.tag) return nullptr;
  const auto to = communicators_.in_world(communicator, *envelope.rank);
  if (!to) return nullptr;
  auto message = std::make_shared<Sent>();
  message->from = step->call;
  message->timed = step->timed;
  message->bytes = bytes;
  message->content = content;
  step->sends.push_back({{communicator, rank_, *to, *envelope.tag, 0, pair}, message});
  return message;
}

ReceivePointer RankRequests::post(const Envelope &envelope, uint32_t communicator, const MarkPointer &content,
                                  const MessageStep &step, uint32_t pair) {
  auto receive = std::make_shared<Receive>();
  receive->content = content;
  receive->posting = step.call;
  receive->communicator = communicator;
  receive->tag = envelope.tag;
  receive->pair = pair;
  receive->anybody = !envelope.rank || !envelope.tag;
  if (envelope.rank) {
    receive->from = communicators_.in_world(communicator, *envelope.rank);
    if (!receive->from) {
      ++counts_.unsent;
      return nullptr;
    }
  }
  posts_.post(receive);
  return receive;
}

RankRequests::Request &RankRequests::new_request(const HandleName &name) {
  if (const auto found = requests_.find(name); found != requests_.end()) return found->second = {};
  if (spare_requests_.empty()) return requests_[name];
  Requests::node_type node = std::move(spare_requests_.back());
  spare_requests_.pop_back();
  node.key() = name;
  return requests_.insert(std::move(node)).position->second;
}

void RankRequests::make(const MessageCall &call, uint32_t communicator) {
  if (!call.request) return;
  Request &made = new_request(*call.request);
  made.persistent = true;
  made.bytes = call.sent_bytes;
  made.content = call.content;
  if (call.partitions) {
    const Envelope &envelope = call.send ? *call.send : *call.receive;
    const auto other = envelope.rank ? communicators_.in_world(communicator, *envelope.rank) : std::nullopt;
    if (!other || !envelope.tag) return;
    made.partitions = Partitions(*call.partitions);
    made.pair = call.send ? ++partitioned_sends_[{communicator, rank_, *other, *envelope.tag}]
                          : ++partitioned_receives_[{communicator, *other, rank_, *envelope.tag}];
  }
  made.send = call.send;
  made.receive = call.receive;
  made.communicator = communicator;
}

void RankRequests::send(Request *request, MessageStep *step) {
  request->sending =
      send(*request->send, *request->communicator, request->bytes, request->content, step, request->pair);
}

void RankRequests::ready(const HandleName &name, uint64_t partitions, MessageStep *step) {
  const auto found = requests_.find(name);
  if (found != requests_.end() && found->second.partitions.ready(partitions)) send(&found->second, step);
}

void RankRequests::start(const HandleName &name, size_t place, MessageStep *step) {
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

void RankRequests::complete(const HandleName &name, const MessageOutcome &outcome, MessageStep *step) {
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
  if (spare_requests_.size() >= kMostSpareRequests) return;
  node.mapped() = {};
  spare_requests_.push_back(std::move(node));
}

void RankRequests::arrive(const ReceivePointer &receive, const MessageOutcome &outcome, MessageStep *step,
                          MessageStep::Arriving::How how) {
  // In other statuses MPICH leaves what lay there.
  if (receive->cancelled && outcome.may_be_cancelled()) {
    ++counts_.cancelled;
    return posts_.drop(receive, !outcome.cancelled);
  }
  std::optional<uint32_t> from = receive->from;
  if (outcome.rank) from = communicators_.in_world(receive->communicator, *outcome.rank);
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

void RankRequests::look(const MessageCall &call, MessageStep *step) {
  const std::optional<uint32_t> communicator = communicators_.number_of(call.communicator);
  if (!communicator || several_threads_) return;  // another one may take what this one sees
  const auto source = call.outcome.rank ? call.outcome.rank : call.receive->rank;
  const auto tag = call.outcome.tag ? call.outcome.tag : call.receive->tag;
  const auto from = source ? communicators_.in_world(*communicator, *source) : std::nullopt;
  if (!from || !tag) return;
  if (auto found = posts_.look({*communicator, *from, rank_, *tag}, step->call)) {
    step->arriving.push_back({std::move(found), MessageStep::Arriving::How::looked_at});
  }
}

void RankRequests::collective(const MessageCall &call, MessageStep *step) {
  const std::optional<uint32_t> communicator = communicators_.number_of(call.communicator);
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
  part.awaited = communicators_.awaited_in(call, *communicator, part.place);
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

}  // namespace cairn::analyze
