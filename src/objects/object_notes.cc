#include "objects/object_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace cairn::objects {
namespace {

using analyze::Value;

std::string layout_text(const TypeLayout &layout) {
  std::string text = fmt::format(" {{size {}, extent {}", layout.size, layout.extent());
  if (layout.lower_bound != 0) text += fmt::format(", lb {}", layout.lower_bound);
  if (layout.true_lower_bound != layout.lower_bound || layout.true_extent() != layout.extent()) {
    text += fmt::format(", true extent {}", layout.true_extent());
    if (layout.true_lower_bound != 0) text += fmt::format(", true lb {}", layout.true_lower_bound);
  }
  return text + '}';
}

std::string text_of(const ObjectUse &use) {
  std::string text = fmt::format("@{}", use.object.made);
  if (use.object.started) text += fmt::format("/{}", *use.object.started);
  if (use.does == ObjectUse::Does::makes && use.object.layout != nullptr) text += layout_text(*use.object.layout);
  return text;
}

Value value_of(const ObjectUse &use) {
  Value record;
  record.kind = Value::Kind::record;
  const auto add = [&](const char *key, int64_t number) {
    record.keys.push_back(key);
    record.items.push_back(Value::integer(number));
  };
  add("made", static_cast<int64_t>(use.object.made));
  if (use.object.started) add("started", static_cast<int64_t>(*use.object.started));
  if (use.does == ObjectUse::Does::makes && use.object.layout != nullptr) {
    const TypeLayout &layout = *use.object.layout;
    add("size", layout.size);
    add("lower_bound", layout.lower_bound);
    add("extent", layout.extent());
    add("true_lower_bound", layout.true_lower_bound);
    add("true_extent", layout.true_extent());
  }
  return record;
}

/// Where the handle stands in an argument; nullptr: it is not there, which only a damaged trace does.
Value *handle_in(Value *value, bool array, uint32_t place) {
  if (value->kind == Value::Kind::change) value = value->items.data();
  if (array) {
    if (value->kind != Value::Kind::list || place >= value->items.size()) return nullptr;
    value = &value->items[place];
  }
  // A communicator that was made.
  if (value->kind == Value::Kind::record && !value->items.empty()) value = value->items.data();
  return value->kind == Value::Kind::symbol ? value : nullptr;
}

}  // namespace

void ObjectNotes::note(const trace::Event &event, analyze::Call *call) {
  const auto [scope, fresh] = scopes_.try_emplace(event.class_index);
  if (fresh) scope->second = {trace_.sites(event.class_index), event.thread};
  const auto &uses = objects_.see(event, scope->second);
  if (uses.empty() || call->function == nullptr) return;
  if (json_) call->objects.kind = Value::Kind::record;
  for (const ObjectUse &use : uses) {
    const spec::Parameter &parameter = call->function->parameters[use.parameter];
    const bool array = parameter.passing == spec::Passing::array;
    if (!json_) {
      const auto argument = std::find_if(call->arguments.begin(), call->arguments.end(),
                                         [&](const analyze::Argument &each) { return each.parameter == &parameter; });
      Value *handle = argument == call->arguments.end() ? nullptr : handle_in(&argument->value, array, use.place);
      if (handle != nullptr) handle->text += text_of(use);
      continue;
    }
    Value &objects = call->objects;
    if (objects.keys.empty() || objects.keys.back() != parameter.name) {
      objects.keys.push_back(parameter.name);
      objects.items.emplace_back();
      if (array) objects.items.back() = Value::list({});
    }
    if (!array) {
      objects.items.back() = value_of(use);
      continue;
    }
    auto &items = objects.items.back().items;
    items.resize(use.place);  // what is no object of the program's
    items.push_back(value_of(use));
  }
}

}  // namespace cairn::objects
