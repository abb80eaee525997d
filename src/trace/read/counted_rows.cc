// Trace::counted_rows: the distinct calls of a sequence of a rank, without its order.
#include <functional>
#include <string>
#include <unordered_map>

#include "trace/model/request_arrays.h"
#include "trace/read/rank_rows.h"
#include "trace/read/trace_body.h"

namespace cairn::trace {

std::vector<CountedRow> Trace::counted_rows(const SequenceView &sequence) const {
  return counted_rows(sequence, [](uint32_t) { return true; });
}

std::vector<CountedRow> Trace::counted_rows(const SequenceView &sequence,
                                            const std::function<bool(uint32_t)> &wanted) const {
  std::vector<CountedRow> result;
  if (sequence.class_index >= class_count()) return result;
  const ClassPart &part = class_part_of(*this, sequence.class_index);
  if (!part.ranks.index_of(sequence.rank)) return result;
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

}  // namespace cairn::trace
