#include "trace/values/values_column.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace cairn::trace {
namespace {

std::string_view key(const Bytes &bytes) { return {reinterpret_cast<const char *>(bytes.data()), bytes.size()}; }

}  // namespace

ValuesColumn ValuesColumn::constant(Bytes value, uint64_t count) {
  ValuesColumn column;
  column.values_.push_back(std::move(value));
  column.index_ = FoldColumn::constant(0, count, FoldColumn::Domain::symbols);
  return column;
}

uint32_t ValuesColumn::number(const Bytes &value) {
  const auto found = std::find(values_.begin(), values_.end(), value);
  if (found != values_.end()) return static_cast<uint32_t>(found - values_.begin());
  values_.push_back(value);
  return static_cast<uint32_t>(values_.size() - 1);
}

ValuesColumn ValuesColumn::of_each(const std::vector<Bytes> &values) {
  ValuesColumn column;
  std::unordered_map<std::string_view, uint32_t> known;
  for (const Bytes &value : values) {
    const auto [entry, added] = known.emplace(key(value), static_cast<uint32_t>(column.values_.size()));
    if (added) column.values_.push_back(value);
    column.index_.append(entry->second);
  }
  return column;
}

ValuesColumn ValuesColumn::merged(ValuesColumn left, ValuesColumn right, const Interleave &order) {
  // Nearly always both have the same, in the same order.
  if (std::equal(right.values_.begin(), right.values_.end(), left.values_.begin(),
                 left.values_.begin() + static_cast<ptrdiff_t>(std::min(left.values_.size(), right.values_.size())))) {
    left.index_ = order.merged(std::move(left.index_), right.index_);
    return left;
  }
  std::unordered_map<std::string_view, uint32_t> known;
  left.values_.reserve(left.values_.size() + right.values_.size());  // keys point into it
  for (size_t i = 0; i < left.values_.size(); ++i) known.emplace(key(left.values_[i]), static_cast<uint32_t>(i));
  std::vector<uint32_t> to;
  bool renamed = false;
  for (size_t i = 0; i < right.values_.size(); ++i) {
    const auto found = known.find(key(right.values_[i]));
    if (found != known.end()) {
      to.push_back(found->second);
    } else {
      to.push_back(static_cast<uint32_t>(left.values_.size()));
      left.values_.push_back(std::move(right.values_[i]));
    }
    renamed = renamed || to.back() != i;
  }
  if (renamed) right.index_.rename(to);
  left.index_ = order.merged(std::move(left.index_), right.index_);
  return left;
}

bool ValuesColumn::of(std::vector<Bytes> values, FoldColumn index, ValuesColumn *out) {
  if (!index.symbols_below(values.size())) return false;
  std::vector<std::string_view> keys;
  keys.reserve(values.size());
  for (const Bytes &value : values) keys.push_back(key(value));
  std::sort(keys.begin(), keys.end());
  if (std::adjacent_find(keys.begin(), keys.end()) != keys.end()) return false;
  out->values_ = std::move(values);
  out->index_ = std::move(index);
  return true;
}

void ValuesColumn::write(ByteWriter &out) const {
  out.varint(values_.size());
  for (const Bytes &value : values_) out.blob(value);
  index_.write(out);
}

ValuesColumn ValuesColumn::parse(ByteReader &in, uint64_t limit) {
  constexpr uint64_t kValue = 2 * sizeof(Bytes) + sizeof(std::string_view);
  const size_t count = in.count();
  if (!in.take(count, kValue)) return {};
  std::vector<Bytes> values(count);
  for (Bytes &value : values) {
    const ByteView bytes = in.blob();
    if (!in.take(bytes.size())) break;
    value.assign(bytes.begin(), bytes.end());
  }
  FoldColumn index = FoldColumn::parse(in, FoldColumn::Domain::symbols, limit);
  ValuesColumn column;
  if (!in.failed() && !of(std::move(values), std::move(index), &column)) in.fail();
  return column;
}

}  // namespace cairn::trace
