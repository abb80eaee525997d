#include "timeline/class_axis.h"

#include <algorithm>

namespace cairn::timeline {

size_t Edges::column_of(uint64_t ns) const {
  const double part = static_cast<double>(ns - begin_ns) / static_cast<double>(end_ns - begin_ns);
  size_t column = std::min(static_cast<size_t>(part * static_cast<double>(columns)), columns - 1);
  while (at(column) > ns) --column;
  while (at(column + 1) <= ns) ++column;
  return column;
}

ClassAxis::ClassAxis(const trace::ClassPart &part, std::vector<RowShare> shares)
    : part_(part), shares_(std::move(shares)) {
  const std::vector<uint64_t> stands = part.calls->multiplicities();
  for (size_t row = 0; row < stands.size(); ++row) length_ += shares_[row].whole() * stands[row];
}

const grammar::PrefixSums<ClassAxis::Times> &ClassAxis::times() {
  if (!times_) {
    times_ = std::make_unique<grammar::PrefixSums<Times>>(*part_.calls, Times{&shares_});
    steps_ += part_.calls->rules().size();
  }
  return *times_;
}

ClassAxis::TimesOfKinds::Kept ClassAxis::TimesOfKinds::keep(const Sum &sum) {
  Kept kept;
  for (uint32_t kind = 0; kind < sum.size(); ++kind) {
    if (sum[kind] != 0) kept.emplace_back(sum[kind], kind);
  }
  kept.shrink_to_fit();
  return kept;
}

const grammar::PrefixSums<ClassAxis::TimesOfKinds> &ClassAxis::kinds_of(const std::vector<uint8_t> &kind_of_row,
                                                                        size_t kinds) {
  if (!kinds_ || kind_of_row != kind_of_row_) {
    kind_of_row_ = kind_of_row;
    kinds_ =
        std::make_unique<grammar::PrefixSums<TimesOfKinds>>(*part_.calls, TimesOfKinds{&shares_, &kind_of_row_, kinds});
    steps_ += part_.calls->rules().size();
  }
  return *kinds_;
}

ClassAxis::Place ClassAxis::at(Ticks ticks) {
  if (ticks == 0) return {};
  if (ticks >= length_) return {part_.calls->length(), 0};
  const uint64_t row = times().longest([&](const Ticks &sum) {
    ++steps_;
    return sum <= ticks;
  });
  return {row, ticks - times().before(row)};
}

Ticks ClassAxis::begin_of(uint64_t row) {
  ++steps_;
  if (row == 0) return 0;
  return row >= part_.calls->length() ? length_ : times().before(row);
}

grammar::Walker ClassAxis::walk_from(uint64_t row) {
  ++steps_;
  if (row == 0) return grammar::Walker(*part_.calls);
  return grammar::Walker(*part_.calls, row, &times().terms());
}

std::vector<Ticks> ClassAxis::kinds_before(const Place &place) {
  ++steps_;
  std::vector<Ticks> sum = kinds_->before(place.row);
  if (place.into == 0) return sum;
  const grammar::Symbol row = walk_from(place.row).next();
  const Ticks gap = shares_[row].gap_in(place.into);
  sum[0] += gap;
  sum[kind_of_row_[row]] += place.into - gap;
  return sum;
}

void ClassAxis::fill(Ticks begin, const Edges &edges, const std::vector<uint8_t> &kind_of_row, size_t kinds,
                     std::vector<Ticks> *columns) {
  const Ticks first = std::max(ticks_of(edges.begin_ns), begin);
  const Ticks last = std::min(ticks_of(edges.end_ns), begin + length_);
  if (first >= last) return;
  const Place from = at(first - begin);
  const Place until = at(last - begin);
  constexpr uint64_t kRowsAColumn = 8;  // about what a column costs otherwise
  if (until.row - from.row <= kRowsAColumn * edges.columns) {
    fill_by_rows(begin, from, last, edges, kind_of_row, kinds, columns);
    return;
  }
  kinds_of(kind_of_row, kinds);
  std::vector<Ticks> before = kinds_before(from);
  for (size_t column = edges.column_of(ns_of(first)); column < edges.columns; ++column) {
    const Ticks edge = ticks_of(edges.at(column + 1));
    std::vector<Ticks> now = kinds_before(edge < last ? at(edge - begin) : until);
    for (size_t kind = 0; kind < kinds; ++kind) (*columns)[column * kinds + kind] += now[kind] - before[kind];
    before = std::move(now);
    if (edge >= last) return;
  }
}

void ClassAxis::fill_by_rows(Ticks begin, Place from, Ticks until, const Edges &edges,
                             const std::vector<uint8_t> &kind_of_row, size_t kinds, std::vector<Ticks> *columns) {
  grammar::Walker walker = walk_from(from.row);
  Ticks at = begin + begin_of(from.row);  // where the row begins
  Ticks done = at + from.into;            // up to here
  size_t column = edges.column_of(ns_of(done));
  Ticks edge = ticks_of(edges.at(column + 1));
  while (done < until) {
    ++steps_;
    const grammar::Symbol row = walker.next();
    if (row == grammar::kNoSymbol) return;
    const RowShare &share = shares_[row];
    const Ticks row_end = at + share.whole();
    const Ticks end = std::min(row_end, until);
    while (done < end) {
      const Ticks piece = std::min(end, edge);
      const Ticks gap = share.gap_in(piece - at) - share.gap_in(done - at);
      Ticks *of_column = columns->data() + column * kinds;
      of_column[0] += gap;
      of_column[kind_of_row[row]] += piece - done - gap;
      done = piece;
      if (done == edge && done < until) edge = ticks_of(edges.at(++column + 1));
    }
    at = row_end;
  }
}

size_t ClassAxis::bytes() const {
  size_t bytes = shares_.size() * (sizeof(RowShare) + 1);
  size_t places = 0;
  for (const grammar::Body &body : part_.calls->rules()) places += 1 + body.size() / grammar::TermIndex::kStride;
  if (times_) bytes += places * (sizeof(Ticks) + sizeof(uint64_t));
  constexpr size_t kUsualKinds = 6;
  if (kinds_) bytes += places * (sizeof(TimesOfKinds::Kept) + kUsualKinds * sizeof(TimesOfKinds::Kept::value_type));
  return bytes;
}

}  // namespace cairn::timeline
