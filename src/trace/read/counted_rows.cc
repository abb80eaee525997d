// Trace::counted_rows: the distinct calls of a sequence of a rank, without its order.
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "trace/model/derived_values.h"
#include "trace/model/request_arrays.h"
#include "trace/read/rank_rows.h"
#include "trace/read/row_combinations.h"
#include "trace/read/trace_body.h"

namespace cairn::trace {
namespace {

/// The streams of a group on one rank, where each of its rows stands for a call and each symbol for a value.
struct PlainStreams {
  std::vector<AskedStream> asked;
  std::vector<uint64_t> members;  ///< the rank's place among those of each variant

  /// Nothing if some are of another sort.
  static std::optional<PlainStreams> of(const ClassPart &part, uint32_t rank, uint32_t group, const ClassRow &first) {
    if (!is_call(first.kind)) return std::nullopt;
    PlainStreams streams;
    for (const Stream &stream : part.streams) {
      if (stream.group != group) continue;
      for (const StreamVariant &variant : stream.variants) {
        const std::optional<uint64_t> member = variant.ranks.index_of(rank);
        if (!member) continue;
        if (variant.differences) return std::nullopt;
        streams.asked.push_back({stream.field, Asked::yes, &variant});
        streams.members.push_back(*member);
      }
    }
    return streams.asked.empty() ? std::nullopt : std::optional(std::move(streams));
  }
  void complete(const Combination &combination, Row *row) const {
    for (size_t i = 0; i < asked.size(); ++i) {
      if (combination.values[i] >= asked[i].variant->values.size()) continue;  // only if the trace contradicts itself
      row->fields[asked[i].field] = asked[i].variant->values[combination.values[i]]->at(members[i]).fields[0];
    }
  }
};

}  // namespace

std::vector<CountedRow> Trace::counted_rows(const SequenceView &sequence) const {
  return counted_rows(sequence, [](uint32_t) { return true; });
}

std::vector<CountedRow> Trace::counted_rows(const SequenceView &sequence,
                                            const std::function<bool(uint32_t)> &wanted) const {
  std::vector<CountedRow> result;
  if (sequence.class_index >= class_count()) return result;
  const ClassPart &part = class_part_of(*this, sequence.class_index);
  const std::optional<uint64_t> member = part.ranks.index_of(sequence.rank);
  if (!member) return result;
  RankRows rows(*this, part, sequence);
  const RowGroups &groups = rows.groups();
  const auto add = [&](const CallRun &run) {
    result.push_back({rows.complete(run), run.row, run.times});
    expand_requests(&result.back().row);
  };
  std::vector<bool> is_wanted(part.rows.size());
  std::vector<bool> some_wanted(groups.count());
  for (uint32_t row = 0; row < is_wanted.size(); ++row) {
    is_wanted[row] = wanted(row);
    if (is_wanted[row]) some_wanted[groups.of_row[row]] = true;
  }
  const std::vector<uint64_t> counts = part.calls->multiplicities();
  for (uint32_t row = 0; row < counts.size(); ++row) {
    if (counts[row] != 0 && is_wanted[row] && rows.is_plain(groups.of_row[row]))
      add({.row = row, .times = counts[row]});
  }
  for (uint32_t group = 0; group < groups.count(); ++group) {
    if (!some_wanted[group] || rows.is_plain(group)) continue;
    // The rows of this group only, in order.
    const grammar::Grammar order = part.calls->projected([&](uint32_t row) { return groups.of_row[row] == group; });
    if (const auto streams = PlainStreams::of(part, sequence.rank, group, *part.rows[groups.first_row[group]])) {
      for (const Combination &each : combinations(order, streams->asked)) {
        if (!is_wanted[each.row]) continue;
        Row row = part.rows[each.row]->at(*member);
        streams->complete(each, &row);
        expand_prefix_sums(&row);
        body().number_modules(&row, sequence.rank);
        expand_requests(&row);
        result.push_back({std::move(row), each.row, each.count});
      }
      continue;
    }
    grammar::Walker walker(order);
    std::unordered_map<std::string, size_t> known;
    for (uint32_t row = walker.next(); row != grammar::kNoSymbol; row = walker.next()) {
      RowCalls calls = rows.calls(row);
      while (const std::optional<CallRun> run = calls.next()) {
        if (!is_wanted[row]) continue;
        const std::string key = std::to_string(row) + ' ' + std::string(run->key.begin(), run->key.end());
        const auto [entry, added] = known.emplace(key, result.size());
        if (added) {
          add(*run);
        } else {
          result[entry->second].count += run->times;
        }
      }
    }
  }
  return result;
}

std::vector<bool> rows_of_equal_calls(const Trace &trace, const SequenceView &sequence) {
  const ClassPart &part = class_part_of(trace, sequence.class_index);
  std::vector<bool> equal(part.rows.size());
  if (!part.ranks.index_of(sequence.rank)) return equal;
  const RankRows rows(trace, part, sequence);
  for (size_t row = 0; row < equal.size(); ++row) {
    equal[row] = is_call(part.rows[row]->kind) && rows.is_plain(rows.groups().of_row[row]);
  }
  return equal;
}

}  // namespace cairn::trace
