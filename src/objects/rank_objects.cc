#include "objects/rank_objects.h"

#include <algorithm>
#include <memory>

#include "analyze/message_calls.h"
#include "spec/ids.h"

namespace cairn::objects {
namespace {

using Does = ObjectUse::Does;
using analyze::HandleName;
using spec::Effect;

/// The requests that a call completed, whatever became of their messages; nothing where it did not say which.
std::vector<HandleName> completed_by(const trace::Row &row, const analyze::RowScope &scope,
                                     const spec::Function &function) {
  if (!analyze::completes_requests(function)) return {};
  const auto message = analyze::message_call(row, scope);
  const bool completes = message != nullptr && message->does == analyze::MessageCall::Does::complete;
  return completes ? message->requests : std::vector<HandleName>();
}

}  // namespace

const RankObjects::Parts &RankObjects::parts_of(const trace::Event &event, const analyze::RowScope &scope) {
  constexpr size_t kMost = 4096;
  Known &known = known_[event.thread];
  if (known.class_index != event.class_index || known.segment != event.segment) {
    known = {};
    known.class_index = event.class_index;
    known.segment = event.segment;
  }
  if (const auto found = known.calls.find(event.call); found != known.calls.end()) return found->second;
  if (known.calls.size() >= kMost) known.calls.clear();
  Parts &parts = known.calls[event.call];
  const auto all = spec::functions();
  const trace::Row &row = *event.values;
  if (row.function >= all.size()) return parts;
  const spec::Function &function = all[row.function];
  const analyze::RowAccess access(row, scope);
  const bool succeeded = access.succeeded();
  const std::vector<HandleName> completed = completed_by(row, scope, function);
  for (uint8_t i = 0; i < function.parameter_count; ++i) {
    const spec::Parameter &parameter = function.parameters[i];
    if (!spec::is_handle(parameter.layout)) continue;
    uint32_t place = 0;
    for (const HandleName &name : access.handles(parameter.name)) {
      Part part{i, place++, parameter.kind, Does::names, false, false, name};
      if (name.special != 0) continue;
      const bool out = parameter.direction == spec::Direction::out;
      switch (parameter.effect) {
        case Effect::create:
        case Effect::create_if:
        case Effect::lookup:
          if (!succeeded) continue;
          part.does = Does::makes;
          part.if_new = parameter.effect == Effect::lookup;
          part.once_more = part.if_new && row.function != spec::function_id::Comm_get_parent;
          break;
        case Effect::release:
        case Effect::consume:
          if (succeeded) part.does = Does::ends;
          break;
        case Effect::start:
          if (succeeded) part.does = Does::starts;
          break;
        case Effect::complete:
          if (std::find(completed.begin(), completed.end(), name) != completed.end()) part.does = Does::completes;
          break;
        default:
          if (out && !succeeded) continue;
          break;
      }
      parts.push_back(part);
    }
  }
  return parts;
}

const std::vector<ObjectUse> &RankObjects::see(const trace::Event &event, const analyze::RowScope &scope) {
  uses_.clear();
  layouts_.see(*event.values, scope);
  for (const Part &part : parts_of(event, scope)) {
    const auto key = std::pair(part.kind, part.name);
    auto found = objects_.find(key);
    Does does = part.does;
    if (does == Does::makes && part.if_new && found != objects_.end()) {
      does = Does::names;
      if (part.once_more) ++found->second.references;
    }
    if (does == Does::makes) {
      Object made;
      made.kind = part.kind;
      made.made = event.index;
      made.persistent = part.kind == spec::Kind::request && spec::functions()[event.values->function].persistent;
      found = objects_.insert_or_assign(key, made).first;
    }
    if (found == objects_.end()) continue;
    Object &object = found->second;
    if (part.kind == spec::Kind::datatype) object.layout = layouts_.of(part.name);
    if (does == Does::starts) object.started = event.index;
    uses_.push_back({part.parameter, part.place, does, part.name, object});
    if (uses_.back().is_gone()) {
      objects_.erase(found);
    } else if (does == Does::ends) {
      --object.references;
    } else if (does == Does::completes) {
      object.started.reset();
    }
  }
  return uses_;
}

std::vector<std::pair<HandleName, Object>> RankObjects::living() const {
  std::vector<std::pair<HandleName, Object>> all;
  for (const auto &[key, object] : objects_) all.emplace_back(key.second, object);
  return all;
}

}  // namespace cairn::objects
