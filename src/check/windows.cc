#include "check/windows.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace cairn::check {
namespace {

using analyze::CallTime;
using Role = analyze::WindowRole;

constexpr const char *kFences = "between the same fences";
constexpr const char *kExposure = "between the same MPI_Win_post and MPI_Win_wait";
constexpr const char *kNoFlush = "without a flush between them";
constexpr const char *kAtOnce = "at the same time";

/// Offsets and bounds within it can be added up.
constexpr int64_t kFarthest = INT64_MAX / 8;

std::string bytes_text(uint64_t bytes) { return fmt::format("{} {}", bytes, bytes == 1 ? "byte" : "bytes"); }

}  // namespace

Windows::~Windows() {
  for (const auto &[name, part] : parts_) let_go(part.get());
}

void Windows::let_go(Part *part) {
  part->freed = true;
  if (part->window == nullptr) return;
  const std::shared_ptr<Window> window = part->window;
  const auto is_done = [](const auto &each) { return each == nullptr || each->freed; };
  if (!std::all_of(window->parts.begin(), window->parts.end(), is_done)) return;
  window->spans.clear();
  for (const auto &each : std::exchange(window->parts, {})) {
    if (each != nullptr) each->window = nullptr;
  }
}

void Windows::see(const WindowCall &what, const CallTime &call) {
  const auto name = std::pair(call.rank, what.window);
  if (what.role == Role::makes) {
    auto part = std::make_shared<Part>();
    part->size = what.size;
    part->unit = what.unit;
    made_[{call.rank, call.call}] = part;
    std::swap(parts_[name], part);
    if (part != nullptr) let_go(part.get());  // nobody saw it freed
    return;
  }
  const auto found = parts_.find(name);
  if (found == parts_.end()) return;
  const std::shared_ptr<Part> part = found->second;
  if (what.role == Role::frees) parts_.erase(found);
  if (part->window != nullptr) return act(part.get(), {what, call});
  if (part->queued.empty()) ++queues_;
  if (part->queued.size() < kMostQueued) part->queued.push_back({what, call});
}

void Windows::act(Part *part, const WindowAccess &call) {
  const WindowCall &what = call.what;
  switch (what.role) {
    case Role::frees:
      leave_alone(part);
      return let_go(part);
    case Role::fences:
      return fence(part, what.opens);
    case Role::starts:
      part->fenced = false;
      part->started = true;
      return leave_alone(part);
    case Role::completes:
      part->started = false;
      if (Accesses ended = std::exchange(part->since, {}); !ended.empty()) {
        const Call by{call.call.rank, call.call.call};
        ended_[by] = {part->window, std::move(ended)};
        for (const CallTime &to : std::exchange(expected_[by], {})) exposed(call.call, to);
        expected_.erase(by);
      }
      return;
    case Role::locks:
      part->fenced = false;
      part->locks[what.whose] = what.exclusive;
      return;
    case Role::unlocks:
      complete(part, what, call.call);
      part->locks.erase(what.whose);
      return;
    case Role::flushes:
      return complete(part, what, call.call);
    default:
      return access(part, call);
  }
}

void Windows::access(Part *part, const WindowAccess &access) {
  if (access.what.pending) {
    is_within(*part->window, access);
    return;
  }
  if (part->fenced || part->started) {
    part->since.push_back(access);
    return;
  }
  if (!is_within(*part->window, access)) return;
  auto lock = part->locks.find(access.what.target);
  if (lock == part->locks.end()) lock = part->locks.find(std::nullopt);
  if (lock == part->locks.end()) return;
  if (access.what.by_request && access.what.fetches) {  // when that was looked at nobody knows
    return under_way_until(part->window, access, lock->second, access.call.end_ns);
  }
  part->under_way.push_back({access, lock->second});
}

void Windows::fence(Part *part, bool opens) {
  const uint64_t fences = part->fences++;
  part->fenced = opens;
  Accesses accesses = std::exchange(part->since, {});
  Window &window = *part->window;
  if (!window.complete) {
    for (const WindowAccess &each : accesses) is_within(window, each);
    return;
  }
  Epoch &epoch = window.epochs[fences];
  std::move(accesses.begin(), accesses.end(), std::back_inserter(epoch.all));
  if (++epoch.passed != window.parts.size()) return;
  collide(window, std::move(epoch.all), kFences);
  window.epochs.erase(fences);
}

void Windows::leave_alone(Part *part) {
  for (const WindowAccess &each : std::exchange(part->since, {})) is_within(*part->window, each);
}

void Windows::complete(Part *part, const WindowCall &what, const CallTime &by) {
  const auto goes_on = [&what](const UnderWay &each) {
    const bool meant = !what.whose || *what.whose == each.access.what.target;
    return !meant || (what.local && !each.access.what.fetches);
  };
  const auto first = std::stable_partition(part->under_way.begin(), part->under_way.end(), goes_on);
  Accesses accesses;
  for (auto each = first; each != part->under_way.end(); ++each) {
    under_way_until(part->window, each->access, each->exclusive, by.end_ns);
    accesses.push_back(each->access);
  }
  part->under_way.erase(first, part->under_way.end());
  if (accesses.size() > 1) collide(*part->window, std::move(accesses), kNoFlush);
}

void Windows::under_way_until(const WindowPointer &window, const WindowAccess &access, bool exclusive,
                              uint64_t end_ns) {
  if (exclusive) return;
  if (end_ns == 0 || !uncertainty_ns_) {
    ++untimed_;
    return;
  }
  if (spans_ >= kMostSpans) {
    ++too_many_;
    return;
  }
  ++spans_;
  const int64_t unit = window->parts[static_cast<size_t>(access.what.target)]->unit;
  if (window->spans.empty()) spanned_.push_back(window);
  AccessSpans &spans = window->spans[access.what.target];
  spans.add({access, access.begin(unit), access.end(unit), access.call.begin_ns, end_ns}, *uncertainty_ns_,
            [&](const AccessSpans::Span &before, const AccessSpans::Span &added) {
              if (window->pairs++ < kMostPairs) tell(*window, before.access, added.access, unit, kAtOnce);
            });
}

void Windows::exposed(const CallTime &from, const CallTime &to) {
  const auto found = ended_.find({from.rank, from.call});
  if (found == ended_.end()) {
    if (queues_ != 0) expected_[{from.rank, from.call}].push_back(to);
    return;
  }
  Together &ended = found->second;
  const auto elsewhere = [&](const WindowAccess &each) {
    const auto target = static_cast<size_t>(each.what.target);
    return target >= ended.window->ranks.size() || ended.window->ranks[target] != to.rank;
  };
  const auto first = std::stable_partition(ended.accesses.begin(), ended.accesses.end(), elsewhere);
  Together &together = exposed_[{to.rank, to.call}];
  together.window = ended.window;
  together.accesses.insert(together.accesses.end(), first, ended.accesses.end());
  ended.accesses.erase(first, ended.accesses.end());
  if (ended.accesses.empty()) ended_.erase(found);
}

void Windows::passed(uint32_t rank, uint64_t call) {
  if (exposed_.empty() || queues_ != 0) return;
  for (auto each = exposed_.lower_bound({rank, 0}); each != exposed_.end() && each->first <= Call(rank, call);) {
    collide(*each->second.window, std::move(each->second.accesses), kExposure);
    each = exposed_.erase(each);
  }
}

void Windows::all_after(uint64_t ns) {
  if (spans_ == 0 || queues_ != 0) return;
  for (const auto &[name, part] : parts_) {
    if (!part->under_way.empty()) ns = std::min(ns, part->under_way.front().access.call.begin_ns);
  }
  spans_ = 0;
  for (const WindowPointer &window : spanned_) {
    for (auto &[target, spans] : window->spans) {
      spans.forget_until(ns);
      spans_ += spans.size();
    }
  }
  std::erase_if(spanned_, [](const WindowPointer &window) { return window->spans.empty(); });
}

void Windows::finish() {
  for (auto &[call, together] : exposed_) collide(*together.window, std::move(together.accesses), kExposure);
  exposed_.clear();
}

void Windows::met(const analyze::Meeting &meeting) {
  const bool all_came = std::find(meeting.came.begin(), meeting.came.end(), false) == meeting.came.end();
  if (meeting.broken || !all_came || analyze::window_role(meeting.operation) != Role::makes) return;
  auto window = std::make_shared<Window>();
  for (const CallTime &call : meeting.begins) {
    const auto made = made_.find({call.rank, call.call});
    window->parts.push_back(made == made_.end() ? nullptr : made->second);
    window->ranks.push_back(call.rank);
    window->complete = window->complete && made != made_.end();
    if (made != made_.end()) made_.erase(made);
  }
  const std::vector<std::shared_ptr<Part>> parts = window->parts;
  for (const auto &part : parts) {
    if (part != nullptr) part->window = window;
  }
  for (const auto &part : parts) {
    if (part == nullptr || part->queued.empty()) continue;
    for (const WindowAccess &call : std::exchange(part->queued, {})) {
      if (part->window != nullptr) act(part.get(), call);
    }
    if (--queues_ == 0) expected_.clear();
  }
}

bool Windows::is_within(const Window &window, const WindowAccess &access) {
  const auto target = static_cast<size_t>(access.what.target);
  if (target >= window.parts.size() || window.parts[target] == nullptr) return false;
  const Part &part = *window.parts[target];
  if (!part.size || part.unit < 1) return false;
  if (access.what.displacement > kFarthest / part.unit || access.what.displacement < -kFarthest / part.unit)
    return false;
  const int64_t begin = access.begin(part.unit);
  const int64_t end = access.end(part.unit);
  if (begin >= 0 && end <= *part.size) return true;
  const uint32_t rank = access.call.rank;
  const std::string where = begin < 0
                                ? fmt::format("begins {} before", bytes_text(static_cast<uint64_t>(-begin)))
                                : fmt::format("ends {} behind", bytes_text(static_cast<uint64_t>(end - *part.size)));
  findings_.add({.kind = Kind::windows,
                 .text = fmt::format("rank {} {} what {} rank {}'s part of the window, which has {}", rank,
                                     verb_of(access.what.role), where, access.what.target,
                                     bytes_text(static_cast<uint64_t>(*part.size))),
                 .sort = "",
                 .others = {window.ranks[target]}},
                access.call);
  return false;
}

void Windows::collide(const Window &window, Accesses accesses, const char *when) {
  std::erase_if(accesses, [&](const WindowAccess &each) { return !is_within(window, each); });
  const auto unit_of = [&](const WindowAccess &each) {
    return window.parts[static_cast<size_t>(each.what.target)]->unit;
  };
  std::sort(accesses.begin(), accesses.end(), [&](const WindowAccess &one, const WindowAccess &other) {
    const auto order = [&](const WindowAccess &each) {
      return std::tuple(each.what.target, each.begin(unit_of(each)), each.call.rank, each.call.call);
    };
    return order(one) < order(other);
  });
  size_t pairs = 0;
  for (size_t i = 0; i < accesses.size(); ++i) {
    const WindowAccess &one = accesses[i];
    const int64_t unit = unit_of(one);
    for (size_t k = i + 1; k < accesses.size() && pairs < kMostPairs; ++k) {
      const WindowAccess &other = accesses[k];
      if (other.what.target != one.what.target || other.begin(unit) >= one.end(unit)) break;
      ++pairs;
      if (one.puts() || other.puts()) tell(window, one, other, unit, when);
    }
  }
}

/// If they have bytes in common.
void Windows::tell(const Window &window, const WindowAccess &one, const WindowAccess &other, int64_t unit,
                   const char *when) {
  const int64_t apart = (other.what.displacement - one.what.displacement) * unit;
  const uint64_t bytes = objects::common_bytes(*one.what.layout, *other.what.layout, apart).value_or(0);
  if (bytes == 0) return;
  const bool one_first = std::pair(one.call.rank, one.call.call) < std::pair(other.call.rank, other.call.call);
  const WindowAccess &first = one_first ? one : other;
  const WindowAccess &second = one_first ? other : one;
  findings_.add({.kind = Kind::windows,
                 .text = fmt::format("rank {} {} {} of rank {}'s memory that rank {} {}, too, {}", first.call.rank,
                                     verb_of(first.what.role), bytes_text(bytes), first.what.target, second.call.rank,
                                     verb_of(second.what.role), when),
                 .sort = "",
                 .others = {window.ranks[static_cast<size_t>(first.what.target)]}},
                first.call, second.call);
}

}  // namespace cairn::check
