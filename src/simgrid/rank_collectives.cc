// Collective operations of one rank: as actions where SMPI's replay has some, else as messages.
#include <algorithm>
#include <limits>

#include "simgrid/rank_actions.h"

namespace cairn::simgrid {
namespace {

constexpr uint64_t kMost = INT32_MAX;  // SMPI's counts are ints
/// A line with an amount for each rank stands once for each rank: on more ranks, messages take less room.
constexpr size_t kMostInALine = 512;

uint64_t cut(uint64_t bytes) { return std::min(bytes, kMost); }

std::string list_text(const std::vector<uint64_t> &amounts, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    fmt::format_to(std::back_inserter(text), " {}", i < amounts.size() ? cut(amounts[i]) : 0);
  }
  return text;
}

/// The same on all ranks: some become messages and others don't.
uint64_t sum(const std::vector<uint64_t> &amounts) {
  uint64_t all = 0;
  for (const uint64_t each : amounts) all += cut(each);
  return all;
}

}  // namespace

void RankActions::collective(const Collective &collective) {
  const std::optional<View> view = calls_.view_of(collective.communicator);
  if (!view) return leave_out("collective calls in communicators whose members the trace does not know");
  if (!collective.sizes_known) tell("collective calls with sizes that the trace does not know: they count as 0");
  if (collective.persistent) {
    if (!collective.request) return;
    Request request;
    request.persistent = true;
    request.view = view;
    request.collective = std::make_shared<const Collective>(collective);
    requests_[*collective.request].clear();
    requests_[*collective.request].push_back(std::move(request));
    return;
  }
  if (view->own->size() == 1 && view->other == nullptr && collective.operation != Operation::neighbors) return;
  if (!collective.request && native(collective, *view)) {
    ++counts_.collectives;
    return;
  }
  Request request;
  request.active = true;
  in_messages(collective, *view, collective.request ? &request : nullptr);
  if (collective.request) requests_[*collective.request].push_back(std::move(request));
}

bool RankActions::native(const Collective &collective, const View &view) {
  if (!view.whole_world) return false;
  const size_t n = view.own->size();
  const int64_t root = collective.root.value_or(0);
  const uint64_t bytes = cut(collective.bytes);
  switch (collective.operation) {
    case Operation::barrier:
      add("barrier");
      return true;
    case Operation::bcast:
      add("bcast {} {}", bytes, root);
      return true;
    case Operation::reduce:
      add("reduce {} 0 {}", bytes, root);
      return true;
    case Operation::allreduce:
      add("allreduce {} 0", bytes);
      return true;
    case Operation::scan:
      add("scan {} 0", bytes);
      return true;
    case Operation::exscan:
      add("exscan {} 0", bytes);
      return true;
    case Operation::gather:
      add("gather {} {} {}", bytes, bytes, root);
      return true;
    case Operation::scatter:
      add("scatter {} {} {}", bytes, bytes, root);
      return true;
    case Operation::allgather:
      add("allgather {} {}", bytes, bytes);
      return true;
    case Operation::alltoall:
      add("alltoall {} {}", bytes, bytes);
      return true;
    case Operation::alltoallv:
      add("alltoallv 1{} 1{}", list_text(collective.sends, n), list_text(collective.receives, n));
      return true;
    case Operation::allgatherv: {
      if (n > kMostInALine || sum(collective.receives) > kMost) return false;
      const uint64_t own = view.place < collective.receives.size() ? cut(collective.receives[view.place]) : 0;
      add("allgatherv {}{}", own, list_text(collective.receives, n));
      return true;
    }
    case Operation::reduce_scatter: {
      std::vector<uint64_t> blocks = collective.receives;
      if (blocks.empty()) blocks.resize(n, collective.bytes);
      if (n > kMostInALine || sum(blocks) > kMost) return false;
      add("reducescatter{} 0", list_text(blocks, n));
      return true;
    }
    case Operation::gatherv:
    case Operation::scatterv:
    case Operation::neighbors:
      return false;
  }
  return false;
}

/// With `into`, all at once, to be waited for later.
void RankActions::in_messages(const Collective &collective, const View &view, Request *into) {
  if (into != nullptr) into->active = true;
  ++counts_.collectives;
  ++counts_.in_messages;
  const int32_t tag = run_.tags->of(view.number, 0, Tags::Of::collectives);
  if (collective.operation == Operation::neighbors) {
    std::vector<Part> sends;
    std::vector<Part> receives;
    if (!neighbors_.of(collective, view, &sends, &receives)) {
      return leave_out("collective calls among neighbors that the trace does not tell");
    }
    return round(sends, receives, tag, into);
  }
  rounds_of(collective, view, into != nullptr, [&](const std::vector<Part> &sends, const std::vector<Part> &receives) {
    round(sends, receives, tag, into);
  });
}

void RankActions::round(const std::vector<Part> &sends, const std::vector<Part> &receives, int32_t tag, Request *into) {
  if (into == nullptr && sends.empty() && receives.size() == 1) {
    add("recv {} {} {}", receives[0].peer, tag, size_text(receives[0].bytes));
    return;
  }
  if (into == nullptr && receives.empty() && sends.size() == 1) {
    add("send {} {} {}", sends[0].peer, tag, size_text(sends[0].bytes));
    return;
  }
  std::vector<Key> keys;
  const bool one = into == nullptr && receives.size() == 1;
  for (const Part &part : receives) {
    if (one) break;
    add("irecv {} {} {}", part.peer, tag, size_text(part.bytes));
    keys.push_back({part.peer, rank_, tag});
  }
  for (const Part &part : sends) {
    add("isend {} {} {}", part.peer, tag, size_text(part.bytes));
    keys.push_back({rank_, part.peer, tag});
  }
  if (one) add("recv {} {} {}", receives[0].peer, tag, size_text(receives[0].bytes));
  under_way_ += keys.size();
  if (into == nullptr) {
    wait(keys);
  } else {
    into->waits.insert(into->waits.end(), keys.begin(), keys.end());
  }
}

}  // namespace cairn::simgrid
