#include "trace/call_reader.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "grammar/product.h"
#include "trace/derived_values.h"
#include "trace/part_body.h"
#include "trace/request_arrays.h"

namespace cairn::trace {
namespace {

using grammar::Grammar;
using grammar::Symbol;

/// One stream as one member has it, read in order.
class StreamReader {
 public:
  StreamReader(const StreamVariant &variant, uint32_t field, uint64_t member)
      : variant_(&variant), field_(field), member_(member), walker_(*variant.order), values_(variant.values.size()) {}

  /// Moves to the next value and adds what tells it from others to `key`.
  void next(ByteWriter *key) {
    const Symbol symbol = walker_.next();
    if (symbol >= values_.size()) return;  // only if the trace contradicts itself
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
  grammar::Walker walker_;
  std::vector<std::optional<Field>> values_;
  Field sum_;
  std::vector<uint64_t> last_;
  const Field *current_ = &sum_;
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
        counts_(groups_.count()) {
    for (const Stream &stream : part.streams) {
      const ClassRow &first = *part.rows[groups_.first_row[stream.group]];
      for (const StreamVariant &variant : stream.variants) {
        const std::optional<uint64_t> member = variant.ranks.index_of(sequence.rank);
        if (!member) continue;
        if (count_field(first) == stream.field) {
          counts_[stream.group].emplace(variant, stream.field, *member);
        } else {
          of_group_[stream.group].emplace_back(variant, stream.field, *member);
        }
      }
    }
  }
  [[nodiscard]] const RowGroups &groups() const { return groups_; }
  /// Whether the calls of a group are all that their rows and the sequence say.
  [[nodiscard]] bool is_plain(uint32_t group) const { return of_group_[group].empty() && !counts_[group]; }

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
    const Field &value = count->value();
    result.count = value.atoms.empty() || value.atoms[0] < 0 ? 0 : static_cast<uint64_t>(value.atoms[0]);
    return result;
  }
  /// The row with the values that the streams stand at. Requests that are drained are as the row has them.
  [[nodiscard]] Row complete(uint32_t row) const {
    Row result = part_.rows[row]->at(*part_.ranks.index_of(sequence_.rank));
    for (const StreamReader &stream : of_group_[groups_.of_row[row]]) {
      result.fields[stream.field()] = stream.value();
    }
    expand_prefix_sums(&result);
    trace_.globalise(&result, sequence_.rank);
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
  std::vector<std::vector<StreamReader>> of_group_;
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
  Completion completion;
  grammar::Walker walker;
  std::vector<Met> met_by_row;                  // rows without streams
  std::unordered_map<std::string, Met> met_by;  // the others
  std::deque<Call> calls;
  std::deque<DrainingRow> draining;
  RequestArrays arrays;
  const ClassPart &part;
  std::vector<std::pair<Met, uint32_t>> cycle;  // being repeated, with the rows of the class
  size_t place = 0;                             // in it
  uint64_t left = 0;                            // how often it is begun again

  Symbol add(Row row, uint32_t class_row) {
    calls.push_back({std::move(row), class_row});
    return static_cast<Symbol>(calls.size() - 1);
  }
  Met meet_first(uint32_t class_row) {
    Row row = completion.complete(class_row);
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
    DrainingRow &drain = draining[met.number];
    const uint32_t found = arrays.found(drain.row, drain.field);
    const auto [step, added] = drain.steps.try_emplace(found);
    if (added) {
      Row row = drain.row;
      step->second.left = arrays.complete(&row, drain.field, found);
      step->second.call = add(std::move(row), class_row);
    }
    arrays.leave(drain.field, step->second.left);
    return step->second.call;
  }
  /// The cycle that begins with this counted row, which was made so often. What a call of it is may differ from one
  /// time to the next: it may drain another array.
  void read_cycle(uint32_t row, const Completion::Next &first) {
    cycle.clear();
    place = 0;
    left = first.count;
    Bytes key = first.key;
    for (uint32_t length = part.rows[row]->cycle; row != grammar::kNoSymbol;) {
      if (left != 0) cycle.emplace_back(meet(row, key), row);
      if (--length == 0) return;
      row = walker.next();
      if (row != grammar::kNoSymbol) key = completion.next(row).key;
    }
  }
};

CallReader::CallReader(const Trace &trace, const SequenceView &sequence) {
  const ClassPart &part = trace.class_part(sequence.class_index);
  state_ = std::make_unique<State>(State{Completion(trace, part, sequence),
                                         grammar::Walker(*part.calls),
                                         std::vector<State::Met>(part.rows.size()),
                                         {},
                                         {},
                                         {},
                                         {},
                                         part,
                                         {}});
}
CallReader::CallReader(CallReader &&) noexcept = default;
CallReader &CallReader::operator=(CallReader &&) noexcept = default;
CallReader::~CallReader() = default;

Symbol CallReader::next() {
  State &state = *state_;
  while (state.left == 0) {
    const Symbol row = state.walker.next();
    if (row == grammar::kNoSymbol) return row;
    const Completion::Next next = state.completion.next(row);
    if (state.part.rows[row]->cycle == 0) return state.call(state.meet(row, next.key), row);
    state.read_cycle(row, next);
  }
  const auto [met, row] = state.cycle[state.place];
  if (++state.place == state.cycle.size()) {
    state.place = 0;
    --state.left;
  }
  return state.call(met, row);
}

const Row &CallReader::call(Symbol number) const { return state_->calls[number].row; }
uint32_t CallReader::class_row(Symbol number) const { return state_->calls[number].class_row; }

std::vector<CountedRow> Trace::counted_rows(const SequenceView &sequence) const {
  std::vector<CountedRow> result;
  if (sequence.class_index >= class_count()) return result;
  const ClassPart &part = class_part(sequence.class_index);
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
      std::string key(next.key.begin(), next.key.end());
      key += std::to_string(row);
      const auto [entry, added] = known.emplace(std::move(key), result.size());
      if (added) result.push_back({completion.complete_alone(row), row, 0});
      result[entry->second].count += next.count;
    }
  }
  return result;
}

}  // namespace cairn::trace
