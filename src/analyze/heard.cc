#include "analyze/heard.h"

#include <utility>

namespace cairn::analyze {

Heard::Heard(const trace::Trace &trace, std::vector<trace::SequenceView> sequences)
    : trace_(trace), sequences_(std::move(sequences)) {}

const MessageCall *Heard::call(grammar::Symbol number) {
  const auto [entry, added] = known_.try_emplace(number);
  if (added) {
    auto found = message_call(reader_->call(number), scope_);
    using Does = MessageCall::Does;
    const bool says = found != nullptr && found->returned &&
                      (found->does == Does::complete || found->does == Does::release ||
                       (found->does == Does::transfer && found->request && !found->persistent));
    if (says) entry->second = std::move(found);
  }
  return entry->second.get();
}

bool Heard::read() {
  for (;;) {
    const grammar::Symbol number = reader_ ? reader_->next() : grammar::kNoSymbol;
    if (number != grammar::kNoSymbol) {
      if (const MessageCall *found = call(number); found != nullptr) look_at(*found);
      return true;
    }
    if (next_sequence_ == sequences_.size()) return false;
    const trace::SequenceView &sequence = sequences_[next_sequence_++];
    known_.clear();
    scope_ = RowScope::of(trace_, sequence);
    reader_ = std::make_unique<trace::CallReader>(trace_, sequence);
  }
}

void Heard::look_at(const MessageCall &call) {
  if (call.does == MessageCall::Does::transfer) {
    if (call.request->special != 0) return;
    const bool wild = call.receive && (!call.receive->rank || !call.receive->tag);
    PostedPointer posted;
    if (wild) {
      posted = std::make_shared<Posted>();
      posted->heard = *call.receive;
      posted->class_index = sequences_[next_sequence_ - 1].class_index;
      posted_.push_back(posted);
    }
    under_way_[*call.request].push_back(std::move(posted));
    return;
  }
  for (size_t i = 0; i < call.requests.size(); ++i) {
    const auto found = under_way_.find(call.requests[i]);
    if (found == under_way_.end()) continue;
    const PostedPointer posted = found->second.front();
    found->second.pop_front();
    if (found->second.empty()) under_way_.erase(found);
    if (posted == nullptr) continue;
    posted->settled = true;
    if (i >= call.outcomes.size() || !call.outcomes[i].told || call.outcomes[i].cancelled) continue;
    if (!posted->heard.rank) posted->heard.rank = call.outcomes[i].rank;
    if (!posted->heard.tag) posted->heard.tag = call.outcomes[i].tag;
  }
}

std::optional<Heard::Receive> Heard::next() {
  while (posted_.empty() || !posted_.front()->settled) {
    if (!read()) break;
  }
  if (posted_.empty()) return std::nullopt;
  const PostedPointer first = std::move(posted_.front());
  posted_.pop_front();
  return *first;
}

}  // namespace cairn::analyze
