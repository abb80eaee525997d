#include "export/message_ends.h"

#include <numeric>
#include <tuple>
#include <utility>

namespace cairn::exporting {
namespace {

using analyze::Collective;
using analyze::HandleName;
using analyze::MessageCall;
using analyze::MessageOutcome;
using analyze::Operation;
using simgrid::View;
using Kind = MessageEnd::Kind;

uint64_t sum(const std::vector<uint64_t> &all) { return std::accumulate(all.begin(), all.end(), uint64_t{0}); }
uint64_t sum(const std::vector<simgrid::Part> &all) {
  return std::accumulate(all.begin(), all.end(), uint64_t{0},
                         [](uint64_t so_far, const simgrid::Part &part) { return so_far + part.bytes; });
}

/// What this rank gives, and what it gets, but among neighbours, as its own arguments say.
std::pair<uint64_t, uint64_t> moved(const Collective &call, const View &view, bool is_root) {
  const uint64_t others = (view.other != nullptr ? view.other : view.own)->size();
  // What a process gives to itself, as others are told of it: in place, nothing else says it.
  const auto own = [&](const std::vector<uint64_t> &all) {
    return view.other == nullptr && view.place < all.size() ? all[view.place] : call.bytes;
  };
  if (call.aside) return {0, 0};
  switch (call.operation) {
    case Operation::barrier:
    case Operation::neighbors:
      return {0, 0};
    case Operation::bcast:
      return is_root ? std::pair(call.bytes, uint64_t{0}) : std::pair(uint64_t{0}, call.bytes);
    case Operation::gather:
      return {call.bytes, is_root ? call.received * others : 0};
    case Operation::gatherv:
      return {is_root ? own(call.receives) : call.bytes, is_root ? sum(call.receives) : 0};
    case Operation::scatter:
      return {is_root ? call.bytes * others : 0, call.received};
    case Operation::scatterv:
      return {is_root ? sum(call.sends) : 0, is_root ? own(call.sends) : call.bytes};
    case Operation::allgather:
      return {call.bytes, call.received * others};
    case Operation::allgatherv:
      return {own(call.receives), sum(call.receives)};
    case Operation::alltoall:
      return {call.bytes * others, call.received * others};
    case Operation::reduce:
      return {call.is_root ? 0 : call.bytes, is_root ? call.bytes : 0};
    case Operation::allreduce:
    case Operation::scan:
    case Operation::exscan:
      return {call.bytes, call.bytes};
    case Operation::reduce_scatter:
      if (call.receives.empty()) return {call.bytes * others, call.bytes};
      return {sum(call.receives), view.place < call.receives.size() ? call.receives[view.place] : 0};
    case Operation::alltoallv:
      return {sum(call.sends), sum(call.receives)};
  }
  return {0, 0};
}

}  // namespace

MessageEnds::MessageEnds(const Scope &scope, uint32_t rank, LeftOut *left_out)
    : left_out_(*left_out),
      cancelled_(*scope.trace, rank),
      calls_(*scope.trace, scope.groups, scope.rows, rank),
      neighbors_(calls_, scope.rows) {}

const std::vector<MessageEnd> &MessageEnds::of(const trace::Event &event) {
  ends_.clear();
  call_ = event.index;
  const simgrid::SimulatedCall &call = calls_.see(event);
  neighbors_.see(event);
  if (call.unfinished) {
    ++left_out_.unfinished;
  } else {
    act(call, event.values->function);
  }
  return ends_;
}

void MessageEnds::act(const simgrid::SimulatedCall &call, uint32_t function) {
  if (call.collective) return collective(*call.collective, function);
  if (!call.messages) return;
  const MessageCall &messages = *call.messages;
  switch (messages.does) {
    case MessageCall::Does::transfer:
      return transfer(call);
    case MessageCall::Does::start:
      for (size_t i = 0; i < messages.requests.size(); ++i) {
        const auto found = requests_.find(messages.requests[i]);
        if (found != requests_.end()) start(&found->second, i);
      }
      return;
    case MessageCall::Does::complete:
      for (size_t i = 0; i < messages.requests.size(); ++i) complete(messages.requests[i], messages.outcomes[i]);
      return;
    case MessageCall::Does::cancel:
      for (const HandleName &name : messages.requests) {
        if (const auto found = requests_.find(name); found != requests_.end()) found->second.cancelled = true;
      }
      return;
    case MessageCall::Does::release:
      for (const HandleName &name : messages.requests) requests_.erase(name);
      return;
    case MessageCall::Does::ready:
      for (const HandleName &name : messages.requests) {
        const auto found = requests_.find(name);
        if (found == requests_.end() || !found->second.partitions.ready(messages.partitions.value_or(0))) continue;
        start_send(&found->second);
      }
      return;
    case MessageCall::Does::seek:
    case MessageCall::Does::collective:
      return;  // those that move nothing
  }
}

std::optional<MessageEnd> MessageEnds::sending(const simgrid::SimulatedCall &call, const View &view) {
  const auto &[rank, tag] = *call.messages->send;
  const auto to = rank ? view.in_world(*rank) : std::nullopt;
  if (!to || !tag) {
    ++left_out_.strangers;
    return std::nullopt;
  }
  MessageEnd made;
  made.kind = Kind::send;
  made.communicator = view.number;
  made.peer = static_cast<uint32_t>(*rank);
  made.peer_in_world = *to;
  made.tag = *tag;
  made.bytes = call.sent.value_or(0);
  made.known = call.sent.has_value();
  return made;
}

void MessageEnds::transfer(const simgrid::SimulatedCall &call) {
  const MessageCall &messages = *call.messages;
  if (messages.taken) {  // by MPI_Mrecv or MPI_Imrecv
    const auto found = found_.find(*messages.taken);
    if (found == found_.end()) return;
    Request request = found->second;
    found_.erase(found);
    request.receive->bytes = call.room.value_or(0);
    request.receive->known = call.room.has_value();
    if (messages.request) {
      start(&request);
      requests_[*messages.request] = request;
    } else {
      arrive(*request.receive, request, messages.outcome, Kind::receive);
    }
    return;
  }
  Request request;
  request.view = calls_.view_of(messages.communicator);
  request.persistent = messages.persistent;
  if (!request.view) {
    ++left_out_.strangers;
    return;
  }
  request.partitions = analyze::Partitions(messages.partitions.value_or(0));
  if (messages.send) request.send = sending(call, *request.view);
  if (messages.receive) {
    request.receive.emplace();
    request.receive->communicator = request.view->number;
    request.receive->bytes = call.room.value_or(0);
    request.receive->known = call.room.has_value();
    request.asked = messages.receive;
  }
  if (messages.partitions) number_pair(messages, &request);
  if (messages.found) {
    // From now on it is known whom it hears.
    if (messages.outcome.rank) request.asked->rank = messages.outcome.rank;
    if (messages.outcome.tag) request.asked->tag = messages.outcome.tag;
    found_[*messages.found] = request;
    return;
  }
  if (messages.request) {
    if (!request.persistent) start(&request);
    requests_[*messages.request] = request;
    return;
  }
  if (request.persistent) return;
  if (request.send) {
    if (!request.send->known) ++left_out_.unsized;
    ends_.push_back(*request.send);
  }
  if (request.receive) arrive(*request.receive, request, messages.outcome, Kind::receive);
}

/// Operations in partitions match once for all, in the order in which both sides make those of one envelope.
void MessageEnds::number_pair(const MessageCall &call, Request *request) {
  if (request->send) {
    MessageEnd &send = *request->send;
    send.pair = ++partitioned_sends_[{send.communicator, send.peer_in_world, send.tag}];
  }
  if (!request->receive || !call.receive->rank || !call.receive->tag) return;
  if (const auto from = request->view->in_world(*call.receive->rank)) {
    request->receive->pair = ++partitioned_receives_[{request->view->number, *from, *call.receive->tag}];
  }
}

void MessageEnds::start_send(Request *request) {
  if (!request->send->known) ++left_out_.unsized;
  request->send->request = ++last_request_;
  request->send->kind = Kind::isend;
  ends_.push_back(*request->send);
  request->active = true;
}

void MessageEnds::start(Request *request, size_t place) {
  if (request->send) request->send->is_message = !cancelled_.is_cancelled(call_, place);
  if (request->send && request->partitions.start()) start_send(request);
  if (request->receive) {
    request->receive->request = ++last_request_;
    request->receive->kind = Kind::receive_posted;
    ends_.push_back(*request->receive);
  }
  if (request->part) {
    request->part->request = ++last_request_;
    request->part->kind = Kind::collective_begun;
    ends_.push_back(*request->part);
  }
  request->active = request->active || !request->send;
}

void MessageEnds::complete(const HandleName &name, const MessageOutcome &outcome) {
  const auto found = requests_.find(name);
  if (found == requests_.end()) return;
  Request &request = found->second;
  if (request.active) {
    const bool cancelled = request.cancelled && outcome.may_be_cancelled();
    for (auto *each : {&request.send, &request.receive, &request.part}) {
      if (!*each) continue;
      MessageEnd end = **each;
      if (cancelled) {
        end.kind = Kind::cancelled;
        ends_.push_back(end);
      } else if (each == &request.receive) {
        arrive(end, request, outcome, Kind::receive_done);
      } else {
        end.kind = each == &request.send ? Kind::isend_done : Kind::collective_done;
        ends_.push_back(end);
      }
    }
  }
  request.active = false;
  request.cancelled = false;
  if (!request.persistent) requests_.erase(found);
}

/// Whom it heard is what was asked for, or what the status says where anybody was: MPICH 4.0 leaves anything in the
/// status of MPI_Isendrecv, of whose length only the send knows.
void MessageEnds::arrive(MessageEnd receive, const Request &request, const MessageOutcome &outcome, Kind kind) {
  const auto rank = request.asked->rank ? request.asked->rank : outcome.rank;
  const auto tag = request.asked->tag ? request.asked->tag : outcome.tag;
  const bool told = kind == Kind::receive || !request.send;
  const auto from = rank ? request.view->in_world(*rank) : std::nullopt;
  if (!from || !tag) {
    ++(rank && tag ? left_out_.strangers : left_out_.nameless);
    if (kind != Kind::receive_done) return;
    receive.kind = Kind::cancelled;  // nobody can tell more of it
    ends_.push_back(receive);
    return;
  }
  receive.kind = kind;
  receive.peer = static_cast<uint32_t>(*rank);
  receive.peer_in_world = *from;
  receive.tag = *tag;
  if (told && outcome.bytes) {
    receive.bytes = static_cast<uint64_t>(*outcome.bytes);
    receive.known = true;
  } else if ((!told || !outcome.told) && receive.bytes != 0) {
    receive.is_room = true;
    receive.known = false;
  } else if (!receive.known) {
    ++left_out_.unsized;
  }
  ends_.push_back(receive);
}

void MessageEnds::collective(const Collective &collective, uint32_t function) {
  const std::optional<View> view = calls_.view_of(collective.communicator);
  if (!view) {
    ++left_out_.meetings;
    return;
  }
  MessageEnd part;
  part.kind = Kind::collective;
  part.function = function;
  part.communicator = view->number;
  if (collective.is_root) part.between = MessageEnd::Between::this_process;
  if (collective.aside) part.between = MessageEnd::Between::this_group;
  if (collective.root && *collective.root >= 0 && *collective.root <= INT32_MAX) {
    part.root = static_cast<uint32_t>(*collective.root);
  }
  const bool is_root = collective.is_root || (view->other == nullptr && collective.root == int64_t{view->place});
  std::tie(part.bytes, part.received) = moved(collective, *view, is_root);
  part.known = collective.sizes_known;
  if (collective.operation == Operation::neighbors) {
    std::vector<simgrid::Part> sends;
    std::vector<simgrid::Part> receives;
    const bool told = neighbors_.of(collective, *view, &sends, &receives);
    part.known = part.known && (told || collective.each);
    part.bytes = told ? sum(sends) : sum(collective.sends);
    part.received = told ? sum(receives) : sum(collective.receives);
    if (!part.known) part.bytes = part.received = 0;
  }
  if (!part.known) ++left_out_.unsized;
  if (!collective.request) {
    ends_.push_back(part);
    return;
  }
  Request request;
  request.persistent = collective.persistent;
  request.part = part;
  request.view = view;
  if (!request.persistent) start(&request);
  requests_[*collective.request] = request;
}

}  // namespace cairn::exporting
