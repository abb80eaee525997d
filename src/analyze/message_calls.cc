#include "analyze/message_calls.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "analyze/function_table.h"
#include "analyze/volume.h"
#include "base/as_size.h"
#include "spec/ids.h"
#include "trace/model/status_field.h"
#include "trace/values/atom_reader.h"

namespace cairn::analyze {
namespace {

using spec::Kind;
using trace::AtomReader;
using trace::AtomValue;

/// What a function is, by its operation ("Send" for MPI_Isend, MPI_Send_init and MPI_Send_c).
enum class Role : uint8_t {
  none,
  send,
  receive,
  both,
  look,   ///< at a message that stays where it is
  probe,  ///< for one that is taken out of the queue
  take,
  start,
  ready,
  complete,
  cancel,
  release,
  barrier,    ///< everybody waits for everybody
  to_all,     ///< everybody waits for everybody who sends it something
  from_root,  ///< everybody waits for the root
  to_root,    ///< the root waits for everybody who sends it something
  along,      ///< each waits for those of lower ranks
};

Role role_of(const spec::Function &function) {
  static constexpr std::pair<std::string_view, Role> kByOperation[] = {
      {"Send", Role::send},
      {"Bsend", Role::send},
      {"Ssend", Role::send},
      {"Rsend", Role::send},
      {"Recv", Role::receive},
      {"Sendrecv", Role::both},
      {"Sendrecv_replace", Role::both},
      {"Probe", Role::look},
      {"Iprobe", Role::look},
      {"Mprobe", Role::probe},
      {"Improbe", Role::probe},  // which is no nonblocking form: it makes no request
      {"Mrecv", Role::take},
      {"Psend", Role::send},
      {"Precv", Role::receive},
      {"Start", Role::start},
      {"Startall", Role::start},
      {"Pready", Role::ready},
      {"Pready_range", Role::ready},
      {"Pready_list", Role::ready},
      {"Cancel", Role::cancel},
      {"Request_free", Role::release},
      {"Barrier", Role::barrier},
      {"Allgather", Role::to_all},
      {"Allgatherv", Role::to_all},
      {"Allreduce", Role::to_all},
      {"Alltoall", Role::to_all},
      {"Alltoallv", Role::to_all},
      {"Alltoallw", Role::to_all},
      {"Reduce_scatter", Role::to_all},
      {"Reduce_scatter_block", Role::to_all},
      {"Bcast", Role::from_root},
      {"Scatter", Role::from_root},
      {"Scatterv", Role::from_root},
      {"Gather", Role::to_root},
      {"Gatherv", Role::to_root},
      {"Reduce", Role::to_root},
      {"Scan", Role::along},
      {"Exscan", Role::along},
  };
  if (completes_requests(function)) return Role::complete;
  const std::string &name = operation(function);
  const auto *const found = std::find_if(std::begin(kByOperation), std::end(kByOperation),
                                         [&name](const auto &each) { return each.first == name; });
  return found == std::end(kByOperation) ? Role::none : found->second;
}

Role role_of(uint32_t function) {
  static const auto all = function_table([](const spec::Function &each) { return role_of(each); });
  return function < all.size() ? all[function] : Role::none;
}

/// Every process gives it, and it is the same for each form of the operation.
uint32_t operation_number(const spec::Function &function) {
  static std::map<std::string, uint32_t> numbers = [] {
    std::map<std::string, uint32_t> made;
    for (const spec::Function &each : spec::functions()) made.try_emplace(operation(each), each.id);
    return made;
  }();
  return numbers.at(operation(function));
}

/// The communicator whose members make such calls together; nullptr: there is none.
const spec::Parameter *met_over(const spec::Function &function) {
  if (!function.collective || function.scope == 0 || function.scope > function.parameter_count) return nullptr;
  const spec::Parameter &over = function.parameters[function.scope - 1];
  return over.kind == Kind::comm ? &over : nullptr;
}

/// The communicator that a call makes of processes that have none in common, or not all of one: who made it met there.
/// nullptr: none.
const spec::Parameter *met_over_new(const spec::Function &function) {
  if (!function.collective || function.members == spec::Members::beyond_world || function.scope == 0 ||
      function.scope > function.parameter_count) {
    return nullptr;
  }
  const bool beyond =
      function.members == spec::Members::beyond_scope || function.parameters[function.scope - 1].kind == Kind::group;
  const auto *const end = function.parameters + function.parameter_count;
  const auto *const made = std::find_if(function.parameters, end, spec::is_new_communicator);
  return beyond && made != end ? made : nullptr;
}

class Reading {
 public:
  Reading(const trace::Row &row, const RowScope &scope)
      : access_(row, scope), function_(*access_.function()), role_(role_of(row.function)) {
    returned_ = row.fields.empty() || row.fields.back().atoms != std::vector<trace::Atom>{trace::kNoReturn};
  }

  std::unique_ptr<MessageCall> meeting() {
    const spec::Parameter *over = met_over_new(function_);
    if (over == nullptr) over = met_over(function_);
    made_.failed = returned_ && !access_.succeeded();
    if (over == nullptr || (role_ != Role::none && !made_.failed)) return nullptr;
    made_.returned = returned_;
    made_.does = MessageCall::Does::collective;
    made_.communicator = access_.handle(over->name);
    made_.request = given(spec::Effect::create, Kind::request);
    made_.persistent = function_.persistent;
    made_.operation = operation_number(function_);
    made_.root = access_.number("root");
    made_.awaits_neighbors = is_among_neighbors(function_.id);
    made_.customary = meets_by_custom(function_.id);
    made_.awaited.all = made_.customary && !made_.failed;
    made_.awaited_at_root = made_.awaited;  // of MPI_Comm_spawn
    if (!made_.communicator) return nullptr;
    return std::make_unique<MessageCall>(std::move(made_));
  }

  std::unique_ptr<MessageCall> call() {
    made_.returned = returned_;
    const bool good = access_.succeeded() || !returned_;
    if (!good && role_ != Role::complete && role_ != Role::receive && role_ != Role::take && role_ != Role::both) {
      return nullptr;
    }
    made_.communicator = access_.handle("comm");
    made_.request = given(spec::Effect::create, Kind::request);
    made_.persistent = function_.persistent;
    if (const auto number = access_.number("partitions")) made_.partitions = as_count(*number);
    bool does = false;
    switch (role_) {
      case Role::none:
        break;
      case Role::send:
        does = envelope("dest", "tag", &made_.send);
        break;
      case Role::receive:
        does = envelope("source", "tag", &made_.receive);
        break;
      case Role::both:
        does = envelope("dest", "sendtag", &made_.send);
        does = envelope("source", "recvtag", &made_.receive) || does;
        break;
      case Role::look:
        made_.does = MessageCall::Does::seek;
        does = returned_ && access_.number("flag").value_or(1) != 0 && envelope("source", "tag", &made_.receive);
        break;
      case Role::probe:
        made_.found = access_.handle("message");
        does = made_.found && made_.found->special == 0 && envelope("source", "tag", &made_.receive);
        break;
      case Role::take:
        made_.taken = access_.handle("message");
        does = made_.taken && made_.taken->special == 0;
        break;
      case Role::start:
        does = requests(MessageCall::Does::start);
        break;
      case Role::ready:
        made_.partitions = partitions();
        does = requests(MessageCall::Does::ready);
        break;
      case Role::cancel:
        does = requests(MessageCall::Does::cancel);
        break;
      case Role::release:
        does = requests(MessageCall::Does::release);
        break;
      case Role::complete:
        does = returned_ && completes();
        break;
      default:
        does = collective();
    }
    if (!does) return nullptr;
    if ((made_.receive || made_.taken) && !made_.request) {
      if (const std::vector<MessageOutcome> told = outcomes_of(access_, 1); !told.empty()) made_.outcome = told[0];
    }
    return std::make_unique<MessageCall>(std::move(made_));
  }

 private:
  [[nodiscard]] const spec::Parameter *parameter(Kind kind) const { return parameter_of(function_, kind); }
  [[nodiscard]] std::optional<HandleName> given(spec::Effect effect, Kind kind) const {
    const spec::Parameter *of_kind = parameter(kind);
    return of_kind != nullptr && of_kind->effect == effect ? access_.handle(of_kind->name) : std::nullopt;
  }

  /// False if there is no such message.
  bool envelope(const char *peer, const char *tag, std::optional<Envelope> *made) {
    const std::string_view special = access_.constant(peer);
    Envelope found{access_.number(peer), access_.number(tag)};
    if (!found.rank && special != "MPI_ANY_SOURCE") return false;  // MPI_PROC_NULL
    *made = found;
    return true;
  }

  bool requests(MessageCall::Does does) {
    made_.does = does;
    const spec::Parameter *array = parameter(Kind::request);
    if (array != nullptr) made_.requests = access_.handles(array->name);
    return !made_.requests.empty();
  }

  static uint64_t as_count(int64_t number) { return number < 0 ? 0 : static_cast<uint64_t>(number); }

  /// How many of them the call says are ready.
  [[nodiscard]] uint64_t partitions() const {
    const auto low = access_.number("partition_low");
    const auto high = access_.number("partition_high");
    if (low && high && *low >= 0) return *high < *low ? 0 : as_count(*high - *low) + 1;
    if (const auto several = access_.numbers("array_of_partitions")) return several->size();
    return access_.number("partition") ? 1 : 0;
  }

  /// What a test or wait completed of its requests.
  bool completes() {
    if (!requests(MessageCall::Does::complete)) return false;
    if (function_.answer != 0 && access_.succeeded()) {
      const char *answer = function_.parameters[function_.answer - 1].name;
      if (access_.number(answer).value_or(0) == 0) return false;
    }
    if (function_.completed != 0) {
      const auto places = access_.numbers(function_.parameters[function_.completed - 1].name);
      if (!places) return false;  // none of its requests was active
      std::vector<HandleName> done;
      for (const int64_t place : *places) {
        if (as_size(place) >= made_.requests.size()) return false;
        done.push_back(made_.requests[as_size(place)]);
      }
      made_.requests = std::move(done);
    }
    made_.outcomes = outcomes_of(access_, made_.requests.size());
    MessageOutcome untold;
    const spec::Parameter *status = parameter(Kind::status);
    if (const trace::Field *field = status == nullptr ? nullptr : access_.field(status->name); field != nullptr) {
      const auto statuses = trace::StatusField::of(*field);
      untold.as_asked = statuses.ignored && statuses.implied && access_.succeeded();
    }
    made_.outcomes.resize(made_.requests.size(), untold);
    return !made_.requests.empty();
  }

  /// How much of something is moved; nothing where the call does not say.
  [[nodiscard]] std::vector<int64_t> amounts(const char *each, const char *one) const {
    if (auto several = access_.numbers(each)) return *std::move(several);
    if (const auto single = access_.number(one)) return {*single};
    return {};
  }
  /// Of everybody who sends something, by how much comes from each.
  static Awaited senders(const std::vector<int64_t> &amounts) {
    Awaited awaited;
    awaited.all = std::all_of(amounts.begin(), amounts.end(), [](int64_t amount) { return amount > 0; });
    for (size_t i = 0; i < amounts.size() && !awaited.all; ++i) {
      if (amounts[i] > 0) awaited.ranks.push_back(static_cast<uint32_t>(i));
    }
    if (amounts.empty()) awaited.all = false;
    return awaited;
  }

  bool collective() {
    made_.does = MessageCall::Does::collective;
    made_.operation = operation_number(function_);
    made_.root = access_.number("root");
    made_.is_root = access_.constant("root") == "MPI_ROOT";
    const bool reduces = access_.has("op");
    // An array of amounts tells, at an operation that reduces, how much of the sum each process gets.
    std::vector<int64_t> received = amounts("recvcounts", access_.has("recvcount") ? "recvcount" : "count");
    if (reduces && received.size() > 1) {
      received = {std::all_of(received.begin(), received.end(), [](int64_t amount) { return amount > 0; }) ? 1 : 0};
    }
    if (role_ == Role::barrier) {
      made_.awaited.all = true;
    } else if (role_ == Role::to_all) {
      made_.awaited = senders(received);
    } else if (role_ == Role::to_root) {
      made_.awaited_at_root = senders(received);
    } else if (role_ == Role::along) {
      made_.awaits_lower = senders(received).all;
    } else if (made_.root && *made_.root >= 0 && *made_.root <= INT32_MAX) {
      const bool something = std::any_of(received.begin(), received.end(), [](int64_t amount) { return amount > 0; });
      if (something) made_.awaited.ranks = {static_cast<uint32_t>(*made_.root)};
    }
    return made_.communicator.has_value();
  }

  RowAccess access_;
  const spec::Function &function_;
  Role role_;
  bool returned_ = true;
  MessageCall made_;
};

}  // namespace

bool completes_requests(const spec::Function &function) {
  return std::any_of(function.parameters, function.parameters + function.parameter_count, [](const auto &parameter) {
    return parameter.kind == Kind::request && parameter.effect == spec::Effect::complete;
  });
}

const spec::Parameter *parameter_of(const spec::Function &function, Kind kind) {
  for (size_t i = 0; i < function.parameter_count; ++i) {
    if (function.parameters[i].kind == kind) return &function.parameters[i];
  }
  return nullptr;
}

std::vector<MessageOutcome> outcomes_of(const RowAccess &row, size_t count) {
  std::vector<MessageOutcome> told;
  const spec::Parameter *status = parameter_of(*row.function(), Kind::status);
  const trace::Field *field = status == nullptr ? nullptr : row.field(status->name);
  if (field == nullptr || field->is_bytes) return told;
  const auto statuses = trace::StatusField::of(*field);
  if (statuses.implied) {
    told.resize(statuses.ignored ? 0 : count, {true, false, std::nullopt, std::nullopt, std::nullopt, false});
    return told;
  }
  AtomReader atoms(statuses.atoms);
  while (!atoms.at_end() && !atoms.failed()) {
    const AtomValue source = atoms.next();
    const AtomValue tag = atoms.next();
    (void)atoms.next();  // error
    const AtomValue bytes = atoms.next();
    const AtomValue cancelled = atoms.next();
    MessageOutcome outcome;
    outcome.told = true;
    outcome.cancelled = !cancelled.special && cancelled.value != 0;
    if (!source.special) outcome.rank = source.value;
    if (!tag.special) outcome.tag = tag.value;
    if (!bytes.special && bytes.value >= 0) outcome.bytes = bytes.value;
    told.push_back(outcome);
  }
  return told;
}

bool is_among_neighbors(uint32_t function) {
  static const auto all =
      function_table([](const spec::Function &each) { return operation(each).starts_with("Neighbor_"); });
  return function < all.size() && all[function];
}

bool meets_by_custom(uint32_t function) {
  static const auto all = function_table([](const spec::Function &each) {
    const bool makes =
        std::any_of(each.parameters, each.parameters + each.parameter_count, [](const spec::Parameter &made) {
          const bool other = made.kind == Kind::window || made.kind == Kind::file;
          return spec::is_new_communicator(made) || (other && made.effect == spec::Effect::create);
        });
    if (met_over_new(each) != nullptr || each.id == spec::function_id::Comm_disconnect) return true;
    return makes && met_over(each) != nullptr && each.members != spec::Members::beyond_scope;
  });
  return function < all.size() && all[function];
}

bool is_message_call(const spec::Function &function) { return role_of(uint32_t{function.id}) != Role::none; }

std::unique_ptr<MessageCall> message_call(const trace::Row &row, const RowScope &scope) {
  if (role_of(row.function) == Role::none) return nullptr;
  return Reading(row, scope).call();
}

std::unique_ptr<MessageCall> meeting_call(const trace::Row &row, const RowScope &scope) {
  const auto all = spec::functions();
  if (row.function >= all.size()) return nullptr;
  if (met_over(all[row.function]) == nullptr && met_over_new(all[row.function]) == nullptr) return nullptr;
  return Reading(row, scope).meeting();
}

}  // namespace cairn::analyze
