#include "check/living_objects.h"

#include <algorithm>
#include <string_view>

#include "analyze/outcome.h"

namespace cairn::check {
namespace {

using spec::Effect;

bool is_object(spec::Kind kind) {
  switch (kind) {
    case spec::Kind::comm:
    case spec::Kind::group:
    case spec::Kind::datatype:
    case spec::Kind::op:
    case spec::Kind::request:
    case spec::Kind::window:
    case spec::Kind::file:
    case spec::Kind::info:
    case spec::Kind::errhandler:
    case spec::Kind::keyval:
    case spec::Kind::session:
      return true;
    default:
      return false;
  }
}

/// What it gives need not, or must not, be freed.
bool gives_no_object(std::string_view function) {
  return function.starts_with("MPI_T_") || function.starts_with("MPI_Type_create_f90_") ||
         function.starts_with("MPI_Type_get_value_index") || function == "MPI_Type_match_size" ||
         function == "MPI_Comm_get_parent";
}

bool concerns_objects(const spec::Function &function) {
  const std::string_view name = function.name;
  if (gives_no_object(name)) return false;
  if (name.starts_with("MPI_Buffer_attach") || name.starts_with("MPI_Buffer_detach")) return true;
  for (size_t i = 0; i < function.parameter_count; ++i) {
    const spec::Parameter &parameter = function.parameters[i];
    if (is_object(parameter.kind) && parameter.effect != Effect::none && parameter.effect != Effect::commit)
      return true;
  }
  return false;
}

bool has_atom(const trace::Field *field, trace::Atom atom) {
  return field != nullptr && std::find(field->atoms.begin(), field->atoms.end(), atom) != field->atoms.end();
}

bool fills_a_buffer(const trace::Row &row) {
  const spec::Function &function = spec::functions()[row.function];
  for (size_t i = 0; i < function.parameter_count; ++i) {
    const spec::Kind kind = function.parameters[i].kind;
    if (kind == spec::Kind::buf_out || kind == spec::Kind::buf_inout) return true;
  }
  return false;
}

}  // namespace

bool makes(spec::Effect effect) {
  return effect == Effect::create || effect == Effect::create_if || effect == Effect::lookup;
}

const char *object_name(spec::Kind kind) {
  switch (kind) {
    case spec::Kind::comm:
      return "communicator";
    case spec::Kind::op:
      return "operator";
    case spec::Kind::errhandler:
      return "error handler";
    case spec::Kind::info:
      return "info object";
    case spec::Kind::pointer:
      return "attached buffer";
    default:
      return spec::kind_name(kind);
  }
}

bool LivingObjects::concerns(uint32_t function) {
  static const std::vector<bool> all = [] {
    std::vector<bool> found;
    for (const spec::Function &each : spec::functions()) found.push_back(concerns_objects(each));
    return found;
  }();
  return function < all.size() && all[function];
}

void LivingObjects::make(const Key &key, const trace::Row &row, const analyze::CallTime &call, uint64_t count) {
  Object &object = objects_[key];
  const bool another =
      object.made != 0 && (object.maker.class_index != call.class_index || object.maker.site != call.site);
  object.several_sites = object.several_sites || another;
  const bool there = object.made > object.released + object.completed;
  object.made += count;
  if (there && another) object.several_makers = true;
  if (!there) object.several_makers = false;
  if (!there) object.maker = call;
  if (key.first != spec::Kind::request) return;
  object.persistent = object.persistent || spec::functions()[row.function].persistent;
  object.sends = !fills_a_buffer(row);
  if (object.sends) senders_.emplace(call.class_index, call.site);
}

void LivingObjects::see(const trace::Row &row, const analyze::RowScope &scope, const analyze::CallTime &call,
                        uint64_t count) {
  if (!concerns(row.function)) return;
  const analyze::RowAccess access(row, scope);
  const spec::Function &function = *access.function();
  const bool succeeded = access.succeeded();
  const std::string_view name = function.name;
  const Key buffer{spec::Kind::pointer, {}};
  if (succeeded && name.starts_with("MPI_Buffer_attach")) make(buffer, row, call, count);
  if (succeeded && name.starts_with("MPI_Buffer_detach")) objects_[buffer].released += count;
  bool completes = false;
  for (size_t i = 0; i < function.parameter_count; ++i) {
    const spec::Parameter &parameter = function.parameters[i];
    if (!is_object(parameter.kind)) continue;
    if (parameter.effect == Effect::complete) {
      completes = true;
      const trace::Field *which =
          function.completed == 0 ? nullptr : access.field(function.parameters[function.completed - 1].name);
      if (has_atom(access.field(parameter.name), trace::kAsLeft) || has_atom(which, trace::kUnknown)) sure_ = false;
    }
    if (!succeeded || parameter.effect == Effect::none) continue;
    for (const analyze::HandleName &handle : access.handles(parameter.name)) {
      if (handle.special != 0) continue;
      const Key key{parameter.kind, handle};
      if (makes(parameter.effect) && parameter.direction != spec::Direction::in) make(key, row, call, count);
      if (parameter.effect == Effect::release) objects_[key].released += count;
      if (parameter.effect == Effect::start) objects_[key].started += count;
    }
  }
  if (!completes) return;
  const auto message = analyze::message_call(row, scope);
  if (analyze::outcome_of(row).kind == analyze::Outcome::Kind::failed) {
    failed_later_ = true;
    for (size_t i = 0; i < function.parameter_count; ++i) {
      if (function.parameters[i].effect != Effect::complete) continue;
      for (const analyze::HandleName &handle : access.handles(function.parameters[i].name)) {
        if (handle.special == 0) objects_[{spec::Kind::request, handle}].unknown = true;
      }
    }
    return;
  }
  if (message == nullptr || message->does != analyze::MessageCall::Does::complete) return;
  for (const analyze::HandleName &handle : message->requests) {
    if (handle.special == 0) objects_[{spec::Kind::request, handle}].completed += count;
  }
}

bool LivingObjects::sure() const {
  return sure_ && std::none_of(objects_.begin(), objects_.end(), [](const auto &each) {
           const Object &object = each.second;
           return each.first.first == spec::Kind::comm && object.several_sites && object.made > object.released;
         });
}

std::vector<LivingObjects::Left> LivingObjects::left() const {
  std::vector<Left> all;
  for (const auto &[key, object] : objects_) {
    if (object.unknown) continue;
    // What MPI_Comm_idup was to make may not be there.
    const bool later =
        key.first != spec::Kind::request && object.made != 0 && spec::functions()[object.maker.function].nonblocking;
    if (later && failed_later_) continue;
    const uint64_t ended = object.released + (object.persistent ? 0 : object.completed);
    if (object.made > ended) {
      const bool other = object.sends && !object.persistent && senders_.size() > 1;
      all.push_back({key.first, false, !other && !object.several_makers, object.made - ended, object.maker});
    }
    if (object.persistent && object.started > object.completed + object.released) {
      all.push_back({key.first, true, true, 1, object.maker});
    }
  }
  return all;
}

}  // namespace cairn::check
