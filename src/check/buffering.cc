#include "check/buffering.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "analyze/volume.h"

namespace cairn::check {
namespace {

using analyze::CallTime;

/// How a call takes part in this.
enum class Manner : uint8_t {
  waits,     ///< for what it needs
  chooses,   ///< for one of several things
  tests,     ///< does not wait
  buffered,  ///< sends, by its definition, from a buffer
};

Manner manner_of(uint32_t function) {
  static const std::vector<Manner> all = [] {
    std::vector<Manner> made;
    for (const spec::Function &each : spec::functions()) {
      const std::string_view name = each.name;
      const auto begins = [&](const char *with) { return name.starts_with(with); };
      made.push_back(begins("MPI_Test") || begins("MPI_Iprobe") || begins("MPI_Improbe") ||
                             begins("MPI_Request_get_status")
                         ? Manner::tests
                     : begins("MPI_Waitany") || begins("MPI_Waitsome") ? Manner::chooses
                     : begins("MPI_Bsend") || begins("MPI_Ibsend")     ? Manner::buffered
                                                                       : Manner::waits);
    }
    return made;
  }();
  return function < all.size() ? all[function] : Manner::tests;
}

/// A meeting that all its members wait in, whatever the library.
bool waits_for_all(const std::string &operation) {
  return operation == "Barrier" || operation.starts_with("All") || operation.starts_with("Reduce_scatter");
}

}  // namespace

void Buffering::add(const CallTime &call, What what, uint32_t rank, uint64_t until, bool sure) {
  const Manner manner = manner_of(call.function);
  if (manner == Manner::tests || !judged_(call.rank)) return;
  full_ = full_ || count_ >= kMost;
  if (full_) return;
  ++count_;
  const auto place = std::tuple(call.class_index, call.function, call.site);
  const auto [known, fresh] = numbers_.try_emplace(place, static_cast<uint32_t>(places_.size()));
  if (fresh) places_.push_back(place);
  Wait wait;
  wait.call = call.call;
  wait.until = until;
  wait.rank = rank;
  wait.place = known->second & ((1U << 29) - 1);
  wait.sure = sure && manner != Manner::chooses;
  wait.what = what;
  ranks_[call.rank].waits.push_back(wait);
}

void Buffering::message(const analyze::Edge &edge) {
  const bool probed = edge.kind == analyze::Edge::Kind::probed;
  add(edge.to, What::receive, edge.from.rank, edge.from.call, edge.exact && !edge.anybody);
  if (probed) return;
  const spec::Function &sends = spec::functions()[edge.from.function];
  if (sends.nonblocking || sends.persistent || manner_of(edge.from.function) != Manner::waits) return;
  const std::string operation = analyze::operation(sends);
  if (operation.starts_with("Start") || operation.starts_with("Pready")) return;
  const bool taken = manner_of(edge.posted.function) == Manner::tests;  // found by MPI_Improbe
  add(edge.from, operation == "Ssend" ? What::other_send : What::send, edge.to.rank,
      taken ? edge.to.call : edge.posted.call, edge.exact && !edge.anybody);
}

void Buffering::delivered(const analyze::Delivery &delivery) {
  if (delivery.sent.call == delivery.completed.call && delivery.sent.rank == delivery.completed.rank) return;
  const uint32_t sends = delivery.sent.function;
  const bool started = sends == spec::function_id::Start || sends == spec::function_id::Startall;
  if (manner_of(sends) == Manner::buffered || (started && starts_.count(delivery.sent.rank) != 0)) return;
  add(delivery.completed, What::send, delivery.posted.rank, delivery.posted.call, !delivery.anybody);
}

void Buffering::meeting(const analyze::Meeting &meeting, const std::vector<uint32_t> &members) {
  for (size_t i = 0; i < members.size(); ++i) {
    const uint32_t function = meeting.begins[i].function;
    const auto all = spec::functions();
    if (!meeting.came[i] || function >= all.size() || all[function].nonblocking || all[function].persistent) return;
    if (function == spec::function_id::Start || function == spec::function_id::Startall) return;
    // They need not wait, and mostly do not.
    if (std::string_view(all[function].name).find("_free") != std::string_view::npos || !judged_(members[i])) return;
  }
  if (full_ || members.size() < 2) return;
  const bool sure = waits_for_all(analyze::operation(spec::functions()[meeting.operation]));
  for (size_t i = 0; i < members.size(); ++i) add(meeting.begins[i], What::meeting, members[i], meetings_.size(), sure);
  meetings_.push_back({members, {}});
}

void Buffering::come_to(uint32_t number, uint64_t call) {
  Rank &rank = ranks_.at(number);
  rank.at = call;
  const auto end = rank.followers.upper_bound(call);
  for (auto each = rank.followers.begin(); each != end; ++each) ready_.push_back(each->second);
  rank.followers.erase(rank.followers.begin(), end);
}

/// Else the rank is told of when it is.
bool Buffering::is_over(uint32_t number, const Wait &wait) {
  Rank &rank = ranks_.at(number);
  if (wait.what == What::meeting) {
    Gathering &meeting = meetings_[wait.until];
    const bool comes_now = !std::exchange(rank.waiting, true);
    if (comes_now) meeting.here.push_back(number);
    if (meeting.here.size() < meeting.members.size()) return false;
    // Who comes last tells the others, once.
    if (comes_now) {
      std::copy_if(meeting.here.begin(), meeting.here.end(), std::back_inserter(ready_),
                   [&](uint32_t other) { return other != number; });
    }
    return true;
  }
  const auto other = ranks_.find(wait.rank);
  if (other == ranks_.end() || other->second.at >= wait.until) return true;
  if (!std::exchange(rank.waiting, true)) other->second.followers.emplace(wait.until, number);
  return false;
}

void Buffering::go_on(uint32_t number) {
  Rank &rank = ranks_.at(number);
  while (rank.next < rank.waits.size()) {
    const Wait &wait = rank.waits[rank.next];
    if (rank.at < wait.call) come_to(number, wait.call);
    if (!is_over(number, wait)) return;
    rank.waiting = false;
    ++rank.next;
  }
  come_to(number, UINT64_MAX);
}

/// A rank that such a wait is for, and that has not come yet.
uint32_t Buffering::awaited(const Wait &wait) const {
  if (wait.what != What::meeting) return wait.rank;
  const Gathering &meeting = meetings_[wait.until];
  for (const uint32_t member : meeting.members) {
    if (std::find(meeting.here.begin(), meeting.here.end(), member) == meeting.here.end()) return member;
  }
  return meeting.members.front();
}

CallTime Buffering::call_of(uint32_t number) const {
  const Rank &rank = ranks_.at(number);
  const Wait &wait = rank.waits[rank.next];
  CallTime call;
  call.rank = number;
  call.call = wait.call;
  std::tie(call.class_index, call.function, call.site) = places_[wait.place];
  return call;
}

void Buffering::tell(const std::vector<uint32_t> &cycle, size_t send, Findings *findings) const {
  constexpr size_t kShown = 4;
  const auto at = [&](size_t i) { return cycle[(send + i) % cycle.size()]; };
  bool sure = true;
  for (const uint32_t number : cycle) sure = sure && ranks_.at(number).waits[ranks_.at(number).next].sure;
  const CallTime call = call_of(at(0));
  std::string text;
  if (cycle.size() == 1) {
    text = fmt::format("rank {} sends to itself, and posts the receive later", at(0));
  } else {
    text = fmt::format("the message from rank {} to rank {} has to be buffered: rank {} is ", at(0), at(1), at(1));
    for (size_t i = 1; i < cycle.size() && i <= kShown; ++i) {
      text += fmt::format("in {} and waits for rank {}", findings->name(call_of(at(i))), at(i + 1));
      if (i + 1 < cycle.size())
        text += i < kShown ? ", which is " : fmt::format(", and so on ({} in all)", cycle.size());
    }
  }
  Findings::What what{Kind::buffering, sure, std::move(text), std::string("buffered")};
  for (const uint32_t number : cycle) what.ranks.push_back(number);
  findings->add(std::move(what), call, cycle.size() > 1 ? std::optional(call_of(at(1))) : std::nullopt);
}

/// Nobody goes on. Looks for whoever waits in a cycle, and lets one of them go on. False: this rank waits for nobody.
bool Buffering::let_go(uint32_t start, Findings *findings) {
  std::vector<uint32_t> chain;
  std::map<uint32_t, size_t> places;
  uint32_t number = start;
  while (places.try_emplace(number, chain.size()).second) {
    const Rank &rank = ranks_.at(number);
    if (rank.next >= rank.waits.size()) return false;
    chain.push_back(number);
    number = awaited(rank.waits[rank.next]);
  }
  chain.erase(chain.begin(), chain.begin() + static_cast<ptrdiff_t>(places.at(number)));
  const auto what = [&](uint32_t each) { return ranks_.at(each).waits[ranks_.at(each).next].what; };
  const auto send = std::find_if(chain.begin(), chain.end(), [&](uint32_t each) { return what(each) == What::send; });
  // Without one the calls of the trace contradict each other, since the run went on.
  const uint32_t freed = send == chain.end() ? chain.front() : *send;
  if (send != chain.end()) tell(chain, static_cast<size_t>(send - chain.begin()), findings);
  Rank &rank = ranks_.at(freed);
  const Wait &wait = rank.waits[rank.next];
  if (wait.what != What::meeting) {
    auto &followers = ranks_.at(wait.rank).followers;
    const auto [first, last] = followers.equal_range(wait.until);
    const auto own = std::find_if(first, last, [&](const auto &each) { return each.second == freed; });
    assert(own != last);
    followers.erase(own);
  }
  rank.waiting = false;
  ++rank.next;
  ready_.push_back(freed);
  return true;
}

bool Buffering::find(Findings *findings) {
  for (auto &[number, rank] : ranks_) {
    std::stable_sort(rank.waits.begin(), rank.waits.end(),
                     [](const Wait &a, const Wait &b) { return a.call < b.call; });
    ready_.push_back(number);
  }
  const auto run = [&] {
    while (!ready_.empty()) {
      const uint32_t number = ready_.back();
      ready_.pop_back();
      go_on(number);
    }
  };
  run();
  for (const auto &[number, rank] : ranks_) {
    while (rank.next < rank.waits.size() && let_go(number, findings)) run();
  }
  return !full_;
}

}  // namespace cairn::check
