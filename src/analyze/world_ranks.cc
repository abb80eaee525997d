#include "analyze/world_ranks.h"

#include <fmt/format.h>

#include <string_view>

#include "base/as_size.h"
#include "spec/ids.h"

namespace cairn::analyze {
namespace {

using spec::Kind;

bool belongs_to_communicator(Kind kind) {
  return kind == Kind::request || kind == Kind::window || kind == Kind::message;
}

/// Of an object that a call changed, as it was before.
const Value &before(const Value &value) { return value.kind == Value::Kind::change ? value.items.front() : value; }

}  // namespace

const std::string &WorldRanks::owner(const Value &object) const {
  static const std::string unknown;
  const auto found = owners_.find(before(object).text);
  return found == owners_.end() ? unknown : found->second;
}

void WorldRanks::translate(Value *value, const std::string &communicator, Side side) const {
  if (value->kind == Value::Kind::list) {
    for (Value &item : value->items) translate(&item, communicator, side);
    return;
  }
  if (value->kind != Value::Kind::integer || communicator == "MPI_COMM_WORLD") return;
  if (communicator == "MPI_COMM_SELF") {
    value->number = rank_;
    return;
  }
  const Communicator *found = communicators_->find(communicator);
  const auto there = found == nullptr ? std::nullopt : world_rank(*found, value->number, rank_, side);
  if (there) {
    value->number = *there;
  } else {
    *value = Value::symbol(fmt::format("{} of {}", value->number, communicator.empty() ? "?" : communicator));
  }
}

void WorldRanks::translate_statuses(Call *call, const std::string &communicator) {
  Value *requests = nullptr;
  Value *indices = nullptr;
  for (Argument &argument : call->arguments) {
    const spec::Parameter *parameter = argument.parameter;
    if (parameter->kind == Kind::request || parameter->kind == Kind::message) requests = &argument.value;
    if (parameter->kind == Kind::index) indices = &argument.value;
  }
  /// Of the status at that place.
  const auto of = [&](size_t place) -> std::string {
    if (!communicator.empty()) return communicator;
    if (requests == nullptr) return {};
    const Value &list = before(*requests);
    if (list.kind != Value::Kind::list) return owner(list);
    if (indices != nullptr && indices->kind == Value::Kind::integer) place = as_size(indices->number);
    if (indices != nullptr && indices->kind == Value::Kind::list) {
      if (place >= indices->items.size()) return {};
      place = as_size(indices->items[place].number);
    }
    return place < list.items.size() ? owner(list.items[place]) : std::string();
  };
  for (Argument &argument : call->arguments) {
    const spec::Parameter *parameter = argument.parameter;
    if (parameter->kind != Kind::status || parameter->direction == spec::Direction::in) continue;
    Value &value = argument.value;
    if (value.kind == Value::Kind::record && !value.items.empty()) translate(value.items.data(), of(0), Side::other);
    if (value.kind != Value::Kind::list) continue;
    for (size_t i = 0; i < value.items.size(); ++i) {
      Value &status = value.items[i];
      if (status.kind == Value::Kind::record && !status.items.empty()) {
        translate(status.items.data(), of(i), Side::other);
      }
    }
  }
}

void WorldRanks::translate(Call *call) {
  if (call->function == nullptr) return;
  const spec::Function &function = *call->function;
  std::string communicator;  // the call's: its first, or its window's
  for (const Argument &argument : call->arguments) {
    const spec::Parameter *parameter = argument.parameter;
    if (parameter->direction == spec::Direction::out || !communicator.empty()) continue;
    if (parameter->kind == Kind::comm) communicator = before(argument.value).text;
    if (parameter->kind == Kind::window) communicator = owner(argument.value);
  }
  for (Argument &argument : call->arguments) {
    const spec::Parameter *parameter = argument.parameter;
    const std::string_view name = parameter->name;
    // What MPI_Cart_map and MPI_Graph_map give is a place in a topology that is not made.
    if (parameter->kind == Kind::rank && !communicator.empty() && name != "newrank") {
      // MPI_Intercomm_create: in the communicator of those that call, and in one that both leaders are in.
      std::string in = communicator;
      if (name == "remote_leader") {
        for (const Argument &other : call->arguments) {
          if (std::string_view(other.name) == "peer_comm") in = other.value.text;
        }
      }
      translate(&argument.value, in, function.id == spec::function_id::Comm_rank ? Side::own : Side::other);
    }
    // What was made or found over the communicator.
    if (belongs_to_communicator(parameter->kind) && !communicator.empty() &&
        parameter->direction != spec::Direction::in && argument.value.kind == Value::Kind::symbol) {
      owners_[argument.value.text] = communicator;
    }
  }
  const bool is_message = argument(*call, Kind::message) != nullptr;
  translate_statuses(call, communicator.empty() || is_message ? std::string() : communicator);
  if (is_message) {
    // A request over a message is of the message's communicator.
    const Value *message = argument(*call, Kind::message);
    const Value *request = argument(*call, Kind::request);
    if (message != nullptr && request != nullptr) owners_[request->text] = owner(*message);
  }
}

const Value *WorldRanks::argument(const Call &call, spec::Kind kind) const {
  for (const Argument &each : call.arguments) {
    if (each.parameter->kind == kind) return &each.value;
  }
  return nullptr;
}

}  // namespace cairn::analyze
