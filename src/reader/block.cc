#include "reader/block.h"

#include <algorithm>
#include <cassert>

namespace cairn::reader {
namespace {

constexpr size_t kAlignment = 8;

/// As JavaScript counts the letters of what is valid UTF-8: in units of UTF-16.
uint32_t units(std::string_view text) {
  uint32_t count = 0;
  for (const char letter : text) {
    const auto byte = static_cast<uint8_t>(letter);
    count += ((byte & 0xC0) == 0x80 ? 0 : 1) + (byte >= 0xF0 ? 1 : 0);
  }
  return count;
}

size_t aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

void Block::reserve(size_t bytes) { bytes_.reserve(kFront + kAlignment * kMostColumns + bytes); }

void Block::add(ColumnType type, size_t count, const void *data, size_t bytes) {
  assert(columns_.size() < kMostColumns);
  columns_.push_back({type, static_cast<uint32_t>(count), bytes_.size()});
  const auto *from = static_cast<const uint8_t *>(data);
  bytes_.insert(bytes_.end(), from, from + bytes);
  bytes_.resize(aligned(bytes_.size()));
}

void Block::text(std::string_view text) { add(ColumnType::text, text.size(), text.data(), text.size()); }
void Block::numbers(std::span<const uint32_t> numbers) {
  add(ColumnType::u32, numbers.size(), numbers.data(), numbers.size_bytes());
}
void Block::numbers(std::span<const double> numbers) {
  add(ColumnType::f64, numbers.size(), numbers.data(), numbers.size_bytes());
}

void Block::texts(const std::vector<std::string> &texts) {
  std::vector<uint32_t> ends;
  std::string all;
  uint32_t end = 0;
  for (const std::string &each : texts) {
    all += each;
    ends.push_back(end += units(each));
  }
  numbers(ends);
  text(all);
}

Bytes Block::take() {
  ByteWriter head(kFront);
  head.fixed32(static_cast<uint32_t>(columns_.size()));
  head.fixed32(static_cast<uint32_t>(bytes_.size()));
  for (const Column &column : columns_) {
    head.fixed32(static_cast<uint32_t>(column.type));
    head.fixed32(column.count);
    head.fixed32(static_cast<uint32_t>(column.offset));
    head.fixed32(0);
  }
  std::copy(head.view().begin(), head.view().end(), bytes_.begin());
  return std::move(bytes_);
}

Result<void> Exactly::done() const {
  if (!beyond_) return {};
  return fail(ErrorKind::unreadable, "a number is beyond 2^53, which a page cannot hold", "use the verbs of cairn");
}

}  // namespace cairn::reader
