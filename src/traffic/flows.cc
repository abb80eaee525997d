#include "traffic/flows.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "analyze/function_table.h"
#include "analyze/outcome.h"
#include "analyze/volume.h"
#include "base/as_size.h"
#include "base/saturating.h"
#include "traffic/meanings.h"

namespace cairn::traffic {
namespace {

using analyze::RowAccess;

Role find_role(const spec::Function &function) {
  static const std::map<std::string, Role, std::less<>> roles = {
      {"Send", Role::send},
      {"Bsend", Role::send},
      {"Ssend", Role::send},
      {"Rsend", Role::send},
      {"Sendrecv", Role::exchange},
      {"Sendrecv_replace", Role::replace},
      {"Psend", Role::partitions},
      {"Put", Role::put},
      {"Rput", Role::put},
      {"Accumulate", Role::put},
      {"Raccumulate", Role::put},
      {"Get", Role::get},
      {"Rget", Role::get},
      {"Get_accumulate", Role::both},
      {"Rget_accumulate", Role::both},
      {"Fetch_and_op", Role::fetch},
      {"Compare_and_swap", Role::swap},
      {"Start", Role::start},
      {"Startall", Role::start},
  };
  const auto found = roles.find(analyze::operation(function));
  if (found != roles.end()) return found->second;
  if (analyze::is_collective(function) && !spec::makes_communicator(function)) return Role::collective;
  return Role::none;
}

/// Parameters that say how much goes to whom.
bool tells(Role role, std::string_view name) {
  const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  switch (role) {
    case Role::none:
      return false;
    case Role::send:
    case Role::replace:
      return is_one_of({"dest", "count", "datatype", "comm"});
    case Role::exchange:
      return is_one_of({"dest", "sendcount", "sendtype", "comm"});
    case Role::partitions:
      return is_one_of({"dest", "partitions", "count", "datatype", "comm"});
    case Role::put:
    case Role::get:
      return is_one_of({"target_rank", "origin_count", "origin_datatype", "win"});
    case Role::both:
      return is_one_of(
          {"target_rank", "origin_count", "origin_datatype", "result_count", "result_datatype", "op", "win"});
    case Role::fetch:
    case Role::swap:
      return is_one_of({"target_rank", "datatype", "op", "win"});
    case Role::collective:
      return is_one_of({"count", "datatype", "sendcount", "sendtype", "sendcounts", "sendtypes", "recvcount",
                        "recvtype", "recvcounts", "recvtypes", "root", "comm"});
    case Role::start:
      return is_one_of({"request", "array_of_requests"});
  }
  return false;
}

/// What moves is `count` elements, once.
bool sends_elements(Role role) { return role == Role::send || role == Role::replace; }

class CallReading {
 public:
  CallReading(const trace::Row &row, const analyze::RowScope &scope, const Meanings &meanings, const Asking &asking)
      : row_(row), scope_(scope), access_(row, scope), meanings_(meanings), asking_(asking) {}

  std::shared_ptr<const Traffic> read() {
    const Role role = role_of(row_.function);
    if (role == Role::none || role == Role::start || !happened(row_)) return nullptr;
    made_.function = row_.function;
    const auto object = access_.handle(role == Role::collective || access_.has("comm") ? "comm" : "win");
    if (object) made_.place = access_.has("win") ? meanings_.window(*object) : meanings_.communicator(*object);
    switch (role) {
      case Role::none:
      case Role::start:
        break;
      case Role::send:
      case Role::replace:
        to("dest", elements("count", "datatype"), Kind::message);
        break;
      case Role::exchange:
        to("dest", elements("sendcount", "sendtype"), Kind::message);
        break;
      case Role::partitions:
        to("dest", times(elements("count", "datatype"), access_.number("partitions")), Kind::message);
        break;
      case Role::put:
        to("target_rank", elements("origin_count", "origin_datatype"), Kind::onesided);
        break;
      case Role::get:
        from("target_rank", elements("origin_count", "origin_datatype"));
        break;
      case Role::both:
        if (!only_reads()) to("target_rank", elements("origin_count", "origin_datatype"), Kind::onesided);
        from("target_rank", elements("result_count", "result_datatype"));
        break;
      case Role::fetch:
        if (!only_reads()) to("target_rank", size_of("datatype"), Kind::onesided);
        from("target_rank", size_of("datatype"));
        break;
      case Role::swap:
        // The value to compare with and the one to put there.
        to("target_rank", times(size_of("datatype"), 2), Kind::onesided);
        from("target_rank", size_of("datatype"));
        break;
      case Role::collective:
        collective();
        break;
    }
    if (made_.flows.empty() && !made_.collective && made_.nowhere == 0) return nullptr;
    return std::make_shared<const Traffic>(std::move(made_));
  }

 private:
  [[nodiscard]] bool only_reads() const { return access_.constant("op") == "MPI_NO_OP"; }

  static std::optional<uint64_t> times(std::optional<uint64_t> a, std::optional<int64_t> b) {
    uint64_t result = 0;
    if (b && *b == 0) return 0;
    if (!a || !b || *b < 0 || __builtin_mul_overflow(*a, static_cast<uint64_t>(*b), &result)) return std::nullopt;
    return result;
  }
  [[nodiscard]] std::optional<uint64_t> size_of(const char *type) const {
    const auto handle = access_.handle(type);
    const auto size = handle ? meanings_.sizes().datatype(*handle) : std::nullopt;
    return size && *size >= 0 ? std::optional<uint64_t>(static_cast<uint64_t>(*size)) : std::nullopt;
  }
  [[nodiscard]] std::optional<uint64_t> elements(const char *count, const char *type) const {
    return times(size_of(type), access_.number(count));
  }

  /// The process that a parameter names; nullopt: nobody, or not known, which is counted.
  std::optional<uint32_t> peer(const char *name) {
    if (access_.constant(name) == "MPI_PROC_NULL") return std::nullopt;
    const auto rank = access_.number(name);
    const auto found = made_.place && rank ? made_.place->in_world(*rank) : std::nullopt;
    if (!found) ++made_.nowhere;
    return found;
  }
  void to(const char *name, std::optional<uint64_t> bytes, Kind kind) {
    if (const auto there = peer(name)) made_.flows.push_back({kind, meanings_.rank(), *there, bytes});
  }
  void from(const char *name, std::optional<uint64_t> bytes) {
    if (const auto there = peer(name)) made_.flows.push_back({Kind::onesided, *there, meanings_.rank(), bytes});
  }

  void collective() {
    const auto call = analyze::collective_of(row_, scope_, meanings_.sizes());
    if (call == nullptr || !made_.place) {
      made_.nowhere = call == nullptr ? 0 : 1;
      return;
    }
    const Place &place = *made_.place;
    if (call->operation == analyze::Operation::neighbors) return neighbors(*call, place);
    made_.collective =
        CollectiveUse{call->sizes_known ? std::optional(given(*call, place)) : std::nullopt,
                      static_cast<uint32_t>(place.own_size() + (place.is_inter() ? place.peer_size() : 0))};
    if (!asking_.expanded || call->aside) return;
    if (!place.complete()) {
      ++made_.nowhere;
      return;
    }
    definition(*call, place);
  }

  void neighbors(const analyze::Collective &call, const Place &place) {
    const auto known =
        place.communicator == nullptr ? std::nullopt : meanings_.topologies().of(place.communicator->name, place.own);
    if (!known) {
      ++made_.nowhere;
      return;
    }
    // Which amount is whose is not known where their order is not.
    const auto are_alike = [](const auto &all) {
      return std::all_of(all.begin(), all.end(), [&](const auto &each) { return each == all.front(); });
    };
    const bool told = known->ordered || are_alike(call.sends) || are_alike(known->destinations);
    for (size_t i = 0; i < known->destinations.size(); ++i) {
      if (known->destinations[i] < 0) continue;
      const auto there = place.in_world(known->destinations[i]);
      if (!there) {
        ++made_.nowhere;
        continue;
      }
      made_.flows.push_back({Kind::neighbor, place.rank, *there, told ? amount(call, call.sends, i) : std::nullopt});
    }
  }
  /// For the i-th of several, or for each of them.
  static std::optional<uint64_t> amount(const analyze::Collective &call, const std::vector<uint64_t> &each, size_t i) {
    if (!call.sizes_known) return std::nullopt;
    if (each.size() == 1) return each[0];
    return i < each.size() ? each[as_size(i)] : 0;
  }
  static uint64_t sum(const std::vector<uint64_t> &amounts) {
    uint64_t all = 0;
    for (const uint64_t each : amounts) add_to(&all, each);
    return all;
  }

  /// See CollectiveUse::bytes.
  static uint64_t given(const analyze::Collective &call, const Place &place) {
    using analyze::Operation;
    if (call.aside) return 0;
    const bool root = is_root(call, place);
    const uint64_t others = place.peer_size();
    switch (call.operation) {
      case Operation::barrier:
        return 0;
      case Operation::scatter:
      case Operation::alltoall:
        return call.operation == Operation::scatter && !root ? call.bytes : saturating_product(call.bytes, others);
      case Operation::scatterv:
        return root ? sum(call.sends) : call.bytes;
      case Operation::alltoallv:
        return sum(call.sends);
      case Operation::gatherv:
      case Operation::allgatherv:
        return own_block(call, place);
      case Operation::reduce:
        return call.is_root ? 0 : call.bytes;  // of two groups the root is given to
      case Operation::reduce_scatter:
        return call.receives.empty() ? saturating_product(call.bytes, others) : sum(call.receives);
      default:
        return call.bytes;
    }
  }
  static bool is_root(const analyze::Collective &call, const Place &place) {
    return place.is_inter() ? call.is_root : call.root && *call.root == int64_t{place.own};
  }
  /// Of an operation with a block for each process; in place it stands among what is received.
  static uint64_t own_block(const analyze::Collective &call, const Place &place) {
    if (call.bytes != 0 || place.is_inter() || place.own >= call.receives.size()) return call.bytes;
    return call.receives[place.own];
  }

  /// What the operation is by its definition, as far as this process sends.
  void definition(const analyze::Collective &call, const Place &place) {
    using analyze::Operation;
    const bool root = is_root(call, place);
    const auto of_all = [&](uint64_t) { return known(call, call.bytes); };
    switch (call.operation) {
      case Operation::barrier:
        return to_each(place, [](uint64_t) { return std::optional<uint64_t>(0); });
      case Operation::bcast:
      case Operation::scatter:
        return root ? to_each(place, of_all) : void();
      case Operation::scatterv:
        return root ? to_each(place, [&](uint64_t i) { return at(call, call.sends, i); }) : void();
      case Operation::gather:
      case Operation::gatherv:
      case Operation::reduce:
        if (root || !call.root) return;
        if (const auto there = place.in_world(*call.root)) {
          made_.flows.push_back({Kind::collective, place.rank, *there, known(call, call.bytes)});
        }
        return;
      case Operation::allgatherv:
        return to_each(place, [&](uint64_t) { return known(call, own_block(call, place)); });
      case Operation::allgather:
      case Operation::alltoall:
      case Operation::allreduce:
        return to_each(place, of_all);
      case Operation::alltoallv:
        return to_each(place, [&](uint64_t i) { return at(call, call.sends, i); });
      case Operation::reduce_scatter:
        // Between two groups the blocks are those of the sender's own group.
        if (place.is_inter()) return to_each(place, [&](uint64_t) { return std::optional<uint64_t>(); });
        return to_each(place, [&](uint64_t i) {
          return call.receives.empty() ? known(call, call.bytes) : at(call, call.receives, i);
        });
      case Operation::scan:
      case Operation::exscan:
        return to_each(place, of_all, place.own + 1);
      case Operation::neighbors:
        return;
    }
  }
  static std::optional<uint64_t> known(const analyze::Collective &call, uint64_t bytes) {
    return call.sizes_known ? std::optional(bytes) : std::nullopt;
  }
  static std::optional<uint64_t> at(const analyze::Collective &call, const std::vector<uint64_t> &each, uint64_t i) {
    return known(call, i < each.size() ? each[as_size(i)] : 0);
  }
  template <typename Bytes>
  void to_each(const Place &place, const Bytes &bytes, uint64_t first = 0) {
    for (uint64_t i = first; i < place.peer_size(); ++i) {
      if (!place.is_inter() && i == place.own) continue;
      if (const auto there = place.in_world(static_cast<int64_t>(i))) {
        made_.flows.push_back({Kind::collective, place.rank, *there, bytes(i)});
      }
    }
  }

  const trace::Row &row_;
  const analyze::RowScope &scope_;
  RowAccess access_;
  const Meanings &meanings_;
  const Asking &asking_;
  Traffic made_;
};

}  // namespace

Given Traffic::given_by(uint32_t rank) const {
  Given given;
  const auto add = [&given](const std::optional<uint64_t> &bytes) {
    add_to(&given.bytes, bytes.value_or(0));
    if (!bytes) ++given.unsized;
  };
  if (collective) add(collective->bytes);
  for (const Flow &flow : flows) {
    if (flow.from == rank) add(flow.bytes);
  }
  return given;
}

const char *word_of(Kind kind) {
  switch (kind) {
    case Kind::message:
      return "message";
    case Kind::neighbor:
      return "neighbour";
    case Kind::onesided:
      return "onesided";
    case Kind::collective:
      return "collective";
  }
  return "";
}

const char *kind_name(Kind kind) {
  switch (kind) {
    case Kind::message:
      return "messages";
    case Kind::neighbor:
      return "neighbours";
    case Kind::onesided:
      return "one-sided";
    case Kind::collective:
      return "collectives";
  }
  return "";
}

Role role_of(uint32_t function) {
  static const std::vector<Role> roles = analyze::function_table(find_role);
  return function < roles.size() ? roles[function] : Role::none;
}

std::optional<size_t> elements_of(uint32_t function) {
  static const auto elements = analyze::function_table([](const spec::Function &of) -> std::optional<size_t> {
    for (size_t i = 0; i < of.parameter_count && sends_elements(role_of(of.id)); ++i) {
      if (std::string_view(of.parameters[i].name) == "count") return i;
    }
    return std::nullopt;
  });
  return function < elements.size() ? elements[function] : std::nullopt;
}

bool happened(const trace::Row &row) {
  if (row.fields.empty()) return false;
  const analyze::Outcome::Kind kind = analyze::outcome_of(row.function, row.fields.back()).kind;
  return kind == analyze::Outcome::Kind::succeeded || kind == analyze::Outcome::Kind::pending;
}

trace::AskedFields asked_of(uint32_t function, bool all, const Told &told) {
  const Role role = role_of(function);
  if (role == Role::none) return {};
  const spec::Function &of = spec::functions()[function];
  trace::AskedFields asked;
  for (size_t i = 0; i < of.parameter_count; ++i) {
    const spec::Parameter &parameter = of.parameters[i];
    const bool buffer = parameter.layout == spec::Layout::address;
    trace::Asked how = tells(role, parameter.name) || (all && !buffer) ? trace::Asked::yes : trace::Asked::no;
    if (role == Role::collective && buffer) how = trace::Asked::constant;  // MPI_IN_PLACE
    if (told.sums && i == elements_of(function)) how = trace::Asked::sum;
    if (told.anybody && sends_elements(role) && std::string_view(parameter.name) == "dest") {
      how = trace::Asked::constant;
    }
    asked.push_back(how);
  }
  asked.push_back(trace::Asked::yes);  // what it returned
  return asked;
}

std::shared_ptr<const Traffic> traffic_of(const trace::Row &row, const analyze::RowScope &scope,
                                          const Meanings &meanings, const Asking &asking) {
  return CallReading(row, scope, meanings, asking).read();
}

}  // namespace cairn::traffic
