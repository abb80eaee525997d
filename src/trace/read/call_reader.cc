#include "trace/read/call_reader.h"

#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/model/request_arrays.h"
#include "trace/read/rank_rows.h"
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
  /// One of a cycle: equal calls, one after the other.
  struct Step {
    Met met;
    uint32_t row;  ///< of the class
    uint64_t times;
  };
  State(const Trace &trace, const ClassPart &of, const SequenceView &sequence)
      : part(of), rows(trace, of, sequence), walker(*of.calls), met_by_row(of.rows.size()) {}

  const ClassPart &part;
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
  uint64_t done = 0;                       // times of the step there
  uint64_t left = 0;                       // how often it is begun again
  uint64_t read = 0;                       // rows of the class's sequence
  uint64_t row_place = 0;                  // of the first of those that are being given

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
    cycle.clear();
    place = 0;
    if (draining_calls && repeat(draining_calls->next(), 1)) return true;
    draining_calls.reset();
    row_place = read;
    const Symbol row = next_row();
    if (row == grammar::kNoSymbol) return false;
    RowCalls now = rows.calls(row);
    const RowKind &kind = part.rows[row]->kind;
    if (is_call(kind)) {
      repeat(now.next(), 1);
    } else if (const auto *counted = std::get_if<Counted>(&kind)) {
      read_cycle(now.next(), counted->cycle);
    } else {
      draining_calls = std::move(now);
    }
    return true;
  }
  bool repeat(const std::optional<CallRun> &run, uint64_t times) {
    if (run) cycle.push_back({meet(*run), run->row, run->times});
    left = run ? times : 0;
    return run.has_value();
  }
  /// The cycle that begins with a counted row. What a call of it is may differ from one time to the next: it may drain
  /// another array.
  void read_cycle(std::optional<CallRun> run, uint32_t length) {
    const uint64_t times = run ? run->times : 0;
    for (;;) {
      if (run) run->times = 1;
      repeat(run, times);
      const Symbol row = --length == 0 ? grammar::kNoSymbol : next_row();
      if (row == grammar::kNoSymbol) break;
      run = rows.calls(row).next();
    }
    left = times;
  }
};

CallReader::CallReader(const Trace &trace, const SequenceView &sequence) {
  const ClassPart &part = class_part_of(trace, sequence.class_index);
  state_ = std::make_unique<State>(trace, part, sequence);
}
CallReader::CallReader(CallReader &&) noexcept = default;
CallReader &CallReader::operator=(CallReader &&) noexcept = default;
CallReader::~CallReader() = default;

Symbol CallReader::next() {
  State &state = *state_;
  while (state.left == 0) {
    if (!state.read_on()) return grammar::kNoSymbol;
  }
  const State::Step step = state.cycle[state.place];
  if (++state.done == step.times) {
    state.done = 0;
    if (++state.place == state.cycle.size()) {
      state.place = 0;
      --state.left;
    }
  }
  return state.call(step.met, step.row);
}

const Row &CallReader::call(Symbol number) const { return state_->calls[number].row; }
uint64_t CallReader::row_place() const { return state_->row_place; }
uint32_t CallReader::class_row(Symbol number) const { return state_->calls[number].class_row; }

}  // namespace cairn::trace
