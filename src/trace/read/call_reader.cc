#include "trace/read/call_reader.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "grammar/product.h"
#include "trace/model/derived_values.h"
#include "trace/model/request_arrays.h"
#include "trace/read/trace_body.h"

namespace cairn::trace {
namespace {

using grammar::Grammar;
using grammar::Symbol;

/// One stream as one member has it, read in order.
class StreamReader {
 public:
  /// `by_call`: of a draining row's calls, where one value stands for all.
  StreamReader(const StreamVariant &variant, uint32_t field, uint64_t member, bool by_call)
      : variant_(&variant),
        field_(field),
        member_(member),
        stays_(by_call && variant.order->length() == 1),
        walker_(*variant.order),
        values_(variant.values.size()) {}

  /// Moves to the next value and adds what tells it from others to `key`.
  void next(ByteWriter *key) {
    if (stays_ && current_ != nullptr) return;
    const Symbol symbol = walker_.next();
    if (symbol >= values_.size()) {  // only if the trace contradicts itself
      current_ = &sum_;
      return;
    }
    if (!values_[symbol]) values_[symbol] = std::move(variant_->values[symbol]->at(member_).fields[0]);
    if (!variant_->differences) {
      current_ = &*values_[symbol];
      key->varint(symbol);
      return;
    }
    apply(*values_[symbol]);
    current_ = &sum_;
    pack_field(sum_, *key);
  }
  [[nodiscard]] uint32_t field() const { return field_; }
  /// The value that `next` moved to.
  [[nodiscard]] const Field &value() const { return *current_; }

 private:
  void apply(const Field &difference) {
    sum_.is_bytes = difference.is_bytes;
    sum_.bytes = difference.bytes;
    sum_.atoms.resize(difference.atoms.size());
    last_.resize(std::max(last_.size(), difference.atoms.size()));
    for (size_t i = 0; i < difference.atoms.size(); ++i) {
      if (is_special(difference.atoms[i])) {
        sum_.atoms[i] = difference.atoms[i];
      } else {
        last_[i] += static_cast<uint64_t>(difference.atoms[i]);
        sum_.atoms[i] = static_cast<Atom>(last_[i]);
      }
    }
  }

  const StreamVariant *variant_;
  uint32_t field_;
  uint64_t member_;
  bool stays_;  ///< at its only value
  grammar::Walker walker_;
  std::vector<std::optional<Field>> values_;
  Field sum_;
  std::vector<uint64_t> last_;
  const Field *current_ = nullptr;
};

/// Makes complete calls of one rank from rows and streams.
class Completion {
 public:
  Completion(const Trace &trace, const ClassPart &part, const SequenceView &sequence)
      : trace_(trace),
        part_(part),
        sequence_(sequence),
        groups_(part.rows),
        of_group_(groups_.count()),
        by_call_(groups_.count()),
        counts_(groups_.count()) {
    for (const Stream &stream : part.streams) {
      const ClassRow &first = *part.rows[groups_.first_row[stream.group]];
      for (const StreamVariant &variant : stream.variants) {
        const std::optional<uint64_t> member = variant.ranks.index_of(sequence.rank);
        if (!member) continue;
        if (count_field(first) == stream.field) {
          counts_[stream.group].emplace(variant, stream.field, *member, false);
        } else {
          const bool by_call = is_by_call(first, stream.field);
          (by_call ? by_call_ : of_group_)[stream.group].emplace_back(variant, stream.field, *member, by_call);
        }
      }
    }
  }
  [[nodiscard]] const RowGroups &groups() const { return groups_; }
  /// Whether the calls of a group are all that their rows and the sequence say.
  [[nodiscard]] bool is_plain(uint32_t group) const {
    return of_group_[group].empty() && by_call_[group].empty() && !counts_[group];
  }

  struct Next {
    Bytes key;           ///< what tells the call from others of its row; empty if nothing does
    uint64_t count = 1;  ///< how often it was made here: with the rest of its cycle, if it has one
  };
  Next next(uint32_t row) {
    Next result;
    ByteWriter key;
    for (StreamReader &stream : of_group_[groups_.of_row[row]]) stream.next(&key);
    result.key = key.take();
    std::optional<StreamReader> &count = counts_[groups_.of_row[row]];
    if (!count) return result;
    ByteWriter unused;
    count->next(&unused);
    result.count = as_count(count->value());
    return result;
  }

  /// The next call that the draining row stands for, after `next` has told how many they are.
  struct NextCall {
    Bytes key;
    uint64_t misses = 0;  ///< polls before it that found nothing
  };
  NextCall next_call(uint32_t row) {
    NextCall result;
    ByteWriter key;
    const size_t fields = call_fields(*part_.rows[row]);
    for (StreamReader &stream : by_call_[groups_.of_row[row]]) {
      if (stream.field() < fields) {
        stream.next(&key);
      } else {
        ByteWriter unused;
        stream.next(&unused);
        result.misses = as_count(stream.value());
      }
    }
    result.key = key.take();
    return result;
  }
  /// Which of the calls of a draining row: the first finds the array as the row has it, and a miss is a poll that found
  /// nothing.
  struct Of {
    bool first = true;
    bool miss = false;
  };
  /// The call that `next_call` moved to, or a miss before it.
  [[nodiscard]] Row complete_of(uint32_t row, Of of) const {
    Row result = complete(row);
    for (const StreamReader &stream : by_call_[groups_.of_row[row]]) {
      if (stream.field() < result.fields.size()) result.fields[stream.field()] = stream.value();
    }
    const std::optional<DrainedField> drained = DrainedField::of(result);
    if (drained && !of.first) result.fields[drained->requests].atoms.resize(1);
    if (drained && !of.first) result.fields[drained->requests].atoms.push_back(0);
    if (!of.miss) return result;
    const auto draining = std::get<Draining>(part_.rows[row]->kind);
    for (size_t f = draining.first_output; f < result.fields.size(); ++f) {
      result.fields[f] = {};
      if (f == draining.answer || f + 1 == result.fields.size()) result.fields[f].atoms = {0};
    }
    return result;
  }
  /// The row with the values that the streams stand at. Requests that are drained are as the row has them.
  [[nodiscard]] Row complete(uint32_t row) const {
    Row result = part_.rows[row]->at(*part_.ranks.index_of(sequence_.rank));
    for (const StreamReader &stream : of_group_[groups_.of_row[row]]) {
      result.fields[stream.field()] = stream.value();
    }
    expand_prefix_sums(&result);
    trace_.body().number_modules(&result, sequence_.rank);
    return result;
  }
  /// The same for who does not read in order.
  [[nodiscard]] Row complete_alone(uint32_t row) const {
    Row result = complete(row);
    expand_requests(&result);
    return result;
  }

 private:
  const Trace &trace_;
  const ClassPart &part_;
  SequenceView sequence_;
  RowGroups groups_;
  static uint64_t as_count(const Field &value) {
    return value.atoms.empty() || value.atoms[0] < 0 ? 0 : static_cast<uint64_t>(value.atoms[0]);
  }

  std::vector<std::vector<StreamReader>> of_group_;
  std::vector<std::vector<StreamReader>> by_call_;   ///< of draining rows
  std::vector<std::optional<StreamReader>> counts_;  ///< by group: of counted rows
};

}  // namespace

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
  State(const Trace &trace, const ClassPart &of, const SequenceView &sequence)
      : completion(trace, of, sequence), walker(*of.calls), met_by_row(of.rows.size()), part(of) {}

  Completion completion;
  grammar::Walker walker;
  std::vector<Met> met_by_row;                  // rows without streams
  std::unordered_map<std::string, Met> met_by;  // the others
  std::deque<Call> calls;
  std::deque<DrainingRow> draining;
  RequestArrays arrays;
  const ClassPart &part;
  struct Step {
    Met met;
    uint32_t row;        // of the class
    uint64_t times = 1;  // one after the other
  };
  std::vector<Step> cycle;  // being repeated
  size_t place = 0;         // in it
  uint64_t done = 0;        // times of the step there
  uint64_t left = 0;        // how often it is begun again
  uint32_t drain = 0;       // the draining row whose calls are being read
  uint64_t drain_left = 0;  // how many are still to come
  bool drain_first = true;
  Bytes drain_key;

  Symbol add(Row row, uint32_t class_row) {
    calls.push_back({std::move(row), class_row});
    return static_cast<Symbol>(calls.size() - 1);
  }
  Met meet_first(uint32_t class_row) { return know(completion.complete(class_row), class_row); }
  Met know(Row row, uint32_t class_row) {
    const std::optional<DrainedField> field = DrainedField::of(row);
    if (!field) return {add(std::move(row), class_row), false};
    draining.push_back({std::move(row), *field, {}});
    return {static_cast<Symbol>(draining.size() - 1), true};
  }
  /// What a row is with the values that `key` tells from others.
  Met meet(uint32_t row, const Bytes &key) {
    if (key.empty()) {
      Met &met = met_by_row[row];
      if (met.number == grammar::kNoSymbol) met = meet_first(row);
      return met;
    }
    ByteWriter whole;
    whole.varint(row);
    whole.raw(key);
    const Bytes bytes = whole.take();
    const auto [entry, added] = met_by.try_emplace(std::string(bytes.begin(), bytes.end()));
    if (added) entry->second = meet_first(row);
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
  Met meet_in_drain(const Bytes &call, Completion::Of of) {
    ByteWriter whole;
    whole.varint(drain);
    whole.byte(static_cast<uint8_t>((of.first ? 1 : 0) + (of.miss ? 2 : 0)));
    whole.blob(drain_key);
    whole.raw(call);
    const Bytes bytes = whole.take();
    const auto [entry, added] = met_by.try_emplace(std::string(bytes.begin(), bytes.end()));
    if (added) entry->second = know(completion.complete_of(drain, of), drain);
    return entry->second;
  }
  /// The next call of a drain, with the polls before it.
  void read_drained() {
    --drain_left;
    cycle.clear();
    place = 0;
    left = 1;
    const Completion::NextCall call = completion.next_call(drain);
    for (uint64_t misses = call.misses; misses != 0; drain_first = false) {
      const uint64_t times = drain_first ? 1 : misses;
      cycle.push_back({meet_in_drain({}, {drain_first, true}), drain, times});
      misses -= times;
    }
    cycle.push_back({meet_in_drain(call.key, {drain_first, false}), drain});
    drain_first = false;
  }
  /// The cycle that begins with this counted row, which was made so often. What a call of it is may differ from one
  /// time to the next: it may drain another array.
  void read_cycle(uint32_t row, const Completion::Next &first) {
    cycle.clear();
    place = 0;
    left = first.count;
    Bytes key = first.key;
    for (uint32_t length = std::get<Counted>(part.rows[row]->kind).cycle; row != grammar::kNoSymbol;) {
      if (left != 0) cycle.push_back({meet(row, key), row});
      if (--length == 0) return;
      row = walker.next();
      if (row != grammar::kNoSymbol) key = completion.next(row).key;
    }
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
    if (state.drain_left != 0) {
      state.read_drained();
      break;
    }
    const Symbol row = state.walker.next();
    if (row == grammar::kNoSymbol) return row;
    const Completion::Next next = state.completion.next(row);
    const RowKind &kind = state.part.rows[row]->kind;
    if (is_call(kind)) return state.call(state.meet(row, next.key), row);
    if (std::holds_alternative<Counted>(kind)) {
      state.read_cycle(row, next);
      continue;
    }
    state.drain = row;
    state.drain_key = next.key;
    state.drain_left = next.count;
    state.drain_first = true;
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
uint32_t CallReader::class_row(Symbol number) const { return state_->calls[number].class_row; }

std::vector<CountedRow> Trace::counted_rows(const SequenceView &sequence) const {
  std::vector<CountedRow> result;
  if (sequence.class_index >= class_count()) return result;
  const ClassPart &part = class_part_of(*this, sequence.class_index);
  if (!part.ranks.index_of(sequence.rank)) return result;
  Completion completion(*this, part, sequence);
  const RowGroups &groups = completion.groups();
  const std::vector<uint64_t> counts = part.calls->multiplicities();
  for (uint32_t row = 0; row < counts.size(); ++row) {
    if (counts[row] == 0 || !completion.is_plain(groups.of_row[row])) continue;
    result.push_back({completion.complete_alone(row), row, counts[row]});
  }
  for (uint32_t group = 0; group < groups.count(); ++group) {
    if (completion.is_plain(group)) continue;
    // Calls of this group only, in order.
    const Grammar calls = part.calls->projected([&](Symbol row) { return groups.of_row[row] == group; });
    grammar::Walker walker(calls);
    std::unordered_map<std::string, size_t> known;
    for (Symbol row = walker.next(); row != grammar::kNoSymbol; row = walker.next()) {
      const Completion::Next next = completion.next(row);
      if (next.count == 0) continue;
      const std::string key = std::string(next.key.begin(), next.key.end()) + std::to_string(row);
      const auto add = [&](const std::string &call, uint64_t count, const auto &complete) {
        const auto [entry, added] = known.emplace(key + call, result.size());
        if (added) result.push_back({complete(), row, 0});
        result[entry->second].count += count;
      };
      if (!std::holds_alternative<Draining>(part.rows[row]->kind)) {
        add({}, next.count, [&] { return completion.complete_alone(row); });
        continue;
      }
      Completion::Of of;
      const auto add_drained = [&](const Bytes &call, uint64_t count) {
        std::string more = of.first ? " first" : of.miss ? " miss" : " then";
        if (of.first && of.miss) more += " miss";
        more.append(call.begin(), call.end());
        add(more, count, [&] {
          Row complete = completion.complete_of(row, of);
          expand_requests(&complete);
          return complete;
        });
        of.first = false;
      };
      for (uint64_t i = 0; i < next.count; ++i) {
        const Completion::NextCall call = completion.next_call(row);
        of.miss = true;
        for (uint64_t misses = call.misses; misses != 0;) {
          const uint64_t times = of.first ? 1 : misses;
          add_drained({}, times);
          misses -= times;
        }
        of.miss = false;
        add_drained(call.key, 1);
      }
    }
  }
  return result;
}

}  // namespace cairn::trace
