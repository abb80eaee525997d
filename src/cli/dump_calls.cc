#include "cli/dump_calls.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "cli/inspect.h"
#include "terminal/listing.h"

namespace cairn::cli {

using analyze::CommunicatorNames;
using trace::Event;

const std::string &CallTexts::text(const Event &event, const CommunicatorNames &names) {
  if (world_) return translated_.text;
  const uint64_t key = uint64_t{event.class_index} << 32 | event.call;
  const auto found = texts_.find(key);
  if (found != texts_.end()) {
    if (found->second.names_version == 0 || found->second.names_version == names.version()) {
      return found->second.text;
    }
    texts_.erase(found);
  }
  if (texts_.size() >= most_) texts_.clear();
  return texts_.emplace(key, text_of(event, names)).first->second.text;
}

CallTexts::Known CallTexts::text_of(const Event &event, const CommunicatorNames &names) {
  analyze::Call call = decoder_.decode(event.class_index, *event.values, &names);
  if (world_) world_->translate(&call);
  Known known{"", call.names_version};
  if (moved_) {
    nlohmann::ordered_json object = analyze::call_json(call, stack_);
    const analyze::Volume volume = moved_->of(event.class_index, *event.values);
    if (volume.moves) object["bytes"] = cli::json_of(volume.bytes);  // null where a size is not known
    known.text = object.dump().substr(1);  // no opening brace: the event's own members stand before these
  } else {
    known.text = analyze::call_text(call);
    if (stack_) known.text += analyze::stack_text(call);
  }
  return known;
}

DumpedRank::DumpedRank(CallTexts texts_of, const trace::Trace &trace, const analyze::Sources &sources,
                       const analyze::Filter &filter, const analyze::WantedCalls &wanted, uint32_t rank, bool all)
    : texts(std::move(texts_of)),
      calls(trace, sources, filter, wanted, rank,
            all || texts.sees_all() ? [this](const Event &event) { see(event); } : analyze::RankCalls::See()) {}

void DumpedRank::see(const Event &event) {
  if (texts.sees_all()) texts.see(event, calls.names());
  if (before_each) before_each(event);
}

}  // namespace cairn::cli
