#include "ranks/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <map>
#include <utility>

#include "analyze/loops.h"
#include "analyze/summary.h"
#include "base/saturating.h"
#include "ranks/difference.h"

namespace cairn::ranks {
namespace {

using analyze::KindOfRank;
using analyze::LoopFinder;

class GivenBytes : public traffic::Listener {
 public:
  explicit GivenBytes(std::vector<RankLine *> lines) : lines_(std::move(lines)) {}
  void moved(const traffic::Traffic &traffic, const traffic::Called &called) override {
    RankLine &line = *lines_[called.rank];
    const traffic::Given given = traffic.given_by(called.rank);
    add_to(&line.bytes, saturating_product(given.bytes, called.times()));
    add_to(&line.unsized, saturating_product(given.unsized, called.count));
  }

 private:
  std::vector<RankLine *> lines_;  ///< by rank
};

/// Numbers of kinds, by thread.
using KindsOfRank = std::vector<size_t>;

/// What classes consist of, and their loops, found when they are asked for.
class Structures {
 public:
  Structures(const LoopFinder &finder, std::vector<KindOfRank> kinds, std::vector<KindsOfRank> classes)
      : finder_(finder), kinds_(std::move(kinds)), classes_(std::move(classes)), found_(kinds_.size()) {}

  /// Against the most similar of the first classes but itself; nothing if no loops can be found.
  void tell(uint32_t number, RankClass *into) {
    if (!find(number)) return;
    std::optional<uint32_t> nearest;
    double least = 0;
    for (uint32_t other = 0; other < std::min(kSimilar, classes_.size()); ++other) {
      if (other == number || !find(other)) continue;
      const double apart = distance(number, other);
      if (nearest && apart >= least) continue;
      nearest = other;
      least = apart;
    }
    if (!nearest) return;
    into->similar = nearest;
    into->differences = differences(number, *nearest);
  }

 private:
  enum class State : uint8_t { unknown, found, too_irregular };

  bool find(uint32_t number) {
    bool all = true;
    for (const size_t kind : classes_[number]) {
      if (found_[kind] == State::unknown) {
        found_[kind] = finder_.find_structure(&kinds_[kind]) ? State::found : State::too_irregular;
      }
      all = all && found_[kind] == State::found;
    }
    return all;
  }

  [[nodiscard]] double distance(uint32_t one, uint32_t other) const {
    const KindsOfRank &own = classes_[one];
    const KindsOfRank &others = classes_[other];
    double sum = 0;
    const size_t both = std::min(own.size(), others.size());
    for (size_t i = 0; i < both; ++i) sum += ranks::distance(kinds_[own[i]], kinds_[others[i]]);
    return sum + static_cast<double>(std::max(own.size(), others.size()) - both);
  }

  [[nodiscard]] std::vector<std::string> differences(uint32_t one, uint32_t other) const {
    const KindsOfRank &own = classes_[one];
    const KindsOfRank &others = classes_[other];
    const std::string name = fmt::format("class {}", other);
    std::vector<std::string> texts;
    for (size_t i = 0; i < std::max(own.size(), others.size()); ++i) {
      if (i >= others.size()) {
        texts.push_back(fmt::format("has a thread {} that calls MPI, which {} has not", kinds_[own[i]].thread, name));
      } else if (i >= own.size()) {
        texts.push_back(fmt::format("has no thread {} that calls MPI, which {} has", kinds_[others[i]].thread, name));
      } else if (own[i] != others[i]) {
        for (std::string &text : ranks::differences(kinds_[own[i]], kinds_[others[i]], name)) {
          if (own.size() > 1) text = fmt::format("thread {}: {}", kinds_[own[i]].thread, text);
          texts.push_back(std::move(text));
        }
      }
    }
    return texts;
  }

  const LoopFinder &finder_;
  std::vector<KindOfRank> kinds_;
  std::vector<KindsOfRank> classes_;
  std::vector<State> found_;  ///< by kind
};

/// The classes, most ranks first, and of which kinds their threads are.
std::vector<KindsOfRank> make_classes(const std::vector<KindOfRank> &kinds, const std::vector<RankLine *> &lines,
                                      std::vector<RankClass> *classes) {
  std::vector<KindsOfRank> of_rank(lines.size());
  for (size_t kind = 0; kind < kinds.size(); ++kind) {
    for (const uint32_t rank : kinds[kind].ranks) {
      if (lines[rank] != nullptr) of_rank[rank].push_back(kind);
    }
  }
  std::map<KindsOfRank, std::vector<uint32_t>> grouped;
  for (uint32_t rank = 0; rank < lines.size(); ++rank) {
    if (lines[rank] == nullptr) continue;
    KindsOfRank &own = of_rank[rank];
    std::sort(own.begin(), own.end(), [&](size_t a, size_t b) { return kinds[a].thread < kinds[b].thread; });
    grouped[std::move(own)].push_back(rank);
  }
  std::vector<std::pair<KindsOfRank, std::vector<uint32_t>>> ordered(grouped.begin(), grouped.end());
  std::sort(ordered.begin(), ordered.end(), [](const auto &a, const auto &b) {
    if (a.second.size() != b.second.size()) return a.second.size() > b.second.size();
    return a.second.front() < b.second.front();
  });
  std::vector<KindsOfRank> result;
  for (auto &[own, ranks] : ordered) {
    for (const uint32_t rank : ranks) lines[rank]->class_number = static_cast<uint32_t>(classes->size());
    RankClass one;
    one.threads = static_cast<uint32_t>(own.size());
    one.ranks = std::move(ranks);
    classes->push_back(std::move(one));
    result.push_back(own);
  }
  return result;
}

void spread_all(const std::vector<const RankLine *> &lines, bool outside, Spread *calls, Spread *bytes,
                std::optional<Spread> *outside_ns, std::optional<Spread> *mpi_ns) {
  *calls = spread_of(lines, &RankLine::calls);
  *bytes = spread_of(lines, &RankLine::bytes);
  if (outside) *outside_ns = spread_of(lines, &RankLine::outside_ns);
  const bool timed = std::all_of(lines.begin(), lines.end(), [](const RankLine *line) { return line->timed; });
  if (timed) *mpi_ns = spread_of(lines, &RankLine::mpi_ns);
}

}  // namespace

Spread spread_of(const std::vector<const RankLine *> &lines, uint64_t RankLine::*number) {
  assert(!lines.empty());
  Spread spread;
  spread.least = UINT64_MAX;
  double sum = 0;
  for (const RankLine *line : lines) {
    const uint64_t value = line->*number;
    sum += static_cast<double>(value);
    if (value < spread.least) {
      spread.least = value;
      spread.least_rank = line->rank;
    }
    if (value > spread.most || line == lines.front()) {
      spread.most = value;
      spread.most_rank = line->rank;
    }
  }
  const auto count = static_cast<double>(lines.size());
  spread.mean = sum / count;
  if (spread.most == 0) return spread;
  const auto most = static_cast<double>(spread.most);
  spread.over_mean = most / spread.mean;
  if (lines.size() > 1) spread.percent = 100 * (most - spread.mean) / most * count / (count - 1);
  return spread;
}

Result<Ranks> ranks_of(const trace::Trace &trace, const analyze::Sources &sources, const analyze::Filter &filter,
                       size_t most_classes) {
  auto summary = analyze::summarise(trace, sources, filter, analyze::GroupBy::rank, analyze::LineBytes::left_out);
  if (!summary) return tl::unexpected(summary.error());
  Ranks result;
  result.damaged = summary->damaged;
  result.timed = summary->run_ns != 0;
  for (const analyze::SummaryLine &line : summary->lines) {
    RankLine one;
    one.rank = line.rank;
    one.host = line.host;
    one.calls = line.calls;
    one.timed = result.timed && line.timed;
    one.outside_ns = line.outside_ns;
    one.mpi_ns = line.time_ns;
    result.ranks.push_back(std::move(one));
  }
  if (result.ranks.empty()) return result;
  std::vector<RankLine *> lines(size_t{result.ranks.back().rank} + 1);
  for (RankLine &line : result.ranks) lines[line.rank] = &line;

  GivenBytes bytes(lines);
  const auto seen = traffic::each_traffic(trace, sources, filter, {.sums = true, .peers = false}, &bytes);
  if (!seen) return tl::unexpected(seen.error());
  result.seen = *seen;

  const LoopFinder finder(trace, sources);
  std::vector<KindOfRank> kinds = finder.kinds(filter);
  for (const KindOfRank &kind : kinds) {
    if (kind.ranks.back() >= lines.size()) lines.resize(size_t{kind.ranks.back()} + 1);
  }
  std::vector<KindsOfRank> parts = make_classes(kinds, lines, &result.classes);
  Structures structures(finder, std::move(kinds), std::move(parts));
  std::vector<const RankLine *> members;
  for (uint32_t number = 0; number < result.classes.size(); ++number) {
    RankClass &one = result.classes[number];
    members.clear();
    for (const uint32_t rank : one.ranks) members.push_back(lines[rank]);
    spread_all(members, result.timed, &one.calls, &one.bytes, &one.outside, &one.in_mpi);
    if (number < most_classes) structures.tell(number, &one);
  }
  members.assign(lines.begin(), lines.end());
  std::erase(members, nullptr);
  spread_all(members, result.timed, &result.calls, &result.bytes, &result.outside, &result.in_mpi);
  return result;
}

}  // namespace cairn::ranks
