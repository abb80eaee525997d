#include "analyze/cancellations.h"

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <vector>

#include "analyze/message_calls.h"
#include "analyze/selected_calls.h"
#include "spec/ids.h"
#include "trace/read/events.h"

namespace cairn::analyze {
namespace {

/// A request under way.
struct Request {
  bool receive = false;
  bool persistent = false;
  bool active = false;
  bool asked = false;  ///< MPI_Cancel was called
  uint64_t call = 0;   ///< that began it
  size_t place = 0;
  uint32_t thread = 0;  ///< of that call
  uint64_t number = 0;
  std::vector<std::pair<uint32_t, uint64_t>> cancels;  ///< the calls of MPI_Cancel
};

}  // namespace

bool Cancellations::may_be_in(const trace::Trace &trace, uint32_t class_index) {
  return SelectedCalls::has(trace, class_index,
                            [](const spec::Function &each) { return each.id == spec::function_id::Cancel; });
}

bool Cancellations::has_cancelled_sends() const {
  return std::any_of(begun_.begin(), begun_.end(), [](const auto &entry) {
    return !entry.second.receive && entry.second.came == Cancellation::Came::cancelled;
  });
}

Cancellations::Cancellations(const trace::Trace &trace, uint32_t rank) {
  bool some = false;
  for (const trace::SequenceView &sequence : trace.sequences(rank)) {
    some = some || may_be_in(trace, sequence.class_index);
  }
  if (!some) return;
  struct Known {
    uint32_t class_index = UINT32_MAX;
    uint32_t segment = UINT32_MAX;
    RowScope scope;
    std::unordered_map<uint32_t, std::unique_ptr<MessageCall>> calls;
    uint64_t number = 0;  ///< of the thread's next call
  };
  std::map<uint32_t, Known> threads;
  std::map<HandleName, Request> requests;
  constexpr size_t kMost = size_t{1} << 16;
  const auto begin = [&](Request *request, const trace::Event &event, size_t place, uint64_t number) {
    request->active = true;
    request->asked = false;
    request->call = event.index;
    request->place = place;
    request->thread = event.thread;
    request->number = number;
    request->cancels.clear();
  };
  const auto keep = [&](const Request &request, Cancellation::Came came) {
    if (!request.asked) return;
    const Cancellation found{came, request.receive, request.persistent};
    begun_[{request.call, request.place}] = found;
    if (!request.persistent) of_threads_[{request.thread, request.number}] = found;
    for (const auto &cancel : request.cancels) asked_[cancel] = found;
  };
  trace::Events events(trace, rank, false);
  while (const trace::Event *event = events.next()) {
    Known &known = threads[event->thread];
    const uint64_t number = known.number++;
    if (known.class_index != event->class_index || known.segment != event->segment) {
      known.class_index = event->class_index;
      known.segment = event->segment;
      known.scope = {trace.sites(event->class_index), event->thread};
      known.calls.clear();
    }
    if (known.calls.size() >= kMost) known.calls.clear();
    const auto [entry, fresh] = known.calls.try_emplace(event->call);
    if (fresh) entry->second = message_call(*event->values, known.scope);
    const MessageCall *call = entry->second.get();
    if (call == nullptr) continue;
    using Does = MessageCall::Does;
    const auto each = [&](const auto &visit) {
      for (size_t i = 0; i < call->requests.size(); ++i) {
        const auto found = requests.find(call->requests[i]);
        if (found != requests.end()) visit(found, i);
      }
    };
    switch (call->does) {
      case Does::transfer:
        if (call->request && (call->send.has_value() != call->receive.has_value())) {
          Request &made = requests[*call->request] = {};
          made.receive = call->receive.has_value();
          made.persistent = call->persistent;
          if (!made.persistent) begin(&made, *event, 0, number);
        } else if (call->request) {
          requests.erase(*call->request);
        }
        break;
      case Does::start:
        each([&](auto found, size_t i) { begin(&found->second, *event, i, number); });
        break;
      case Does::cancel:
        each([&](auto found, size_t) {
          found->second.asked = found->second.asked || found->second.active;
          if (found->second.active) found->second.cancels.emplace_back(event->thread, number);
        });
        break;
      case Does::complete:
        each([&](auto found, size_t i) {
          Request &request = found->second;
          const MessageOutcome &outcome = call->outcomes[i];
          using Came = Cancellation::Came;
          keep(request, outcome.cancelled            ? Came::cancelled
                        : outcome.may_be_cancelled() ? Came::unknown
                                                     : Came::complete);
          request.active = false;
          request.asked = false;
          if (!request.persistent) requests.erase(found);
        });
        break;
      case Does::release:
        each([&](auto found, size_t) {
          keep(found->second, Cancellation::Came::unknown);
          requests.erase(found);
        });
        break;
      case Does::ready:
      case Does::seek:
      case Does::collective:
        break;
    }
  }
  for (const auto &[name, request] : requests) keep(request, Cancellation::Came::unknown);
}

}  // namespace cairn::analyze
