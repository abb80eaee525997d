#include "trace/read/row_places.h"

#include <algorithm>

#include "trace/model/request_arrays.h"

namespace cairn::trace {
namespace {

bool names_requests(const Field &field) {
  if (field.is_bytes || field.atoms.empty() || !is_special(field.atoms[0])) return false;
  const Atom distance = field.atoms[0] - kRequests;
  return distance >= 1 && distance <= kMostDistance;
}

bool has_requests(const Row &row) { return std::any_of(row.fields.begin(), row.fields.end(), names_requests); }

/// Groups of which some call remembers an array of requests.
std::vector<bool> draining_groups(const ClassPart &part, uint64_t member, const RowGroups &groups) {
  std::vector<bool> draining(groups.count());
  for (size_t row = 0; row < part.rows.size(); ++row) {
    const uint32_t group = groups.of_row[row];
    if (!draining[group]) draining[group] = has_requests(part.rows[row]->at(member));
  }
  const uint32_t rank = part.ranks.at(member);
  for (const Stream &stream : part.streams) {
    for (const StreamVariant &variant : stream.variants) {
      const std::optional<uint64_t> of_variant = variant.ranks.index_of(rank);
      if (!of_variant || draining[stream.group]) continue;
      draining[stream.group] = std::any_of(variant.values.begin(), variant.values.end(), [&](const RowPointer &value) {
        return has_requests(value->at(*of_variant));
      });
    }
  }
  return draining;
}

}  // namespace

void RowPlaces::RowSums::add(Sum *sum, grammar::Symbol row, uint64_t times) const {
  sum->rows += times;
  if (draining[row]) sum->draining += times;
  if (kind_of_row[row] != kNone) sum->kinds[kind_of_row[row]] += times;
}

void RowPlaces::RowSums::add(Sum *sum, const Kept &rule, uint64_t times) {
  sum->rows += rule.rows * times;
  sum->draining += rule.draining * times;
  for (const auto &[kind, rows] : rule.kinds) sum->kinds[kind] += rows * times;
}

RowPlaces::RowSums::Kept RowPlaces::RowSums::keep(const Sum &sum) {
  Kept kept{sum.rows, sum.draining, {}};
  for (uint32_t kind = 0; kind < sum.kinds.size(); ++kind) {
    if (sum.kinds[kind] != 0) kept.kinds.emplace_back(kind, sum.kinds[kind]);
  }
  return kept;
}

RowPlaces::CycleSums::Sum RowPlaces::CycleSums::nothing() {
  Sum same;
  for (size_t i = 0; i < same.size(); ++i) same[i] = static_cast<uint8_t>(i);
  return same;
}

void RowPlaces::CycleSums::add(Sum *sum, grammar::Symbol row, uint64_t times) const {
  Kept one;
  for (size_t left = 0; left < one.map.size(); ++left) {
    const size_t now = left == 0 ? cycle_of_row[row] : left;
    one.map[left] = static_cast<uint8_t>(now - 1);
  }
  add(sum, one, times);
}

void RowPlaces::CycleSums::add(Sum *sum, const Kept &rule, uint64_t times) {
  for (Sum power = rule.map; times != 0; times /= 2) {
    const Sum map = power;
    if (times % 2 != 0) {
      for (uint8_t &left : *sum) left = map[left];
    }
    for (uint8_t &left : power) left = map[left];
  }
}

RowPlaces::RowPlaces(const ClassPart &part, uint64_t member, RankRows *rows) : part_(part), rows_(*rows) {
  const RowGroups &groups = rows->groups();
  RowSums sums;
  CycleSums cycles;
  std::vector<uint32_t> kinds(groups.count(), RowSums::kNone);
  for (uint32_t group = 0; group < groups.count(); ++group) {
    if (rows->is_plain(group)) continue;
    kinds[group] = static_cast<uint32_t>(groups_.size());
    if (rows->is_counted(group)) counted_.push_back(kinds[group]);
    groups_.push_back(group);
  }
  sums.kinds = groups_.size();
  const std::vector<bool> draining = draining_groups(part, member, groups);
  bool turns = false;
  for (size_t row = 0; row < part.rows.size(); ++row) {
    const uint32_t group = groups.of_row[row];
    sums.kind_of_row.push_back(kinds[group]);
    sums.draining.push_back(draining[group]);
    const auto *counted = std::get_if<Counted>(&part.rows[row]->kind);
    cycles.cycle_of_row.push_back(counted == nullptr ? 1 : static_cast<uint8_t>(counted->cycle));
    turns = turns || cycles.cycle_of_row.back() > 1;
  }
  sums_.emplace(*part.calls, std::move(sums));
  if (turns) cycles_.emplace(*part.calls, std::move(cycles));
}

uint64_t RowPlaces::calls_of(const RowSums::Sum &sum) {
  uint64_t calls = sum.rows;
  for (const uint32_t kind : counted_) calls -= sum.kinds[kind];
  for (const uint32_t kind : counted_) {
    const uint64_t more = rows_.calls_before(groups_[kind], sum.kinds[kind]);
    calls = more > UINT64_MAX - calls ? UINT64_MAX : calls + more;
  }
  return calls;
}

uint64_t RowPlaces::unit_at(uint64_t row) const {
  while (cycles_ && row != 0 && cycles_->before(row)[0] != 0) --row;
  return row;
}

RowPlaces::Unit RowPlaces::unit_of(uint64_t call) {
  if (counted_.empty()) return {std::min(call, rows()), std::min(call, rows())};
  uint64_t row = sums_->longest([&](const RowSums::Sum &sum) { return calls_of(sum) <= call; });
  if (row < rows()) row = unit_at(row);
  return {row, calls_before(row)};
}

uint64_t RowPlaces::calls_before(uint64_t row) {
  if (counted_.empty()) return std::min(row, rows());
  return calls_of(sums_->before(row < rows() ? unit_at(row) : row));
}

grammar::Walker RowPlaces::seek(uint64_t row) {
  if (!groups_.empty()) {
    const RowSums::Sum sum = sums_->before(row);
    for (uint32_t kind = 0; kind < groups_.size(); ++kind) rows_.seek(groups_[kind], sum.kinds[kind]);
  }
  return grammar::Walker(*part_.calls, row, &sums_->terms());
}

uint64_t RowPlaces::draining_before(uint64_t row) const { return sums_->before(row).draining; }

uint64_t RowPlaces::draining_unit(uint64_t n) const {
  const uint64_t row = sums_->longest([&](const RowSums::Sum &sum) { return sum.draining <= n; });
  return row < rows() ? unit_at(row) : row;
}

}  // namespace cairn::trace
