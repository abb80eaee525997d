#include "trace/values/run_columns.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/as_size.h"
#include "trace/values/atom_code.h"
#include "trace/values/bounds.h"
#include "trace/values/column_head.h"

namespace cairn::trace {
namespace {

constexpr size_t kMostRuns = 16;
/// A column of fewer bytes follows a rule, and gains nothing; one of more has too many runs.
constexpr size_t kFewest = 6;
constexpr size_t kMost = 16 * kMostRuns;

}  // namespace

bool RunColumns::add(ByteView written) {
  if (written.size() < kFewest || written.size() > kMost) return false;
  ByteReader in(written);  // fails on what only a pool has: columns that others tell
  const FoldColumn column = FoldColumn::parse(in, FoldColumn::Domain::atoms);
  if (in.failed() || (!columns_.empty() && column.size() != ends_.back())) return false;
  std::optional<Runs> runs = column.runs(kMostRuns);
  if (!runs) return false;
  std::vector<uint64_t> own;
  uint64_t end = 0;
  Atom least = columns_.empty() ? runs->front().first : least_;
  Atom greatest = columns_.empty() ? least : greatest_;
  for (const auto &[value, count] : *runs) {
    if (is_special(value)) return false;
    own.push_back(end += count);
    least = std::min(least, value);
    greatest = std::max(greatest, value);
  }
  std::vector<uint64_t> all;
  std::set_union(ends_.begin(), ends_.end(), own.begin(), own.end(), std::back_inserter(all));
  if (all.size() > kMostRuns) return false;
  // One that changes elsewhere, or lies far away, would cost the others more than it takes.
  const size_t values = all.size() * (columns_.size() + 1) * bytes_between(least, greatest);
  if (!columns_.empty() && values > values_ + written.size()) return false;
  ends_ = std::move(all);
  least_ = least;
  greatest_ = greatest;
  values_ = values;
  columns_.push_back(*std::move(runs));
  return true;
}

Bytes RunColumns::written() const {
  ByteWriter out;
  out.varint(kRunColumns);
  out.varint(columns_.size());
  out.varint(ends_.back());
  struct Place {
    size_t run = 0;
    uint64_t end = 0;
  };
  std::vector<Place> places;
  places.reserve(columns_.size());
  for (const Runs &runs : columns_) places.push_back({0, runs[0].second});
  uint64_t begin = 0;
  for (const uint64_t end : ends_) {
    const auto value = [&](size_t i) { return columns_[i][places[i].run].first; };
    Atom least = value(0);
    Atom greatest = least;
    for (size_t i = 1; i < columns_.size(); ++i) {
      least = std::min(least, value(i));
      greatest = std::max(greatest, value(i));
    }
    const auto width = static_cast<int>(bytes_between(least, greatest));
    if (width == sizeof(Atom)) return {};
    out.varint(end - begin);
    out.byte(static_cast<uint8_t>(width));
    out.signed_varint(least);
    for (size_t i = 0; i < columns_.size(); ++i) {
      out.fixed(static_cast<uint64_t>(value(i)) - static_cast<uint64_t>(least), width);
      Place &place = places[i];
      if (place.end == end && place.run + 1 < columns_[i].size()) place.end += columns_[i][++place.run].second;
    }
    begin = end;
  }
  return out.take();
}

std::vector<FoldColumn> RunColumns::parse(ByteReader &in, uint64_t most, uint64_t *made) {
  const uint64_t allowed = most_after(in.position());
  const uint64_t size = in.varint();
  const uint64_t count = in.varint();
  if (in.failed() || size == 0 || size > most || count == 0 || count > kMaxRanks) {
    in.fail();
    return {};
  }
  if (!in.take(size, 2 * sizeof(FoldColumn))) return {};
  std::vector<FoldColumn> columns(as_size(size));
  for (uint64_t done = 0; done < count && !in.failed();) {
    const uint64_t run = in.varint();
    const int width = in.byte();
    const auto least = static_cast<uint64_t>(in.signed_varint());
    if (run == 0 || run > count - done || width >= 8 || size > allowed || *made > allowed - size) {
      in.fail();
      break;
    }
    *made += size;
    if (!in.take(size, 48)) break;  // a term each, or two
    for (FoldColumn &column : columns) {
      const auto value = static_cast<Atom>(least + in.fixed(width));
      if (is_special(value)) in.fail();
      if (in.failed()) break;
      column.append(value, run);
    }
    done += run;
  }
  return columns;
}

}  // namespace cairn::trace
