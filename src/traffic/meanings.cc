#include "traffic/meanings.h"

#include <algorithm>
#include <string_view>

#include "spec/ids.h"

namespace cairn::traffic {
namespace {

using analyze::HandleName;
using analyze::RowAccess;

/// "window" of MPI_Win_create, "datatype" of MPI_Type_vector: it makes one of that kind.
bool makes(const spec::Function &function, spec::Kind kind) {
  for (size_t i = 0; i < function.parameter_count; ++i) {
    const spec::Parameter &parameter = function.parameters[i];
    if (parameter.kind == kind && parameter.effect == spec::Effect::create) return true;
  }
  return false;
}

bool is_size_of_type(const spec::Function &function) {
  return std::string_view(function.name).starts_with("MPI_Type_size");
}

enum class Makes : uint8_t { nothing, communicator, type, window, request, neighbors };

Makes what_it_makes(const spec::Function &function) {
  if (analyze::CommunicatorNames::makes_some(function.id)) return Makes::communicator;
  if (function.id == spec::function_id::Dist_graph_neighbors) return Makes::neighbors;
  if (makes(function, spec::Kind::window)) return Makes::window;
  if (is_size_of_type(function) || makes(function, spec::Kind::datatype)) return Makes::type;
  if (function.persistent && role_of(function.id) != Role::none) return Makes::request;
  return Makes::nothing;
}

Makes what_it_makes(uint32_t function) {
  static const std::vector<Makes> all = [] {
    std::vector<Makes> made;
    for (const spec::Function &each : spec::functions()) made.push_back(what_it_makes(each));
    return made;
  }();
  return function < all.size() ? all[function] : Makes::nothing;
}

bool same(const std::optional<Place> &a, const std::optional<Place> &b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return a->communicator == b->communicator;
}

bool same(const Traffic *a, const Traffic *b) {
  if (a == nullptr || b == nullptr) return a == b;
  const auto same_flow = [](const Flow &one, const Flow &other) {
    return one.kind == other.kind && one.from == other.from && one.to == other.to && one.bytes == other.bytes;
  };
  const bool same_use = a->collective.has_value() == b->collective.has_value() &&
                        (!a->collective || a->collective->bytes == b->collective->bytes);
  return a->function == b->function && a->nowhere == b->nowhere && same(a->place, b->place) && same_use &&
         std::equal(a->flows.begin(), a->flows.end(), b->flows.begin(), b->flows.end(), same_flow);
}

}  // namespace

bool Meanings::needs(uint32_t function) { return what_it_makes(function) != Makes::nothing; }

void Meanings::see(const trace::Row &row, const analyze::RowScope &scope, uint32_t class_index, const Asking &asking) {
  made_last_ = nullptr;
  const RowAccess access(row, scope);
  switch (what_it_makes(row.function)) {
    case Makes::nothing:
      return;
    case Makes::communicator:
      return see_communicator(row, access);
    case Makes::type:
      return see_type(row, access, scope);
    case Makes::request:
      return see_request(row, access, scope, class_index, asking);
    case Makes::window: {
      const auto window = access.handle("win");
      const auto over = access.handle("comm");
      if (!window || !over || !access.succeeded()) return;
      const auto place = communicator(*over);
      const auto [known, fresh] = windows_.try_emplace(*window, place);
      if (fresh || same(known->second, place)) return;
      known->second = place;
      stable_ = false;
      ++version_;
      return;
    }
    case Makes::neighbors: {
      const auto over = access.handle("comm");
      const auto place = over ? communicator(*over) : std::nullopt;
      if (place && place->communicator != nullptr) topologies_.asked(access, place->communicator->name);
      ++version_;
      return;
    }
  }
}

void Meanings::see_communicator(const trace::Row &row, const RowAccess &access) {
  const analyze::NewCommunicator *made = names_.see(row);
  if (made == nullptr) return;
  const auto numbers = analyze::CommunicatorNames::numbers(row);
  if (!numbers) return;
  topologies_.see(access, *made);
  const analyze::Communicator *communicator = members_->find(made->name);
  const auto [known, fresh] = communicators_.try_emplace(numbers->made, communicator);
  ++version_;
  if (fresh || known->second == communicator) return;
  known->second = communicator;
  stable_ = false;
}

void Meanings::see_type(const trace::Row &row, const RowAccess &access, const analyze::RowScope &scope) {
  sizes_.see(row, scope);
  if (!access.succeeded() || is_size_of_type(*access.function())) return;
  const auto type = access.handle("newtype");
  if (!type) return;
  const auto size = sizes_.datatype(*type);
  const auto [known, fresh] = types_.try_emplace(*type, size);
  ++version_;
  if (fresh || known->second == size) return;
  known->second = size;
  stable_ = false;
}

void Meanings::see_request(const trace::Row &row, const RowAccess &access, const analyze::RowScope &scope,
                           uint32_t class_index, const Asking &asking) {
  const auto request = access.handle("request");
  if (!request || !access.succeeded()) return;
  Made made{traffic_of(row, scope, *this, asking), class_index, std::make_shared<trace::Row>(row), true};
  const auto [known, fresh] = requests_.try_emplace(*request, made);
  if (!fresh) {
    // Filters may tell apart what moves the same.
    if (!same(known->second.traffic.get(), made.traffic.get()) || known->second.row->fields != row.fields) {
      stable_ = false;
    }
    known->second = std::move(made);
  }
  made_last_ = &known->second;
}

std::optional<Place> Meanings::communicator(const HandleName &name) const {
  if (name.constant() == spec::constant_id::k_COMM_WORLD) return members_->place(members_->world(rank_), rank_);
  if (name.constant() == spec::constant_id::k_COMM_SELF) return Place{nullptr, rank_, 0, 0, 0, 0};
  if (name.special != 0) return std::nullopt;
  const auto found = communicators_.find(name.number);
  if (found == communicators_.end() || found->second == nullptr) return std::nullopt;
  return members_->place(found->second, rank_);
}

std::optional<Place> Meanings::window(const HandleName &name) const {
  const auto found = windows_.find(name);
  return found == windows_.end() ? std::nullopt : found->second;
}

const Made *Meanings::request(const HandleName &name) const {
  const auto found = requests_.find(name);
  return found == requests_.end() ? nullptr : &found->second;
}

}  // namespace cairn::traffic
