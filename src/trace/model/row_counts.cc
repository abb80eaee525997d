#include "trace/model/row_counts.h"

#include <algorithm>
#include <map>
#include <optional>

#include "grammar/product.h"

namespace cairn::trace {
namespace {

using grammar::Grammar;
using grammar::Symbol;

constexpr size_t kProductSteps = 256;  // and eight a term

uint64_t sum(uint64_t a, uint64_t b) {
  uint64_t result = 0;
  return __builtin_add_overflow(a, b, &result) ? UINT64_MAX : result;
}

uint64_t product_of(uint64_t a, uint64_t b) {
  uint64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? UINT64_MAX : result;
}

uint64_t as_count(Atom atom) { return atom < 0 ? 0 : static_cast<uint64_t>(atom); }

/// A count on one member of the variant, or on all together.
uint64_t value_of(const ClassRow &value, const RankSet &ranks, std::optional<uint64_t> member) {
  if (value.varied.empty()) return product_of(as_count(value.atoms[0]), member ? 1 : ranks.size());
  if (member) return as_count(value.varied[0].column->at(*member));
  uint64_t all = 0;
  for (const Atom atom : value.varied[0].column->expand()) all = sum(all, as_count(atom));
  return all;
}

/// How often each pair of a row and a value stands at the same place.
std::map<std::pair<Symbol, Symbol>, uint64_t> pair_counts(const Grammar &rows, const Grammar &values) {
  std::map<std::pair<Symbol, Symbol>, uint64_t> counts;
  const size_t terms = term_count(rows) + term_count(values);
  if (const auto found = product(rows, values, kProductSteps + 8 * terms)) {
    const std::vector<uint64_t> times = found->pairs.multiplicities();
    for (size_t i = 0; i < times.size(); ++i) counts[found->of[i]] += times[i];
    return counts;
  }
  grammar::Walker row(rows);
  grammar::Walker value(values);
  for (Symbol r = row.next(); r != grammar::kNoSymbol; r = row.next()) ++counts[{r, value.next()}];
  return counts;
}

/// Calls that draining rows of the group stand for on one member, polls that found nothing left out.
uint64_t drained_calls(const ClassPart &part, uint32_t group, uint32_t rank) {
  uint64_t calls = 0;
  const RowGroups groups(part.rows);
  for (const Stream &stream : part.streams) {
    if (stream.group != group || count_field(*part.rows[groups.first_row[group]]) != stream.field) continue;
    for (const StreamVariant &variant : stream.variants) {
      const std::optional<uint64_t> member = variant.ranks.index_of(rank);
      if (!member) continue;
      const std::vector<uint64_t> times = variant.order->multiplicities();
      for (size_t i = 0; i < times.size() && i < variant.values.size(); ++i) {
        calls = sum(calls, product_of(times[i], value_of(*variant.values[i], variant.ranks, member)));
      }
    }
  }
  return calls;
}

/// How often draining polls found nothing: a stream with a value for each call, or one for all.
uint64_t misses_of(const ClassPart &part, const Stream &stream, std::optional<uint32_t> rank) {
  uint64_t misses = 0;
  for (const StreamVariant &variant : stream.variants) {
    const std::optional<uint64_t> member = rank ? variant.ranks.index_of(*rank) : std::nullopt;
    if (rank && !member) continue;
    const std::vector<uint64_t> times = variant.order->multiplicities();
    const bool one_for_all = variant.order->length() == 1;
    for (size_t i = 0; i < times.size() && i < variant.values.size(); ++i) {
      if (times[i] == 0) continue;
      const ClassRow &value = *variant.values[i];
      if (!one_for_all) {
        misses = sum(misses, product_of(times[i], value_of(value, variant.ranks, member)));
        continue;
      }
      if (value.varied.empty() && value.atoms[0] == 0) continue;
      for (const uint32_t each : rank ? std::vector<uint32_t>{*rank} : variant.ranks.expand()) {
        const uint64_t one = value_of(value, variant.ranks, variant.ranks.index_of(each));
        misses = sum(misses, product_of(one, drained_calls(part, stream.group, each)));
      }
    }
  }
  return misses;
}

std::vector<uint64_t> counted(const ClassPart &part, std::optional<uint32_t> rank) {
  std::vector<uint64_t> counts = part.calls->multiplicities();
  counts.resize(part.rows.size());
  for (uint64_t &count : counts) count = product_of(count, rank ? 1 : part.ranks.size());
  if (!has_counted_rows(part)) return counts;
  const RowGroups groups(part.rows);
  std::vector<uint64_t> misses(groups.count());
  for (const Stream &stream : part.streams) {
    const ClassRow &first = *part.rows[groups.first_row[stream.group]];
    if (is_by_call(first, stream.field) && stream.field == call_fields(first)) {
      misses[stream.group] = misses_of(part, stream, rank);
    }
    if (count_field(first) != stream.field) continue;
    const auto in_group = [&](Symbol row) { return groups.of_row[row] == stream.group; };
    for (uint32_t row = 0; row < part.rows.size(); ++row) {
      if (in_group(row)) counts[row] = 0;
    }
    const Grammar rows = part.calls->projected(in_group);
    for (const StreamVariant &variant : stream.variants) {
      std::optional<uint64_t> member;
      if (rank) {
        member = variant.ranks.index_of(*rank);
        if (!member) continue;
      }
      for (const auto &[pair, times] : pair_counts(rows, *variant.order)) {
        if (pair.second >= variant.values.size()) continue;
        const uint64_t value = value_of(*variant.values[pair.second], variant.ranks, member);
        counts[pair.first] = sum(counts[pair.first], product_of(times, value));
      }
    }
  }
  for (uint32_t group = 0; group < groups.count(); ++group) {
    uint64_t &count = counts[groups.first_row[group]];
    count = sum(count, misses[group]);
  }
  return counts;
}

}  // namespace

bool has_counted_rows(const ClassPart &part) {
  return std::any_of(part.rows.begin(), part.rows.end(), [](const RowPointer &row) { return !is_call(row->kind); });
}

std::vector<uint64_t> row_counts(const ClassPart &part) { return counted(part, std::nullopt); }
std::vector<uint64_t> row_counts_of(const ClassPart &part, uint32_t rank) { return counted(part, rank); }

uint64_t call_count_of(const ClassPart &part, uint32_t rank) {
  if (!has_counted_rows(part)) return part.calls->length();
  uint64_t all = 0;
  for (const uint64_t count : counted(part, rank)) all = sum(all, count);
  return all;
}

}  // namespace cairn::trace
