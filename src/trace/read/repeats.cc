#include "trace/read/repeats.h"

#include <algorithm>
#include <utility>

#include "trace/read/trace_body.h"

namespace cairn::trace {
namespace {

/// How many rows of each group with streams there are, by its place among these.
struct GroupSums {
  using Sum = std::vector<uint64_t>;
  using Kept = std::vector<std::pair<uint32_t, uint64_t>>;  ///< those that there are
  size_t groups = 0;
  std::vector<uint32_t> place_of_row;  ///< UINT32_MAX: its group has none

  [[nodiscard]] Sum nothing() const { return Sum(groups); }
  void add(Sum *sum, grammar::Symbol row, uint64_t times) const {
    if (place_of_row[row] != UINT32_MAX) (*sum)[place_of_row[row]] += times;
  }
  static void add(Sum *sum, const Kept &rule, uint64_t times) {
    for (const auto &[place, rows] : rule) (*sum)[place] += rows * times;
  }
  static Kept keep(const Sum &sum) {
    Kept kept;
    for (uint32_t place = 0; place < sum.size(); ++place) {
      if (sum[place] != 0) kept.emplace_back(place, sum[place]);
    }
    return kept;
  }
};

}  // namespace

Repeats::Repeats(const Trace &trace, uint32_t class_index, uint64_t fewest_turns, uint64_t fewest_rows,
                 const std::function<bool(const Structure::RowHead &)> &may)
    : part_(class_part_of(trace, class_index)), fewest_turns_(fewest_turns), fewest_rows_(fewest_rows) {
  std::vector<bool> taken;
  for (const Structure::RowHead &row : structure_of(trace, class_index).rows) {
    taken.push_back(!std::holds_alternative<Draining>(part_.rows[taken.size()]->kind) && may(row));
  }
  find_terms(taken);
  if (terms_.empty()) return;
  const RowGroups groups(part_.rows);
  for (const Stream &stream : part_.streams) {
    if (stream.group >= groups.count()) continue;
    // How many polls found nothing does not matter; whether another call was made does.
    const ClassRow &first = *part_.rows[groups.first_row[stream.group]];
    const bool polls = std::holds_alternative<Counted>(first.kind) && count_field(first) == stream.field;
    if (!polls) streams_[stream.group].push_back(&stream);
  }
  count_groups();
}

void Repeats::find_terms(const std::vector<bool> &taken) {
  const std::vector<grammar::Body> &rules = part_.calls->rules();
  const std::vector<uint64_t> &lengths = part_.calls->lengths();
  std::vector<bool> all_taken(rules.size(), true);
  for (size_t rule = rules.size(); rule-- > 0;) {  // a rule refers to later ones
    for (const grammar::Term &term : rules[rule]) {
      all_taken[rule] = all_taken[rule] && (term.is_rule ? all_taken[term.id] : taken[term.id]);
    }
  }
  struct Level {
    uint32_t rule = 0;
    size_t term = 0;
    uint64_t turn = 0;  ///< of the term
  };
  constexpr size_t kMostTerms = 4096;
  constexpr uint64_t kMostVisits = uint64_t{1} << 20;
  std::vector<Level> levels{{}};
  uint64_t row = 0;
  for (uint64_t visits = 0; !levels.empty() && visits < kMostVisits && terms_.size() < kMostTerms; ++visits) {
    Level &level = levels.back();
    if (level.term == rules[level.rule].size()) {
      levels.pop_back();
      continue;
    }
    const grammar::Term &term = rules[level.rule][level.term];
    const uint64_t length = term.is_rule ? lengths[term.id] : 1;
    const bool more = term.count > fewest_turns_ && (term.count - fewest_turns_) * length >= fewest_rows_;
    if (more && (term.is_rule ? all_taken[term.id] : taken[term.id])) terms_.push_back({{row, length, term.count}, {}});
    // A rule is looked into each time that it stands there, if it is long enough to have something.
    const bool within = term.is_rule && !more && length >= fewest_turns_ + fewest_rows_ && level.turn < term.count;
    if (within) {
      ++level.turn;
      levels.push_back({term.id, 0, 0});
      continue;
    }
    if (level.turn == 0) row += length * term.count;
    ++level.term;
    level.turn = 0;
  }
}

void Repeats::count_groups() {
  GroupSums sums;
  const RowGroups groups(part_.rows);
  std::vector<uint32_t> with_streams;
  std::vector<uint32_t> places(groups.count(), UINT32_MAX);
  for (const auto &[group, streams] : streams_) {
    places[group] = static_cast<uint32_t>(with_streams.size());
    with_streams.push_back(group);
  }
  sums.groups = with_streams.size();
  for (const uint32_t group : groups.of_row) sums.place_of_row.push_back(places[group]);
  const grammar::PrefixSums<GroupSums> counted(*part_.calls, std::move(sums));
  for (Term &term : terms_) {
    const std::vector<uint64_t> before = counted.before(term.once.row);
    const std::vector<uint64_t> behind = counted.before(term.once.row + term.once.rows);
    for (size_t i = 0; i < with_streams.size(); ++i) {
      if (behind[i] != before[i]) term.groups.push_back({with_streams[i], before[i], behind[i] - before[i]});
    }
  }
}

bool Repeats::repeats(const StreamVariant &variant, const Term::OfGroup &of, uint64_t turns, uint64_t period) {
  if (variant.differences) return false;
  const grammar::Grammar *order = variant.order.get();
  const uint64_t turn = of.each_turn * period;
  const auto [known, fresh] = known_.try_emplace({order, of.before, turn, turns}, false);
  if (!fresh) return known->second;
  const auto hashes = hashes_.try_emplace(order, *order).first;
  const uint64_t length = turn * (turns - 1);
  const auto hash = [&](uint64_t begin) {
    return hashes->second.before(begin + length).behind(hashes->second.before(begin)).value();
  };
  known->second = order->length() >= of.before + length + turn && hash(of.before) == hash(of.before + turn);
  return known->second;
}

std::vector<Repeat> Repeats::of(uint32_t rank) {
  constexpr uint64_t kLongestPeriod = 8;
  std::vector<Repeat> found;
  for (const Term &term : terms_) {
    std::vector<std::pair<const StreamVariant *, const Term::OfGroup *>> variants;
    for (const Term::OfGroup &of : term.groups) {
      for (const Stream *stream : streams_[of.group]) {
        for (const StreamVariant &variant : stream->variants) {
          if (variant.ranks.index_of(rank)) variants.emplace_back(&variant, &of);
        }
      }
    }
    for (uint64_t period = 1; period <= kLongestPeriod; ++period) {
      const uint64_t turns = term.once.turns / period;
      if (turns <= fewest_turns_ || (turns - fewest_turns_) * term.once.rows * period < fewest_rows_) break;
      const bool all = std::all_of(variants.begin(), variants.end(),
                                   [&](const auto &each) { return repeats(*each.first, *each.second, turns, period); });
      if (!all) continue;
      found.push_back({term.once.row, term.once.rows * period, turns});
      break;
    }
  }
  return found;
}

}  // namespace cairn::trace
