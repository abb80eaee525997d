#include "extrapolate/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "extrapolate/learning.h"
#include "extrapolate/row_parts.h"
#include "extrapolate/walk.h"

namespace cairn::extrapolate {
namespace {

constexpr size_t kMostSamples = 8000;  // of a call that differs from turn to turn

/// Of `of` parts, one at a like place: at an edge if this is, else anywhere between.
int64_t like(int64_t at, int64_t parts, int64_t of) {
  if (at == 0 || of == 1) return 0;
  if (at + 1 == parts) return of - 1;
  return of <= 2 ? 0 : 1 + (at - 1) % (of - 2);
}

const CourseItem *find_call(const std::vector<CourseItem> &list, uint32_t number) {
  for (const CourseItem &item : list) {
    if (item.number == number) return &item;
    if (const CourseItem *found = find_call(item.body, number)) return found;
  }
  return nullptr;
}

}  // namespace

bool CallRule::turning() const {
  return std::any_of(fields.begin(), fields.end(), [](const FieldRule &field) { return field.turning; });
}

void CallRule::set_loops() {
  const unsigned kAll = by_innermost ? 1 : 0xff;
  unsigned all = 0;
  const auto add = [&all, kAll](const std::vector<AtomRule> &atoms) {
    for (const AtomRule &atom : atoms) all |= atom.kind == AtomRule::Kind::law ? atom.law.loops() : kAll;
  };
  for (const FieldRule &field : fields) {
    if (!field.turning) continue;
    if (field.kind == FieldRule::Kind::drawn) all = kAll;
    all |= static_cast<unsigned>(field.shape.loops() | field.length.loops());
    for (const std::vector<AtomRule> &shape : field.shapes) add(shape);
    add(field.element);
  }
  loops = static_cast<uint8_t>(all);
}

class Learning {
 public:
  Learning(const std::vector<Run> &runs, const Catalogue &catalogue) : runs_(runs) {
    program_.runs_ = &runs;
    program_.catalogue_ = &catalogue;
  }

  Result<Program> program() {
    if (auto done = find_course(); !done) return tl::unexpected(done.error());
    program_.rules_.resize(program_.course_.items);
    program_.donated_.resize(program_.course_.items);
    program_.donor_turns_.assign(program_.course_.items, 1);
    learn_counts(&program_.course_.list);
    collect();
    for (uint32_t number = 0; number < program_.course_.items; ++number) {
      const CourseItem *item = find_call(program_.course_.list, number);
      if (!item->is_loop()) learn_call(*item);
    }
    return std::move(program_);
  }

 private:
  Result<void> find_course() {
    std::map<std::vector<uint32_t>, uint32_t> numbers;
    std::vector<std::vector<uint32_t>> sequences;
    std::vector<const std::vector<uint32_t> *> first;  // the calls of a rank that each is of
    std::vector<size_t> run_of;
    for (const Run &run : runs_) {
      std::vector<uint32_t> &of_ranks = program_.sequence_of_.emplace_back();
      for (const std::vector<uint32_t> &calls : run.calls) {
        std::vector<uint32_t> kinds;
        kinds.reserve(calls.size());
        for (const uint32_t call : calls) kinds.push_back(catalogue().kind_of(call));
        const auto [entry, fresh] = numbers.try_emplace(kinds, static_cast<uint32_t>(sequences.size()));
        if (fresh) {
          sequences.push_back(std::move(kinds));
          first.push_back(&calls);
          run_of.push_back(program_.sequence_of_.size() - 1);
        }
        of_ranks.push_back(entry->second);
      }
    }
    std::vector<std::vector<Nest>> nests;
    nests.reserve(sequences.size());
    for (const std::vector<uint32_t> &sequence : sequences) nests.push_back(fold(sequence));
    const auto traits_of = [&](size_t sequence, size_t place) {
      return traits(catalogue().calls()[(*first[sequence])[place]]);
    };
    if (!course_of(std::move(nests), run_of, traits_of, &program_.course_)) {
      return fail(ErrorKind::usage, "what the ranks call is too long and too different to be compared",
                  "extrapolate from runs of fewer steps");
    }
    // What the course gives must be what was made.
    for (size_t s = 0; s < sequences.size(); ++s) {
      std::vector<uint32_t> again;
      again.reserve(sequences[s].size());
      walk(
          program_.course_.list, Moment(), [&](const CourseItem &item, const Moment &) { return item.counts[s]; },
          [&](const CourseItem &item, const Moment &) { again.push_back(item.call); });
      if (again != sequences[s]) {
        return fail(ErrorKind::internal, fmt::format("the course of {} calls is not what was recorded", again.size()));
      }
    }
    return {};
  }

  /// Tag, buffer, count and all else but partners.
  static Traits traits(const trace::Row &row) {
    Traits result{};
    for (size_t f = 0; f < row.fields.size(); ++f) {
      const spec::Parameter *parameter = parameter_of(row.function, f);
      if (parameter == nullptr || parameter->kind == spec::Kind::rank) continue;
      const size_t place = parameter->kind == spec::Kind::tag           ? 0
                           : parameter->layout == spec::Layout::address ? 1
                           : parameter->kind == spec::Kind::count       ? 2
                                                                        : 3;
      for (const trace::Atom atom : row.fields[f].atoms) {
        result[place] = (result[place] ^ static_cast<uint64_t>(atom)) * 0x9E3779B97F4A7C15ULL + f;
      }
    }
    return result;
  }

  void learn_counts(std::vector<CourseItem> *list) {
    for (CourseItem &item : *list) {
      std::optional<Law> law = law_of_count(item, false);
      if (!law && item.is_loop() &&
          std::any_of(item.counts.begin(), item.counts.end(), [](int64_t c) { return c == 0; })) {
        // It may as well turn as often as elsewhere, with nothing in it.
        law = law_of_count(item, true);
        if (law) {
          for (size_t s = 0; s < item.counts.size(); ++s) {
            if (item.counts[s] != 0) continue;
            for (CourseItem &inner : item.body) inner.counts[s] = 0;
          }
        }
      }
      program_.rules_[item.number].count = law;
      if (law) {
        ++program_.certainty_.exact;
        if (law->is_constant()) ++program_.certainty_.constant;
      } else {
        const std::string what = item.is_loop() ? std::string("a loop") : catalogue().text(item.call);
        program_.certainty_.drawn.push_back("how often: " + what);
      }
      learn_counts(&item.body);
    }
  }

  std::optional<Law> law_of_count(const CourseItem &item, bool without_zeros) {
    std::vector<Sample> samples;
    std::vector<int64_t> counts;
    for (size_t run = 0; run < runs_.size(); ++run) {
      for (uint32_t rank = 0; rank < runs_[run].ranks; ++rank) {
        const int64_t count = item.counts[program_.sequence_of_[run][rank]];
        if (count < 0 || (without_zeros && count == 0)) continue;
        Moment moment;
        moment.of = &runs_[run].coordinates[rank];
        samples.push_back({static_cast<uint32_t>(run), moment, 0});
        counts.push_back(count);
      }
    }
    return fits_.of(samples)->law(counts);
  }

  /// Goes through every call of every rank.
  template <typename Each>
  void each_call(const Each &each) {
    for (size_t run = 0; run < runs_.size(); ++run) {
      for (uint32_t rank = 0; rank < runs_[run].ranks; ++rank) {
        const uint32_t sequence = program_.sequence_of_[run][rank];
        const std::vector<uint32_t> &calls = runs_[run].calls[rank];
        size_t next = 0;
        Moment moment;
        moment.of = &runs_[run].coordinates[rank];
        walk(
            program_.course_.list, moment,
            [&](const CourseItem &item, const Moment &) { return item.counts[sequence]; },
            [&](const CourseItem &item, const Moment &here) { each(run, rank, item.number, here, calls[next++]); });
      }
    }
  }

  void collect() {
    const size_t items = program_.course_.items;
    std::vector<bool> varies(items);
    std::vector<std::map<std::pair<size_t, uint32_t>, uint32_t>> first(items);
    std::vector<uint64_t> often(items);
    each_call([&](size_t run, uint32_t rank, uint32_t item, const Moment &, uint32_t call) {
      const auto [entry, fresh] = first[item].try_emplace({run, rank}, call);
      if (entry->second != call) varies[item] = true;
      ++often[item];
    });
    of_rank_.resize(items);
    of_turn_.resize(items);
    std::vector<uint64_t> seen(items);
    each_call([&](size_t run, uint32_t rank, uint32_t item, const Moment &here, uint32_t call) {
      const bool in_last = run + 1 == runs_.size();
      std::vector<uint32_t> *donated = in_last ? &program_.donated_[item][rank] : nullptr;
      const bool first_of_rank = !of_rank_[item].contains({run, rank});
      if (in_last) {
        program_.donor_turns_[item] = std::max(program_.donor_turns_[item], static_cast<size_t>(here.turns[0]));
      }
      if (donated != nullptr && (donated->empty() || varies[item])) donated->push_back(call);
      std::vector<uint32_t> &distinct = of_rank_[item][{run, rank}];
      if (first_of_rank) distinct.push_back(call);
      if (!varies[item]) return;
      if (distinct.size() < 64 && std::find(distinct.begin(), distinct.end(), call) == distinct.end())
        distinct.push_back(call);
      const uint64_t step = 1 + often[item] / kMostSamples;
      // The first turns of each rank, and of the others a spread that no loop is in step with.
      const uint64_t place = seen[item]++;
      if (step == 1 || (place * 0x9E3779B97F4A7C15ULL >> 32) % step == 0 || first_of_rank) {
        of_turn_[item].push_back({static_cast<uint32_t>(run), here, call});
      }
    });
  }

  void learn_call(const CourseItem &item) {
    const uint32_t number = item.number;
    CallRule &rule = program_.rules_[number].call;
    rule.call = item.call;
    if (of_rank_[number].empty()) return;
    std::vector<Sample> by_rank;
    for (const auto &[where, calls] : of_rank_[number]) {
      Moment moment;
      moment.of = &runs_[where.first].coordinates[where.second];
      by_rank.push_back({static_cast<uint32_t>(where.first), moment, calls.front()});
    }
    const size_t fields = catalogue().calls()[by_rank.front().call].fields.size();
    FieldLearning learning(catalogue(), &fits_, &program_.certainty_);
    for (size_t f = 0; f < fields; ++f) {
      bool turning = false;
      for (const auto &[where, calls] : of_rank_[number]) {
        const trace::Field &front = catalogue().calls()[calls.front()].fields[f];
        turning = turning || std::any_of(calls.begin(), calls.end(),
                                         [&](uint32_t call) { return catalogue().calls()[call].fields[f] != front; });
      }
      rule.fields.push_back(learning.learn(item.call, f, turning ? of_turn_[number] : by_rank));
      rule.fields.back().turning = turning;
    }
    rule.by_innermost = is_by_innermost(of_turn_[number]);
    rule.set_loops();
  }

  /// The calls are the same whatever the turns of outer loops.
  static bool is_by_innermost(const std::vector<Sample> &samples) {
    std::map<std::pair<const Coordinates *, int32_t>, uint32_t> known;
    return std::all_of(samples.begin(), samples.end(), [&](const Sample &sample) {
      const auto [entry, fresh] = known.try_emplace({sample.moment.of, sample.moment.turn[0]}, sample.call);
      return entry->second == sample.call;
    });
  }

  [[nodiscard]] const Catalogue &catalogue() const { return *program_.catalogue_; }

  const std::vector<Run> &runs_;
  Program program_;
  Fits fits_;
  /// By item: the distinct calls of each rank, and samples of those that turn.
  std::vector<std::map<std::pair<size_t, uint32_t>, std::vector<uint32_t>>> of_rank_;
  std::vector<std::vector<Sample>> of_turn_;
};

Result<Program> Program::learn(const std::vector<Run> &runs, const Catalogue &catalogue) {
  return Learning(runs, catalogue).program();
}

uint32_t Program::donor_of(const Coordinates &of) const {
  const Mesh &mine = of.tall;
  const Mesh &there = largest().coordinates.front().tall;
  return static_cast<uint32_t>(like(mine.y, mine.rows, there.rows) * there.columns +
                               like(mine.x, mine.columns, there.columns));
}

int64_t Program::donor_count(const CourseItem &item, uint32_t donor) const {
  return item.counts[sequence_of_.back()[donor]];
}

const std::vector<uint32_t> &Program::donor_calls(const CourseItem &item, uint32_t donor) const {
  static const std::vector<uint32_t> none;
  const auto &by_rank = donated_[item.number];
  const auto found = by_rank.find(donor);
  if (found != by_rank.end()) return found->second;
  if (by_rank.empty()) return none;
  // Of the ranks that made the call, one that does not depend on the order in a table.
  uint32_t least = UINT32_MAX;
  for (const auto &[rank, calls] : by_rank) least = std::min(least, rank);
  return by_rank.at(least);
}

}  // namespace cairn::extrapolate
