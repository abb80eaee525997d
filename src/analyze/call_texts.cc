#include "analyze/call_texts.h"

#include <nlohmann/json.hpp>

namespace cairn::analyze {

const std::string &CallTexts::text(const trace::Event &event, const CommunicatorNames &names) {
  if (sees_all()) return translated_.text;
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

CallTexts::Known CallTexts::text_of(const trace::Event &event, const CommunicatorNames &names) {
  Call call = decoder_.decode(event.class_index, *event.values, &names);
  if (world_) world_->translate(&call);
  if (notes_) notes_->note(event, &call);
  Known known{"", call.names_version};
  if (moved_) {
    nlohmann::ordered_json object = call_json(call, stack_);
    const Volume volume = moved_->of(event.class_index, *event.values);
    if (volume.moves)
      object["bytes"] = volume.bytes ? nlohmann::ordered_json(*volume.bytes)
                                     : nlohmann::ordered_json();  // null where a size is not known
    known.text = object.dump().substr(1);  // no opening brace: the event's own members stand before these
  } else {
    known.text = call_text(call);
    if (stack_) known.text += stack_text(call);
  }
  return known;
}

}  // namespace cairn::analyze
