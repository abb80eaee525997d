#include "trace/merge/function_sums.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/as_size.h"

namespace cairn::trace {
namespace {

constexpr int kBits = 16;                          // of a rounded sum
constexpr uint64_t kExact = uint64_t{1} << kBits;  // below, a code is the sum itself
constexpr uint64_t kMantissas = uint64_t{1} << (kBits - 1);

uint64_t code_of(uint64_t sum) {
  if (sum < kExact) return sum;
  const int exponent = static_cast<int>(std::bit_width(sum)) - kBits;
  return kExact + static_cast<uint64_t>(exponent - 1) * kMantissas + ((sum >> exponent) - kMantissas);
}

/// The middle of the sums with that code.
uint64_t sum_of(uint64_t code) {
  if (code < kExact) return code;
  const uint64_t exponent = (code - kExact) / kMantissas + 1;
  const uint64_t mantissa = (code - kExact) % kMantissas + kMantissas;
  return (mantissa << exponent) + (uint64_t{1} << (exponent - 1));
}

constexpr uint64_t kCodes = kExact + (64 - kBits) * kMantissas;

template <typename Change>
FoldColumn changed(const FoldColumn &column, Change change) {
  FoldColumn result;
  for (const Atom value : column.expand()) result.append(static_cast<Atom>(change(static_cast<uint64_t>(value))));
  return result;
}

uint64_t total_of(const FoldColumn &column) {
  uint64_t total = 0;
  for (const Atom value : column.expand()) {
    if (__builtin_add_overflow(total, static_cast<uint64_t>(value), &total)) return UINT64_MAX;
  }
  return total;
}

/// Function and column, so often.
template <typename Good>
std::optional<std::map<uint32_t, FoldColumn>> parse_columns(ByteReader &in, uint64_t ranks, Good good) {
  std::map<uint32_t, FoldColumn> columns;
  const size_t functions = in.count(2);
  for (size_t i = 0; i < functions && !in.failed(); ++i) {
    const uint64_t function = in.varint();
    FoldColumn column = FoldColumn::parse(in, FoldColumn::Domain::atoms);
    if (in.failed() || function > UINT32_MAX || column.size() != ranks) return std::nullopt;
    // A few bytes may stand for millions of ranks: what is expanded, and kept where it no longer folds, is taken for.
    if (!in.take(ranks, 2 * sizeof(Atom))) return std::nullopt;
    if (!good(column)) return std::nullopt;
    if (!columns.emplace(static_cast<uint32_t>(function), std::move(column)).second) return std::nullopt;
  }
  return columns;
}

bool all_below(const FoldColumn &column, uint64_t limit) {
  const std::vector<Atom> values = column.expand();
  return std::all_of(values.begin(), values.end(),
                     [&](Atom value) { return value >= 0 && static_cast<uint64_t>(value) < limit; });
}

}  // namespace

FunctionSums FunctionSums::of(const std::map<uint32_t, std::vector<uint64_t>> &sums) {
  FunctionSums result;
  for (const auto &[function, ranks] : sums) {
    FoldColumn &column = result.columns_[function];
    for (const uint64_t sum : ranks) column.append(static_cast<Atom>(std::min<uint64_t>(sum, INT64_MAX)));
  }
  return result;
}

FunctionSums::FunctionSums(const ProcessRecord &process) {
  std::map<uint32_t, uint64_t> sums;
  for (const SequenceRecord &sequence : process.sequences) {
    for (size_t row = 0; row < sequence.stats.size() && row < sequence.rows.size(); ++row) {
      ByteReader head(sequence.rows[row]);  // the function comes first
      const uint64_t function = head.varint();
      if (!head.failed() && function <= UINT32_MAX) sums[static_cast<uint32_t>(function)] += sequence.stats[row].sum;
    }
  }
  for (const auto &[function, sum] : sums) {
    columns_[function].append(static_cast<Atom>(std::min<uint64_t>(sum, INT64_MAX)));
  }
}

std::optional<uint64_t> FunctionSums::at(uint32_t function, uint64_t place) const {
  const auto found = columns_.find(function);
  if (found == columns_.end() || place >= found->second.size()) return std::nullopt;
  return static_cast<uint64_t>(found->second.at(place));
}

void FunctionSums::merge(const FunctionSums &other, uint64_t ranks, uint64_t others, const Interleave &order) {
  for (const auto &[function, column] : other.columns_) {
    FoldColumn &own = columns_.try_emplace(function, FoldColumn::constant(0, ranks)).first->second;
    own = order.merged(std::move(own), column);
  }
  for (auto &[function, column] : columns_) {
    if (!other.columns_.contains(function)) {
      column = order.merged(std::move(column), FoldColumn::constant(0, others));
    }
  }
}

void FunctionSums::add(const FunctionSums &other, const RankSet &ranks, const RankSet &others) {
  const std::vector<uint32_t> adding = others.expand();
  for (const auto &[function, column] : other.columns_) {
    if (rounded_ && !columns_.contains(function)) continue;  // the file had no room for it, or it is new: not known
    FoldColumn &own = columns_.try_emplace(function, FoldColumn::constant(0, ranks.size())).first->second;
    std::vector<Atom> sums = own.expand();
    for (size_t i = 0; i < adding.size(); ++i) {
      const std::optional<uint64_t> place = ranks.index_of(adding[i]);
      if (!place) continue;
      if (__builtin_add_overflow(sums[as_size(*place)], column.at(i), &sums[as_size(*place)]))
        sums[as_size(*place)] = INT64_MAX;
    }
    own = FoldColumn();
    for (const Atom sum : sums) own.append(sum);
  }
}

void FunctionSums::write(ByteWriter &out) const {
  out.varint(columns_.size());
  for (const auto &[function, column] : columns_) {
    out.varint(function);
    column.write(out);
  }
}

std::optional<FunctionSums> FunctionSums::parse(ByteReader &in, uint64_t ranks) {
  auto columns = parse_columns(in, ranks, [](const FoldColumn &column) { return all_below(column, INT64_MAX); });
  if (!columns) return std::nullopt;
  FunctionSums sums;
  sums.columns_ = *std::move(columns);
  return sums;
}

void FunctionSums::write_rounded(ByteWriter &out, uint64_t ranks) const {
  constexpr size_t kRoom = 64u << 10;
  constexpr size_t kOfARank = 8;
  std::vector<std::pair<uint64_t, uint32_t>> order;
  for (const auto &[function, column] : columns_) order.emplace_back(total_of(column), function);
  std::sort(order.begin(), order.end(),
            [](const auto &a, const auto &b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  std::map<uint32_t, Bytes> kept;
  size_t bytes = 0;
  for (const auto &[total, function] : order) {
    ByteWriter column;
    changed(columns_.at(function), code_of).write(column);
    bytes += column.view().size();
    if (!kept.empty() && bytes > kRoom + kOfARank * ranks) break;
    kept[function] = column.take();
  }
  out.varint(kept.size());
  for (const auto &[function, column] : kept) {
    out.varint(function);
    out.raw(column);
  }
}

std::optional<FunctionSums> FunctionSums::parse_rounded(ByteReader &in, uint64_t ranks) {
  auto columns =
      parse_columns(in, ranks, [](const FoldColumn &column) { return all_below(column, kCodes - kMantissas); });
  if (!columns) return std::nullopt;
  FunctionSums sums;
  sums.rounded_ = true;
  for (const auto &[function, column] : *columns) sums.columns_[function] = changed(column, sum_of);
  return sums;
}

}  // namespace cairn::trace
