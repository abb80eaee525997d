#include "simgrid/rank_actions.h"

#include <algorithm>
#include <utility>

#include "spec/ids.h"
#include "timing/mode.h"

namespace cairn::simgrid {
namespace {

using analyze::HandleName;
using analyze::MessageCall;
using analyze::MessageOutcome;

/// SMPI's MPI_ANY_SOURCE and MPI_ANY_TAG.
constexpr int64_t kAnySource = -555;
constexpr int32_t kAnyTag = -444;

std::string room_text(const std::optional<uint64_t> &bytes) { return size_text(bytes.value_or(UINT64_MAX)); }

}  // namespace

RankActions::RankActions(const Run &run, uint32_t rank, RankFile *file, Counts *counts)
    : run_(run),
      rank_(rank),
      file_(*file),
      counts_(*counts),
      events_(*run.trace, rank),
      calls_(*run.trace, *run.groups, run.scopes, rank),
      neighbors_(calls_, run.scopes) {
  several_threads_ = run.trace->has_threads(rank);
  timed_ = timing::keeps_times(run.trace->run().timing);
  if (run.gaps && !timed_ && !timing::keeps_nothing(run.trace->run().timing))
    mean_gap_ns_ = run.trace->mean_gap_ns(rank);
}

Result<void> RankActions::write() {
  file_.add("init");
  while (const trace::Event *event = events_.next()) {
    const SimulatedCall &call = calls_.see(*event);
    neighbors_.see(*event);
    pass_time(*event, call.waits);
    if (call.unfinished) {
      leave_out("calls that never returned");
    } else {
      act(call);
    }
  }
  finish();
  return events_.end();
}

void RankActions::pass_time(const trace::Event &event, bool waits) {
  if (!timed_) {
    to_compute_ns_ += mean_gap_ns_;
    return;
  }
  if (!event.timed) return;
  if (run_.gaps && begun_ && event.begin_ns > last_end_ns_) {
    to_compute_ns_ += static_cast<double>(event.begin_ns - last_end_ns_);
  }
  if (run_.gaps && !waits && event.values->depth == 0) to_compute_ns_ += static_cast<double>(event.duration_ns);
  if (!begun_) first_end_ns_ = event.end_ns;
  last_begin_ns_ = std::max(last_begin_ns_, event.begin_ns);
  last_end_ns_ = std::max(last_end_ns_, event.end_ns);
  begun_ = true;
}

uint64_t RankActions::lasted_ns() const {
  if (timed_) return last_begin_ns_ > first_end_ns_ ? last_begin_ns_ - first_end_ns_ : 0;
  uint64_t ends = 0;
  for (const uint16_t each : {spec::function_id::Init, spec::function_id::Init_thread, spec::function_id::Finalize}) {
    ends += run_.trace->function_ns(rank_, each).value_or(0);
  }
  const uint64_t wall = run_.trace->rank_info(rank_).wall_ns;
  return wall > ends ? wall - ends : 0;
}

void RankActions::compute() {
  const double flops = to_compute_ns_ * run_.speed / 1e9;
  if (flops < 1) return;
  file_.add("compute {:.0f}", flops);
  counts_.computed_ns += to_compute_ns_;
  to_compute_ns_ = 0;
}

void RankActions::act(const SimulatedCall &call) {
  if (call.collective) return collective(*call.collective);
  if (!call.messages) return;
  using Does = MessageCall::Does;
  switch (call.messages->does) {
    case Does::transfer:
      return transfer(call);
    case Does::start:
      for (const HandleName &name : call.messages->requests) start(name);
      return;
    case Does::complete:
      return complete(call.messages->requests, call.messages->outcomes);
    case Does::cancel:
      for (const HandleName &name : call.messages->requests) {
        const auto found = requests_.find(name);
        if (found != requests_.end()) found->second.front().cancelled = true;
      }
      return;
    case Does::release:
      for (const HandleName &name : call.messages->requests) release(name);
      return;
    case Does::ready:
      for (const HandleName &name : call.messages->requests) {
        const auto found = requests_.find(name);
        if (found != requests_.end() && found->second.front().partitions.ready(call.messages->partitions.value_or(0))) {
          send(Request(found->second.front()), &found->second.front());
        }
      }
      return;
    case Does::seek:
      return;
    case Does::collective:
      return;  // those that are not among ours
  }
}

void RankActions::transfer(const SimulatedCall &call) {
  const MessageCall &messages = *call.messages;
  if (messages.taken) {  // by MPI_Mrecv or MPI_Imrecv
    const auto found = found_.find(*messages.taken);
    if (found == found_.end()) return;
    Request request = std::move(found->second);
    found_.erase(found);
    if (messages.request) {
      requests_[*messages.request].push_back(std::move(request));
    } else {
      std::vector<Key> waits;
      settle(&request, messages.outcome, &waits);
      wait(waits);
    }
    return;
  }
  Request message;
  message.persistent = messages.persistent;
  message.partitions = analyze::Partitions(messages.partitions.value_or(0));
  message.send = messages.send;
  message.receive = messages.receive;
  message.view = calls_.view_of(messages.communicator);
  message.sent = call.sent;
  message.room = call.room;
  message.buffered = call.buffered;
  if (!message.view) return leave_out("messages in communicators whose members the trace does not know");
  if (messages.partitions) {
    auto &made = message.send ? partitioned_sends_ : partitioned_receives_;
    const analyze::Envelope &envelope = message.send ? *message.send : *message.receive;
    message.pair = ++made[{message.view->number, envelope.rank.value_or(-1), envelope.tag.value_or(-1)}];
  }
  if (message.persistent) {
    if (messages.request) requests_[*messages.request] = {std::move(message)};
    return;
  }
  if (messages.found) {  // what it found is received from now on: nothing else can receive it
    message.room.reset();
    Request receive = message;
    post(message, &receive);
    settle(&receive, messages.outcome, nullptr);
    if (receive.active) found_[*messages.found] = std::move(receive);
    return;
  }
  if (messages.request) {
    Request request = message;
    if (message.send) send(message, &request);
    if (message.receive) post(message, &request);
    if (request.active) requests_[*messages.request].push_back(std::move(request));
    return;
  }
  if (!message.send) return receive_now(message, messages.outcome);
  if (!message.receive && !message.buffered && !several_threads_) return send(message, nullptr);
  Request both;
  send(message, &both);
  if (message.receive) receive_now(message, messages.outcome);
  if (message.receive && !several_threads_) wait(both.waits);
}

/// Those in partitions match in the order in which both sides made them, whatever is started first.
int32_t RankActions::tag_of(const Request &message, int64_t tag) const {
  if (message.pair == 0) return run_.tags->of(message.view->number, tag);
  const int64_t of_pair = tag + (int64_t{message.pair - 1} << 32U);
  return run_.tags->of(message.view->number, of_pair, Tags::Of::partitions);
}

/// With `into`, as a nonblocking one.
void RankActions::send(const Request &message, Request *into) {
  const auto &[rank, tag] = *message.send;
  if (!rank || !tag) return;
  const auto to = message.view->in_world(*rank);
  if (!to) return leave_out("messages to or from processes that are not in the trace");
  if (!message.sent) tell("sends with sizes that the trace does not know: they count as 0");
  const int32_t number = tag_of(message, *tag);
  const auto line =
      add("{} {} {} {}", into != nullptr ? "isend" : "send", *to, number, size_text(message.sent.value_or(0)));
  ++counts_.sends;
  counts_.bytes += message.sent.value_or(0);
  if (into == nullptr) return;
  ++under_way_;
  into->active = true;
  into->lines.push_back(line);
  into->waits.push_back({rank_, *to, number});
}

void RankActions::post(const Request &message, Request *into) {
  const auto &[rank, tag] = *message.receive;
  into->unknown = !rank || !tag;
  if (into->unknown) {
    compute();
    into->lines.push_back(file_.add_wide("irecv"));
    ++under_way_;
  } else {
    const auto from = message.view->in_world(*rank);
    if (!from) return leave_out("messages to or from processes that are not in the trace");
    const int32_t number = tag_of(message, *tag);
    into->lines.push_back(add("irecv {} {} {}", *from, number, room_text(message.room)));
    into->waits.push_back({*from, rank_, number});
    ++under_way_;
  }
  ++counts_.receives;
  into->active = true;
}

/// Once it is complete: then it is known whom it heard.
void RankActions::receive_now(const Request &message, const MessageOutcome &outcome) {
  const std::optional<Key> key = heard(message, outcome);
  if (!key) return;
  add("recv {} {} {}", key->from, key->tag, room_text(message.room));
  ++counts_.receives;
}

std::optional<RankActions::Key> RankActions::heard(const Request &message, const MessageOutcome &outcome) {
  const auto rank = outcome.rank ? outcome.rank : message.receive->rank;
  const auto tag = outcome.tag ? outcome.tag : message.receive->tag;
  Key key{kAnySource, rank_, kAnyTag};
  if (rank) {
    const auto from = message.view->in_world(*rank);
    if (!from) {
      leave_out("messages to or from processes that are not in the trace");
      return std::nullopt;
    }
    key.from = *from;
  }
  // Under any tag SMPI would hear other communicators, too.
  if (!tag && run_.groups->count() > Groups::kWorld + 1) {
    leave_out("receives of which the trace does not say what they received");
    return std::nullopt;
  }
  if (tag) key.tag = run_.tags->of(message.view->number, *tag);
  if (!rank || !tag) tell("receives that stay wild, since the trace does not say what they received");
  return key;
}

void RankActions::start(const HandleName &name) {
  const auto found = requests_.find(name);
  if (found == requests_.end()) return;
  Request &request = found->second.front();
  request.lines.clear();
  request.waits.clear();
  request.cancelled = false;
  if (!request.persistent) return;
  if (request.collective) {
    if (request.view) in_messages(*request.collective, *request.view, &request);
    return;
  }
  const Request message = request;
  if (message.send && request.partitions.start()) send(message, &request);
  if (message.receive) post(message, &request);
}

void RankActions::complete(const std::vector<HandleName> &names, const std::vector<MessageOutcome> &outcomes) {
  std::vector<Key> waits;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto found = requests_.find(names[i]);
    if (found == requests_.end()) continue;
    Request &request = found->second.front();
    settle(&request, outcomes[i], &waits);
    if (request.persistent) continue;
    found->second.pop_front();
    if (found->second.empty()) requests_.erase(found);
  }
  wait(waits);
}

/// It is complete, or, without `waits`, it is known what it will receive.
void RankActions::settle(Request *request, const MessageOutcome &outcome, std::vector<Key> *waits) {
  if (!request->active) return;
  // In other statuses MPICH leaves what lay there.
  if (request->cancelled && outcome.may_be_cancelled()) {
    for (const RankFile::Line &line : request->lines) file_.drop(line);
    counts_.receives -= request->receive ? 1 : 0;
    counts_.sends -= request->send ? 1 : 0;
    if (request->send) counts_.bytes -= request->sent.value_or(0);
    under_way_ -= request->waits.size() + (request->unknown ? 1 : 0);
    request->unknown = false;
    leave_out("messages that were cancelled");
  } else {
    if (request->unknown) {
      if (auto key = heard(*request, outcome)) {
        file_.change(request->lines.front(),
                     fmt::format("irecv {} {} {}", key->from, key->tag, room_text(request->room)));
        // SMPI counts processes from 1, and takes that off what stands for any, too.
        if (key->from == kAnySource) --key->from;
        request->waits.push_back(*key);
      } else {
        file_.drop(request->lines.front());
        --counts_.receives;
        --under_way_;
      }
      request->unknown = false;
    }
    if (waits == nullptr) return;
    waits->insert(waits->end(), request->waits.begin(), request->waits.end());
  }
  request->waits.clear();
  request->lines.clear();
  request->active = false;
}

void RankActions::wait(const std::vector<Key> &keys) {
  if (keys.empty()) return;
  if (keys.size() == under_way_ && keys.size() > 1) {
    add("waitall");
  } else {
    for (const Key &key : keys) add("wait {} {} {}", key.from, key.to, key.tag);
  }
  under_way_ -= keys.size();
}

void RankActions::release(const HandleName &name) {
  const auto found = requests_.find(name);
  if (found == requests_.end()) return;
  Request &request = found->second.front();
  if (request.unknown) {
    file_.drop(request.lines.front());
    --counts_.receives;
    --under_way_;
    leave_out("receives of which the trace does not say what they received");
  }
  found->second.pop_front();
  if (found->second.empty()) requests_.erase(found);
}

void RankActions::finish() {
  for (auto &[name, queue] : requests_) {
    for (const Request &request : queue) {
      if (!request.active || (!request.unknown && !request.cancelled)) continue;
      for (const RankFile::Line &line : request.lines) file_.drop(line);
      under_way_ -= request.waits.size() + (request.unknown ? 1 : 0);
      leave_out("messages that were never completed");
    }
  }
  if (under_way_ != 0) add("waitall");
  compute();
  file_.add("finalize");
  counts_.lines += file_.lines();
  counts_.longest_ns = std::max(counts_.longest_ns, lasted_ns());
}

}  // namespace cairn::simgrid
