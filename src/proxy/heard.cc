#include "proxy/heard.h"

#include <deque>
#include <memory>
#include <unordered_map>

#include "analyze/message_calls.h"
#include "spec/ids.h"
#include "trace/read/call_reader.h"

namespace cairn::proxy {
namespace {

using analyze::MessageCall;
using trace::Atom;

constexpr Atom constant(uint16_t id) { return trace::special(static_cast<uint16_t>(trace::kFirstConstant + id)); }

struct Posted {
  uint32_t class_index = 0;
  analyze::Envelope envelope;
};

class Hearing {
 public:
  void look_at(const MessageCall &call, uint32_t class_index) {
    if (call.does == MessageCall::Does::transfer) {
      if (!call.request || call.persistent || call.request->special != 0) return;
      size_t number = SIZE_MAX;
      if (call.receive && (!call.receive->rank || !call.receive->tag)) {
        number = posted_.size();
        posted_.push_back({class_index, *call.receive});
      }
      under_way_[*call.request].push_back(number);
      return;
    }
    if (call.does != MessageCall::Does::complete && call.does != MessageCall::Does::release) return;
    for (size_t i = 0; i < call.requests.size(); ++i) {
      const auto found = under_way_.find(call.requests[i]);
      if (found == under_way_.end()) continue;
      const size_t number = found->second.front();
      found->second.pop_front();
      if (found->second.empty()) under_way_.erase(found);
      if (number == SIZE_MAX || i >= call.outcomes.size()) continue;
      const analyze::MessageOutcome &outcome = call.outcomes[i];
      if (!outcome.told || outcome.cancelled) continue;
      analyze::Envelope &envelope = posted_[number].envelope;
      if (!envelope.rank) envelope.rank = outcome.rank;
      if (!envelope.tag) envelope.tag = outcome.tag;
    }
  }
  [[nodiscard]] const std::vector<Posted> &posted() const { return posted_; }

 private:
  std::map<analyze::HandleName, std::deque<size_t>> under_way_;  ///< SIZE_MAX: not from anybody
  std::vector<Posted> posted_;
};

}  // namespace

std::map<uint32_t, std::vector<std::pair<Atom, Atom>>> heard_by(const trace::Trace &trace, uint32_t rank,
                                                                uint32_t thread) {
  Hearing hearing;
  for (const trace::SequenceView &sequence : trace.sequences(rank)) {
    if (sequence.thread != thread) continue;
    const analyze::RowScope scope = analyze::RowScope::of(trace, sequence);
    trace::CallReader reader(trace, sequence);
    std::unordered_map<grammar::Symbol, std::unique_ptr<MessageCall>> known;
    for (grammar::Symbol number = reader.next(); number != grammar::kNoSymbol; number = reader.next()) {
      const auto [entry, added] = known.try_emplace(number);
      if (added) {
        entry->second = analyze::message_call(reader.call(number), scope);
        if (entry->second != nullptr && !entry->second->returned) entry->second.reset();
      }
      if (entry->second != nullptr) hearing.look_at(*entry->second, sequence.class_index);
    }
  }
  std::map<uint32_t, std::vector<std::pair<Atom, Atom>>> all;
  for (const Posted &each : hearing.posted()) {
    all[each.class_index].emplace_back(each.envelope.rank.value_or(constant(spec::constant_id::k_ANY_SOURCE)),
                                       each.envelope.tag.value_or(constant(spec::constant_id::k_ANY_TAG)));
  }
  return all;
}

}  // namespace cairn::proxy
