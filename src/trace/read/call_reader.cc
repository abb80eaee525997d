#include "trace/read/call_reader.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/model/request_arrays.h"
#include "trace/read/rank_rows.h"
#include "trace/read/row_places.h"
#include "trace/read/trace_body.h"

namespace cairn::trace {

using grammar::Symbol;

/// One row, with one value of each of its streams, that drains requests: another call for each array that it finds.
struct DrainingRow {
  struct Step {
    Symbol call = grammar::kNoSymbol;
    uint32_t left = RequestArrays::kNone;
  };
  Row row;
  DrainedField field;
  std::unordered_map<uint32_t, Step> steps;  ///< by the array found
};

struct CallReader::State {
  struct Call {
    Row row;
    uint32_t class_row;
  };
  /// What a row with values of its streams is: a call, or one of `draining`.
  struct Met {
    Symbol number = grammar::kNoSymbol;
    bool drains = false;
  };
  /// One call of a cycle.
  struct Step {
    Met met;
    uint32_t row;  ///< of the class
  };
  State(const Trace &trace, const ClassPart &of, const SequenceView &sequence)
      : given_in_all(trace.body().calls_given),
        part(of),
        member(*of.ranks.index_of(sequence.rank)),
        rows(trace, of, sequence),
        walker(*of.calls),
        met_by_row(of.rows.size()) {}
  State(const State &) = delete;
  State &operator=(const State &) = delete;
  ~State() { tell(); }
  void tell() {
    if (told) given_in_all += given;
    given = 0;
  }

  std::atomic<uint64_t> &given_in_all;  // Trace::calls_given
  bool told = true;
  uint32_t given = 0;  // since that was told
  const ClassPart &part;
  uint64_t member;
  RankRows rows;
  grammar::Walker walker;
  std::vector<Met> met_by_row;                  // calls that nothing tells from others of their row
  std::unordered_map<std::string, Met> met_by;  // the others
  std::deque<Call> calls;
  std::deque<DrainingRow> draining;
  RequestArrays arrays;
  std::optional<RowCalls> draining_calls;  // that are being read
  std::vector<Step> cycle;                 // being repeated
  size_t place = 0;                        // in it
  uint64_t left = 0;                       // how often it is begun again
  uint64_t read = 0;                       // rows of the class's sequence
  uint64_t row_place = 0;                  // of the first of those that are being given
  std::optional<RowPlaces> places;         // once somebody asked

  Symbol add(Row row, uint32_t class_row) {
    calls.push_back({std::move(row), class_row});
    return static_cast<Symbol>(calls.size() - 1);
  }
  Met know(const CallRun &run) {
    Row row = rows.complete(run);
    const std::optional<DrainedField> field = DrainedField::of(row);
    if (!field) return {add(std::move(row), run.row), false};
    draining.push_back({std::move(row), *field, {}});
    return {static_cast<Symbol>(draining.size() - 1), true};
  }
  Met meet(const CallRun &run) {
    if (run.key.empty()) {
      Met &met = met_by_row[run.row];
      if (met.number == grammar::kNoSymbol) met = know(run);
      return met;
    }
    ByteWriter whole;
    whole.varint(run.row);
    whole.raw(run.key);
    const ByteView bytes = whole.view();
    const auto [entry, added] = met_by.try_emplace(std::string(bytes.begin(), bytes.end()));
    if (added) entry->second = know(run);
    return entry->second;
  }
  Symbol call(const Met &met, uint32_t class_row) {
    if (!met.drains) return met.number;
    DrainingRow &of = draining[met.number];
    const uint32_t found = arrays.found(of.row, of.field);
    const auto [step, added] = of.steps.try_emplace(found);
    if (added) {
      Row row = of.row;
      step->second.left = arrays.complete(&row, of.field, found);
      step->second.call = add(std::move(row), class_row);
    }
    arrays.leave(of.field, step->second.left);
    return step->second.call;
  }

  Symbol next_row() {
    ++read;
    return walker.next();
  }

  /// Fills `cycle`, which may be repeated no time at all. False at the end.
  bool read_on() {
    if (more_of_drain()) return true;
    row_place = read;
    const Symbol row = next_row();
    if (row == grammar::kNoSymbol) return false;
    RowCalls now = rows.calls(row);
    const RowKind &kind = part.rows[row]->kind;
    if (is_call(kind)) {
      repeat(now.next());
    } else if (const auto *counted = std::get_if<Counted>(&kind)) {
      read_cycle(now.next(), counted->cycle);
    } else if (std::holds_alternative<Optional>(kind)) {
      read_cycle(now.next(), 1);
    } else {
      draining_calls = std::move(now);
    }
    return true;
  }
  /// Fills `cycle` with the next calls of the row that drains requests. False if it has no more of them.
  bool more_of_drain() {
    cycle.clear();
    place = 0;
    if (draining_calls && repeat(draining_calls->next())) return true;
    draining_calls.reset();
    return false;
  }
  bool repeat(const std::optional<CallRun> &run) {
    if (run) cycle.push_back({meet(*run), run->row});
    left = run ? run->times : 0;
    return run.has_value();
  }
  /// The cycle that begins with a counted row. What a call of it is may differ from one time to the next: it may drain
  /// another array.
  void read_cycle(std::optional<CallRun> run, uint32_t length) {
    const uint64_t times = run ? run->times : 0;
    for (;;) {
      if (run) cycle.push_back({meet(*run), run->row});
      const Symbol row = --length == 0 ? grammar::kNoSymbol : next_row();
      if (row == grammar::kNoSymbol) break;
      run = rows.calls(row).next();
    }
    left = cycle.empty() ? 0 : times;
  }

  RowPlaces &index() {
    if (!places) places.emplace(part, member, &rows);
    return *places;
  }

  /// The next row is the one at `row`, which begins a unit; what is remembered of arrays stays.
  void stand_at(uint64_t row) {
    walker = index().seek(row);
    read = row;
    row_place = row;
    draining_calls.reset();
    cycle.clear();
    place = 0;
    left = 0;
  }

  /// Leaves out calls of the cycle that is being repeated, at most `most`; gives how many.
  uint64_t skip_in_cycle(uint64_t most) {
    uint64_t skipped = 0;
    const bool drains = std::any_of(cycle.begin(), cycle.end(), [](const Step &step) { return step.met.drains; });
    std::vector<std::vector<uint32_t>> known;  // what was remembered where turns began
    while (skipped < most && left != 0) {
      if (place == 0) {
        // What a turn does to arrays soon repeats itself: from then on turns are left out by so many.
        uint64_t period = 1;
        if (drains) {
          constexpr size_t kMostKnown = 64;
          const auto same = std::find(known.begin(), known.end(), arrays.remembered());
          period = static_cast<uint64_t>(known.end() - same);
          if (period == 0 && known.size() < kMostKnown) known.push_back(arrays.remembered());
        }
        const uint64_t turns = period == 0 ? 0 : std::min((most - skipped) / cycle.size(), left) / period * period;
        skipped += turns * cycle.size();
        left -= turns;
        if (turns != 0) continue;
      }
      const Step step = cycle[place];
      if (step.met.drains) call(step.met, step.row);
      pass();
      ++skipped;
    }
    return skipped;
  }
  /// The call at hand is given.
  void pass() {
    if (++place != cycle.size()) return;
    place = 0;
    --left;
  }

  /// Leaves out that many calls.
  void skip(uint64_t count) {
    while (count != 0) {
      if (left == 0 && !read_on()) return;
      count -= skip_in_cycle(count);
    }
  }

  /// Goes on to the row at `end`, for what calls do to the arrays that are remembered.
  void follow_arrays(uint64_t end) {
    constexpr uint64_t kNear = 256;
    RowPlaces &index = this->index();
    uint64_t next = read;  // the unit that has something to do with them
    for (;;) {
      if (left == 0 && !more_of_drain()) {
        if (read > next) next = index.draining_unit(index.draining_before(read));
        if (read >= end || next >= end) return;
        if (next > read + kNear) stand_at(next);
        if (!read_on()) return;
      }
      skip_in_cycle(UINT64_MAX);
    }
  }

  /// The next row is the one at `row`, which begins a unit, and the arrays that are remembered there are known.
  void go_to(uint64_t row) {
    constexpr uint64_t kFirstTry = 32;
    const uint64_t before = index().draining_before(row);
    for (uint64_t back = kFirstTry; before != 0; back *= 4) {
      const uint64_t first = before > back ? before - back : 0;
      if (first == 0) {
        arrays.clear();
      } else {
        arrays.forget();
      }
      stand_at(index().draining_unit(first));
      follow_arrays(row);
      const std::vector<uint32_t> &remembered = arrays.remembered();
      const bool all = std::find(remembered.begin(), remembered.end(), RequestArrays::kNone) == remembered.end();
      if (first == 0 || all) break;
    }
    if (before == 0) arrays.clear();
    stand_at(row);
  }
};

CallReader::CallReader(const Trace &trace, const SequenceView &sequence, bool told) {
  const ClassPart &part = class_part_of(trace, sequence.class_index);
  state_ = std::make_unique<State>(trace, part, sequence);
  state_->told = told;
}
CallReader::CallReader(CallReader &&) noexcept = default;
CallReader &CallReader::operator=(CallReader &&) noexcept = default;
CallReader::~CallReader() = default;

Symbol CallReader::next() {
  State &state = *state_;
  while (state.left == 0) {
    if (!state.read_on()) return grammar::kNoSymbol;
  }
  constexpr uint32_t kTellEvery = 1024;
  if (++state.given == kTellEvery) state.tell();
  const State::Step step = state.cycle[state.place];
  state.pass();
  return state.call(step.met, step.row);
}

void CallReader::seek(uint64_t call) {
  const RowPlaces::Unit unit = state_->index().unit_of(call);
  state_->go_to(unit.row);
  state_->skip(call - unit.first_call);
}

uint64_t CallReader::count() const { return state_->index().calls_before(state_->part.calls->length()); }
uint64_t CallReader::calls_before_row(uint64_t place) const { return state_->index().calls_before(place); }

const Row &CallReader::call(Symbol number) const { return state_->calls[number].row; }
uint64_t CallReader::row_place() const { return state_->row_place; }
uint32_t CallReader::class_row(Symbol number) const { return state_->calls[number].class_row; }

}  // namespace cairn::trace
