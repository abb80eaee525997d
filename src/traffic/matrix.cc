#include "traffic/matrix.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyze/volume.h"
#include "base/saturating.h"

namespace cairn::traffic {
namespace {

/// 24 bits each for the ranks (kMaxRanks), and the kind below.
uint64_t key_of(const Flow &flow) {
  return uint64_t{flow.from} << 28 | uint64_t{flow.to} << 4 | static_cast<uint64_t>(flow.kind);
}
Cell cell_of(uint64_t key, const Amount &amount) {
  constexpr uint64_t kRank = (uint64_t{1} << 24) - 1;
  constexpr uint64_t kKind = 15;
  return {static_cast<uint32_t>(key >> 28), static_cast<uint32_t>(key >> 4 & kRank), static_cast<Kind>(key & kKind),
          amount};
}

class CellGathering : public Listener {
 public:
  CellGathering(const analyze::Sources &sources, By by, const std::function<bool(const Called &)> &taken)
      : sources_(sources), by_(by), taken_(taken) {}

  void moved(const Traffic &traffic, const Called &called) override {
    if (taken_ && !taken_(called)) return;
    const size_t group = group_of(traffic, called);
    if (traffic.collective) collective(traffic, called, group);
    for (const Flow &flow : traffic.flows) {
      if (cells_ >= kMostCells) break;
      const auto [place, fresh] = groups_[group].try_emplace(key_of(flow));
      if (fresh) ++cells_;
      place->second.add(called.count, flow.bytes, called.times());
    }
  }
  [[nodiscard]] bool is_full() const { return cells_ >= kMostCells; }

  void into(Matrix *matrix) {
    std::vector<uint64_t> bytes;
    for (size_t i = 0; i < groups_.size(); ++i) {
      if (groups_[i].empty() && by_ != By::nothing) continue;
      Group group{by_ == By::nothing ? "" : names_[i], {}};
      group.cells.reserve(groups_[i].size());
      for (const auto &[key, amount] : groups_[i]) group.cells.push_back(cell_of(key, amount));
      groups_[i] = {};  // of 100,000 ranks both are too much
      std::sort(group.cells.begin(), group.cells.end(), [](const Cell &a, const Cell &b) {
        return std::tuple(a.from, a.to, a.kind) < std::tuple(b.from, b.to, b.kind);
      });
      matrix->groups.push_back(std::move(group));
    }
    if (by_ == By::nothing && matrix->groups.empty()) matrix->groups.emplace_back();
    const auto total = [](const Group &group) {
      Amount all;
      for (const Cell &cell : group.cells) all.add(cell.amount);
      return std::pair(all.bytes, all.messages);
    };
    std::vector<std::pair<std::pair<uint64_t, uint64_t>, Group>> ordered;
    for (Group &group : matrix->groups) ordered.emplace_back(total(group), std::move(group));
    std::sort(ordered.begin(), ordered.end(), [](const auto &a, const auto &b) {
      return a.first != b.first ? a.first > b.first : a.second.name < b.second.name;
    });
    matrix->groups.clear();
    for (auto &[amount, group] : ordered) matrix->groups.push_back(std::move(group));
    for (auto &[key, use] : collectives_) {
      std::sort(use.ranks.begin(), use.ranks.end());
      use.ranks.erase(std::unique(use.ranks.begin(), use.ranks.end()), use.ranks.end());
      use.line.ranks = use.ranks.size();
      matrix->collectives.push_back(std::move(use.line));
    }
    std::stable_sort(matrix->collectives.begin(), matrix->collectives.end(),
                     [](const CollectiveLine &a, const CollectiveLine &b) {
                       return std::tuple(b.bytes, b.calls) < std::tuple(a.bytes, a.calls);
                     });
  }

 private:
  struct Use {
    CollectiveLine line;
    std::vector<uint32_t> ranks;
    size_t distinct = 64;
  };

  size_t group_of(const Traffic &traffic, const Called &called) {
    if (by_ == By::nothing) return numbered("");
    if (by_ == By::communicator) {
      const analyze::Communicator *communicator = traffic.place ? traffic.place->communicator : nullptr;
      const auto [known, fresh] = by_communicator_.try_emplace({communicator, traffic.place.has_value()});
      if (fresh) known->second = numbered(traffic.place ? std::string(traffic.place->name()) : "unknown");
      return known->second;
    }
    const auto [known, fresh] = by_site_.try_emplace({called.class_index, called.site});
    if (fresh) {
      const std::string text = sources_.position(called.class_index, called.site).text();
      known->second = numbered(text.empty() ? "unknown" : text);
    }
    return known->second;
  }
  size_t numbered(const std::string &name) {
    const auto [known, fresh] = numbers_.try_emplace(name, names_.size());
    if (fresh) {
      names_.push_back(name);
      groups_.emplace_back();
    }
    return known->second;
  }

  void collective(const Traffic &traffic, const Called &called, size_t group) {
    const std::string communicator(traffic.place ? traffic.place->name() : "unknown");
    Use &use = collectives_[{communicator, operation_of(traffic.function), by_ == By::site ? group : 0}];
    use.line.communicator = communicator;
    use.line.operation = operation_of(traffic.function);
    if (by_ == By::site) use.line.site = names_[group];
    add_to(&use.line.calls, called.count);
    if (traffic.collective->bytes) {
      add_to(&use.line.bytes, saturating_product(*traffic.collective->bytes, called.count));
    } else {
      add_to(&use.line.unsized, called.count);
    }
    if (use.ranks.empty() || use.ranks.back() != called.rank) use.ranks.push_back(called.rank);
    // In the order of calls, equal ones come again and again.
    if (use.ranks.size() >= 2 * use.distinct) {
      std::sort(use.ranks.begin(), use.ranks.end());
      use.ranks.erase(std::unique(use.ranks.begin(), use.ranks.end()), use.ranks.end());
      use.distinct = std::max<size_t>(64, use.ranks.size());
    }
  }
  const std::string &operation_of(uint32_t function) {
    const auto [known, fresh] = operations_.try_emplace(function);
    if (fresh) known->second = analyze::operation(spec::functions()[function]);
    return known->second;
  }

  const analyze::Sources &sources_;
  By by_;
  const std::function<bool(const Called &)> &taken_;
  size_t cells_ = 0;
  std::vector<std::unordered_map<uint64_t, Amount>> groups_;
  std::vector<std::string> names_;
  std::map<std::string, size_t> numbers_;
  std::map<std::pair<const analyze::Communicator *, bool>, size_t> by_communicator_;
  std::map<std::pair<uint32_t, uint32_t>, size_t> by_site_;
  std::map<std::tuple<std::string, std::string, size_t>, Use> collectives_;
  std::map<uint32_t, std::string> operations_;
};

}  // namespace

void Amount::add(uint64_t count, const std::optional<uint64_t> &each, uint64_t times) {
  add_to(&messages, count);
  if (each) {
    add_to(&bytes, saturating_product(*each, times));
  } else {
    add_to(&unsized, count);
  }
}

void Amount::add(const Amount &other) {
  add_to(&messages, other.messages);
  add_to(&bytes, other.bytes);
  add_to(&unsized, other.unsized);
}

Result<Matrix> matrix_of(const trace::Trace &trace, const analyze::Sources &sources, const analyze::Filter &filter,
                         By by, bool expanded, const std::function<bool(const Called &)> &taken) {
  CellGathering gathering(sources, by, taken);
  auto seen = each_traffic(trace, sources, filter, {.expanded = expanded, .sums = true}, &gathering);
  if (!seen) return tl::unexpected(seen.error());
  if (gathering.is_full()) {
    return fail(ErrorKind::environment, "more than 4,194,304 pairs of ranks exchange something",
                expanded ? "leave out --collectives expanded, or look at fewer ranks with --rank"
                         : "look at fewer ranks with --rank");
  }
  Matrix matrix;
  matrix.ranks = trace.rank_count();
  matrix.by = by;
  matrix.seen = *seen;
  gathering.into(&matrix);
  for (const Group &group : matrix.groups) {
    for (const Cell &cell : group.cells) matrix.ranks = std::max({matrix.ranks, cell.from + 1, cell.to + 1});
  }
  return matrix;
}

std::vector<Cell> pairs_of(const Matrix &matrix) {
  std::vector<Cell> all;
  for (const Group &group : matrix.groups) all.insert(all.end(), group.cells.begin(), group.cells.end());
  std::sort(all.begin(), all.end(),
            [](const Cell &a, const Cell &b) { return std::tuple(a.from, a.to) < std::tuple(b.from, b.to); });
  std::vector<Cell> pairs;
  for (const Cell &cell : all) {
    if (pairs.empty() || pairs.back().from != cell.from || pairs.back().to != cell.to) {
      pairs.push_back({cell.from, cell.to, cell.kind, {}});
    }
    pairs.back().amount.add(cell.amount);
  }
  return pairs;
}

std::vector<Distance> distances_of(const std::vector<Cell> &pairs) {
  std::map<uint32_t, Amount> by_distance;
  for (const Cell &pair : pairs) {
    by_distance[pair.from > pair.to ? pair.from - pair.to : pair.to - pair.from].add(pair.amount);
  }
  std::vector<Distance> distances;
  distances.reserve(by_distance.size());
  for (const auto &[ranks, amount] : by_distance) distances.push_back({ranks, amount});
  return distances;
}

Symmetry symmetry_of(const std::vector<Cell> &pairs) {
  Symmetry symmetry;
  const auto back = [&](const Cell &pair) -> const Cell * {
    const auto found = std::lower_bound(pairs.begin(), pairs.end(), pair, [](const Cell &a, const Cell &b) {
      return std::pair(a.from, a.to) < std::pair(b.to, b.from);
    });
    return found != pairs.end() && found->from == pair.to && found->to == pair.from ? &*found : nullptr;
  };
  for (const Cell &pair : pairs) {
    if (pair.from == pair.to) continue;
    const Cell *other = back(pair);
    add_to(&symmetry.bytes, pair.amount.bytes);
    if (other != nullptr) add_to(&symmetry.returned, std::min(pair.amount.bytes, other->amount.bytes));
    if (other != nullptr && pair.from > pair.to) continue;  // counted from the other side
    ++symmetry.pairs;
    if (other == nullptr) continue;
    ++symmetry.both;
    if (other->amount.bytes == pair.amount.bytes && other->amount.messages == pair.amount.messages) ++symmetry.equal;
  }
  return symmetry;
}

Blocks blocks_of(const std::vector<Cell> &pairs, uint32_t ranks, uint32_t most, bool messages) {
  Blocks blocks;
  blocks.size = std::max(1U, (ranks + most - 1) / most);
  blocks.count = (ranks + blocks.size - 1) / blocks.size;
  blocks.values.resize(size_t{blocks.count} * blocks.count);
  for (const Cell &pair : pairs) {
    add_to(&blocks.values[size_t{pair.from / blocks.size} * blocks.count + pair.to / blocks.size],
           messages ? pair.amount.messages : pair.amount.bytes);
  }
  for (const uint64_t value : blocks.values) {
    blocks.most = std::max(blocks.most, value);
    if (value != 0 && (blocks.least == 0 || value < blocks.least)) blocks.least = value;
  }
  return blocks;
}

uint32_t level_of(const Blocks &blocks, uint64_t value, uint32_t levels) {
  if (value == 0) return 0;
  for (uint32_t level = levels; level > 1; --level) {
    if (value >= least_of_level(blocks, level, levels)) return level;
  }
  return 1;
}

uint64_t least_of_level(const Blocks &blocks, uint32_t level, uint32_t levels) {
  if (level <= 1 || blocks.least == 0) return blocks.least;
  // A level is a factor of two at least, or numbers that are nearly equal would look far apart.
  const double most = static_cast<double>(blocks.most);
  const double all = std::pow(most / static_cast<double>(blocks.least), 1.0 / static_cast<double>(levels));
  const double least = most / std::pow(std::max(2.0, all), static_cast<double>(levels - level + 1));
  return std::max(blocks.least, static_cast<uint64_t>(std::ceil(least)));
}

}  // namespace cairn::traffic
