#include "check/findings.h"

#include <algorithm>
#include <array>
#include <utility>

#include "analyze/decode.h"

namespace cairn::check {

const char *name_of(Kind kind) {
  static constexpr std::array<const char *, kKinds> kNames = {"arguments",  "leaks",     "handles",     "types",
                                                              "truncation", "messages",  "collectives", "buffers",
                                                              "deadlock",   "buffering", "windows"};
  return kNames[static_cast<size_t>(kind)];
}

void Findings::add(What what, const analyze::CallTime &call, const std::optional<analyze::CallTime> &other) {
  ++count_;
  if (times_) what.count *= times_(call);
  const uint32_t place = places_.of(call);
  const auto other_place = other ? std::optional(places_.of(*other)) : std::nullopt;
  Key key{what.kind, what.sure, what.sort.value_or(what.text), place, other_place};
  auto found = all_.find(key);
  if (found == all_.end()) {
    if (all_.size() >= kMost) {
      left_out_ += what.count;
      return;
    }
    Finding fresh;
    fresh.kind = what.kind;
    fresh.sure = what.sure;
    fresh.place = place;
    fresh.other_place = other_place;
    found = all_.emplace(std::move(key), std::move(fresh)).first;
  }
  Finding &finding = found->second;
  if (finding.count == 0 || call.rank < finding.first.rank) {
    const auto met = [&](const analyze::CallTime &at) {
      return Met{at.rank, what.numbered ? std::optional(at.call) : std::nullopt};
    };
    finding.text = std::move(what.text);
    finding.first = met(call);
    if (other) finding.other_first = met(*other);
  }
  finding.count += what.count;
  finding.ranks.insert(call.rank);
  finding.ranks.insert(what.ranks.begin(), what.ranks.end());
  if (other) finding.others.insert(other->rank);
  finding.others.insert(what.others.begin(), what.others.end());
}

std::string Findings::name(const analyze::CallTime &call) {
  const analyze::Place &place = places_.all()[places_.of(call)];
  return analyze::function_at(place.function, place.position.brief());
}

std::vector<Finding> Findings::take() {
  std::vector<Finding> all;
  for (auto &each : all_) {
    Finding &finding = each.second;
    std::erase_if(finding.others, [&](uint32_t rank) { return finding.ranks.contains(rank); });
    all.push_back(std::move(finding));
  }
  all_.clear();
  std::stable_sort(all.begin(), all.end(), [](const Finding &a, const Finding &b) {
    return std::tuple(a.kind, !a.sure, a.first.rank, a.first.call) <
           std::tuple(b.kind, !b.sure, b.first.rank, b.first.call);
  });
  return all;
}

}  // namespace cairn::check
