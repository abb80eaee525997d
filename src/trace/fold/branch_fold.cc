#include "trace/fold/branch_fold.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "trace/model/class_part.h"

namespace cairn::trace {
namespace {

using grammar::Body;
using grammar::Grammar;
using grammar::Symbol;
using grammar::Term;

constexpr int kMostRounds = 4;     // branches within branches
constexpr size_t kMostGrowth = 4;  // times as many terms
constexpr uint32_t kNone = UINT32_MAX;

/// Which group can come right behind which.
class Followers {
 public:
  Followers(const Grammar &calls, const RowGroups &groups)
      : first_(calls.rules().size(), kNone),
        last_(calls.rules().size(), kNone),
        after_(groups.count()),
        before_(groups.count()),
        row_(groups.count(), kNone) {
    const std::vector<Body> &rules = calls.rules();
    for (size_t rule = rules.size(); rule-- > 0;) {
      uint32_t last = kNone;
      for (const Term &term : rules[rule]) {
        const uint32_t first = term.is_rule ? first_[term.id] : groups.of_row[term.id];
        add(last, first);
        last = term.is_rule ? last_[term.id] : first;
        if (!term.is_rule) row_[first] = std::min(row_[first], term.id);
        if (term.count > 1) add(last, first);
        if (first_[rule] == kNone) first_[rule] = first;
      }
      last_[rule] = last;
    }
  }
  [[nodiscard]] uint32_t first_of(uint32_t rule) const { return first_[rule]; }
  /// The first of its rows that stands anywhere.
  [[nodiscard]] uint32_t row_of(uint32_t group) const { return row_[group]; }
  [[nodiscard]] const std::vector<uint32_t> &after(uint32_t group) const { return after_[group]; }
  /// Whether `group` comes behind `other` alone.
  [[nodiscard]] bool only_behind(uint32_t group, uint32_t other) const {
    return before_[group].size() == 1 && before_[group][0] == other;
  }

 private:
  void add(uint32_t left, uint32_t right) {
    if (left == kNone || right == kNone || !known_.insert(uint64_t{left} << 32 | right).second) return;
    after_[left].push_back(right);
    before_[right].push_back(left);
  }
  std::vector<uint32_t> first_;
  std::vector<uint32_t> last_;
  std::vector<std::vector<uint32_t>> after_;
  std::vector<std::vector<uint32_t>> before_;
  std::vector<uint32_t> row_;
  std::unordered_set<uint64_t> known_;
};

using Arm = std::vector<uint32_t>;  ///< groups

struct Branch {
  uint32_t poll = 0;
  Arm found;  ///< begins with the successful poll
  Arm other;  ///< may be empty
};

/// The branches of a sequence, none of which has a group in common with another.
class Branches {
 public:
  Branches(const Grammar &calls, const RowGroups &groups, const std::vector<RowPointer> &rows,
           const std::vector<Poll> &recorded)
      : groups_(groups), rows_(rows), recorded_(recorded), followers_(calls, groups), used_(groups.count()) {
    std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> polls;
    for (uint32_t group = 0; group < groups.count(); ++group) {
      if (row_of(group).kind == RowKind(Counted{1})) polls.try_emplace(call_of(group), group);
    }
    for (uint32_t group = 0; group < groups.count() && !polls.empty(); ++group) {
      const auto poll = polls.find(call_of(group));
      if (poll != polls.end() && is_call(row_of(group).kind)) look_at(poll->second, group);
    }
  }
  [[nodiscard]] const std::vector<Branch> &all() const { return all_; }
  [[nodiscard]] const Followers &followers() const { return followers_; }

 private:
  [[nodiscard]] const ClassRow &row_of(uint32_t group) const { return *rows_[groups_.first_row[group]]; }
  [[nodiscard]] std::tuple<uint32_t, uint32_t, uint32_t> call_of(uint32_t group) const {
    const ClassRow &row = row_of(group);
    return {row.function, row.site, row.depth};
  }

  void look_at(uint32_t poll, uint32_t found) {
    if (!followers_.only_behind(found, poll)) return;
    Branch branch{poll, arm(found), {}};
    std::vector<uint32_t> others = followers_.after(poll);
    std::erase(others, found);
    if (others.size() == 1 && followers_.only_behind(others[0], poll)) branch.other = arm(others[0]);
    const std::vector<uint32_t> &ends = followers_.after(branch.found.back());
    const std::vector<uint32_t> &others_end = branch.other.empty() ? others : followers_.after(branch.other.back());
    const bool meet = std::any_of(ends.begin(), ends.end(), [&](uint32_t end) {
      return std::find(others_end.begin(), others_end.end(), end) != others_end.end();
    });
    std::vector<uint32_t> all = branch.found;
    all.insert(all.end(), branch.other.begin(), branch.other.end());
    const auto alone = [&](uint32_t group) { return row_of(group).depth == 0; };
    const bool may =
        std::all_of(all.begin(), all.end(), [&](uint32_t group) { return !used_[group] && may_miss(group); }) &&
        std::all_of(ends.begin(), ends.end(), alone) && std::all_of(others_end.begin(), others_end.end(), alone);
    if (!meet || !may || used_[poll] || std::find(all.begin(), all.end(), poll) != all.end()) return;
    used_[poll] = true;
    for (const uint32_t group : all) used_[group] = true;
    all_.push_back(std::move(branch));
  }

  /// Whether rows of this group can say that they were made no time, each for itself.
  [[nodiscard]] bool may_miss(uint32_t group) const {
    const RowKind &kind = row_of(group).kind;
    const uint32_t row = followers_.row_of(group);
    if (row_of(group).depth != 0 || (row < recorded_.size() && recorded_[row].stays)) return false;
    return is_call(kind) || kind == RowKind(Counted{1}) || kind == RowKind(Optional());
  }

  [[nodiscard]] Arm arm(uint32_t first) const {
    Arm arm = {first};
    for (;;) {
      const std::vector<uint32_t> &next = followers_.after(arm.back());
      if (next.size() != 1 || !followers_.only_behind(next[0], arm.back())) return arm;
      if (std::find(arm.begin(), arm.end(), next[0]) != arm.end()) return arm;
      arm.push_back(next[0]);
    }
  }

  const RowGroups &groups_;
  const std::vector<RowPointer> &rows_;
  const std::vector<Poll> &recorded_;
  Followers followers_;
  std::vector<bool> used_;
  std::vector<Branch> all_;
};

/// The sequence with both arms of each branch wherever it stands.
class BothArms {
 public:
  BothArms(const Grammar &calls, const RowGroups &groups, const Branches &branches, CountedRows *rows)
      : calls_(calls), groups_(groups), branches_(branches), rows_(*rows), part_of_(groups.count()) {
    for (const Branch &branch : branches.all()) {
      if (branch.other.empty()) part_of_[branch.poll] = {&branch, Place::poll};
      for (const uint32_t group : branch.found) part_of_[group] = {&branch, Place::within};
      for (const uint32_t group : branch.other) part_of_[group] = {&branch, Place::within};
      part_of_[branch.found.back()].place = Place::end_of_found;
      if (!branch.other.empty()) part_of_[branch.other.front()].place = Place::begin_of_other;
    }
    for (const Body &body : calls.rules()) most_terms_ += kMostGrowth * body.size();
  }

  /// Nothing if it would grow too much.
  std::optional<Grammar> run() {
    number(0, kNone);
    for (size_t i = 0; i < asked_.size(); ++i) {
      const auto [rule, next] = asked_[i];
      const std::vector<Term> &body = calls_.rules()[rule];
      Body made;
      for (size_t t = 0; t < body.size(); ++t) {
        const size_t before = made.size();
        add(body[t], t + 1 < body.size() ? first_of(body[t + 1]) : next, &made);
        terms_ += made.size() - before;
        if (terms_ > most_terms_) return std::nullopt;
      }
      bodies_[i] = std::move(made);
    }
    // Further rules come behind those of the sequence.
    const auto behind = static_cast<uint32_t>(bodies_.size());
    std::move(further_.begin(), further_.end(), std::back_inserter(bodies_));
    for (Body &body : bodies_) {
      for (Term &term : body) {
        if (term.is_rule && term.id >= kFurther) term.id = behind + (term.id - kFurther);
      }
    }
    Result<Grammar> made = Grammar::from_rules(std::move(bodies_));
    return made ? std::optional(*std::move(made)) : std::nullopt;
  }

 private:
  enum class Place : uint8_t { nowhere, poll, within, end_of_found, begin_of_other };
  struct Part {
    const Branch *branch = nullptr;
    Place place = Place::nowhere;
  };
  static constexpr uint32_t kFurther = uint32_t{1} << 31;

  [[nodiscard]] uint32_t first_of(const Term &term) const {
    return term.is_rule ? branches_.followers().first_of(term.id) : groups_.of_row[term.id];
  }
  /// Of a rule where this group follows. Only whether it is the arm of a branch matters.
  uint32_t number(uint32_t rule, uint32_t next) {
    if (next != kNone && (part_of_[next].branch == nullptr || part_of_[next].branch->found.front() != next))
      next = kNone;
    const auto [known, added] = numbers_.try_emplace({rule, next}, static_cast<uint32_t>(asked_.size()));
    if (added) asked_.emplace_back(rule, next);
    if (added) bodies_.emplace_back();
    return known->second;
  }
  void add(const Term &term, uint32_t next, Body *body) {
    if (term.is_rule) {
      if (term.count > 1) body->push_back({number(term.id, first_of(term)), true, term.count - 1});
      body->push_back({number(term.id, next), true, 1});
      return;
    }
    if (term.count > 1) {
      Body again;
      add_symbol(term.id, groups_.of_row[term.id], &again);
      if (again.size() == 1) {
        body->push_back({again[0].id, false, term.count - 1});
      } else {
        body->push_back({further_rule(std::move(again)), true, term.count - 1});
      }
    }
    add_symbol(term.id, next, body);
  }
  void add_symbol(Symbol row, uint32_t next, Body *body) {
    const Part &part = part_of_[groups_.of_row[row]];
    if (part.place == Place::begin_of_other) add_absent(part.branch->found, body);
    const bool counts = part.place != Place::nowhere && part.place != Place::poll;
    body->push_back({counts ? rows_.present(row) : row, false, 1});
    if (part.place == Place::end_of_found) add_absent(part.branch->other, body);
    if (part.place == Place::poll && next != part.branch->found.front()) add_absent(part.branch->found, body);
  }
  /// A rule of its own, so that it costs a term wherever it is left out.
  void add_absent(const Arm &arm, Body *body) {
    if (arm.empty()) return;
    const auto [known, added] = absent_.try_emplace(&arm, 0);
    if (added) {
      Body rows;
      for (const uint32_t group : arm) rows.push_back({rows_.absent(branches_.followers().row_of(group)), false, 1});
      known->second = further_rule(std::move(rows));
    }
    body->push_back({known->second, true, 1});
  }
  uint32_t further_rule(Body body) {
    terms_ += body.size();
    further_.push_back(std::move(body));
    return kFurther + static_cast<uint32_t>(further_.size() - 1);
  }

  const Grammar &calls_;
  const RowGroups &groups_;
  const Branches &branches_;
  CountedRows &rows_;
  std::vector<Part> part_of_;  ///< by group
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> numbers_;
  std::vector<std::pair<uint32_t, uint32_t>> asked_;
  std::vector<Body> bodies_;
  std::vector<Body> further_;
  std::map<const Arm *, uint32_t> absent_;
  size_t terms_ = 0;
  size_t most_terms_ = 4096;
};

}  // namespace

Grammar fold_branches(Grammar calls, const std::vector<Poll> &polls, CountedRows *rows) {
  for (int round = 0; round < kMostRounds; ++round) {
    const std::vector<RowPointer> now = rows->rows();
    const RowGroups groups(now);
    const Branches branches(calls, groups, now, polls);
    if (branches.all().empty()) break;
    std::optional<Grammar> folded = BothArms(calls, groups, branches, rows).run();
    if (!folded) break;
    calls = *std::move(folded);
  }
  return calls;
}

}  // namespace cairn::trace
