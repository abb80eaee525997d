#include "simgrid/rank_calls.h"

#include "spec/ids.h"

namespace cairn::simgrid {

using analyze::HandleName;

RankCalls::RankCalls(const trace::Trace &trace, const Groups &groups, const std::vector<analyze::RowScope> &scopes,
                     uint32_t rank)
    : groups_(groups), scopes_(scopes), rank_(rank), sizes_(trace.job_of(rank).size), names_(trace, rank) {}

const SimulatedCall &RankCalls::see(const trace::Event &event) {
  const trace::Row &row = *event.values;
  const analyze::RowScope &scope = scopes_[event.class_index];
  made_ = names_.see(row);
  if (analyze::Sizes::is_creator(row.function) && sizes_.see(row, scope)) known_.clear();
  Known &known = known_[event.thread];
  if (known.class_index != event.class_index || known.segment != event.segment) {
    known = {};
    known.class_index = event.class_index;
    known.segment = event.segment;
  }
  if (event.call >= known.calls.size()) known.calls.resize(event.call + 1);
  auto &call = known.calls[event.call];
  if (!call) call = std::make_unique<SimulatedCall>(simulated_call(row, scope, sizes_));
  return *call;
}

const std::string *RankCalls::name_of(const HandleName &communicator) const {
  return communicator.special == 0 ? names_.name(communicator.number) : nullptr;
}

std::optional<View> RankCalls::view_of(const std::optional<HandleName> &communicator) {
  if (!communicator) return std::nullopt;
  if (communicator->constant() == spec::constant_id::k_COMM_WORLD) return groups_.world(rank_);
  if (communicator->constant() == spec::constant_id::k_COMM_SELF) return groups_.self(rank_);
  if (communicator->special != 0) return std::nullopt;
  if (names_version_ != names_.version()) views_.clear();
  names_version_ = names_.version();
  const auto [known, fresh] = views_.try_emplace(communicator->number);
  if (fresh) {
    const std::string *name = name_of(*communicator);
    if (name != nullptr) known->second = groups_.view(*name, rank_);
  }
  return known->second;
}

}  // namespace cairn::simgrid
