// For tests: a file that holds nothing but an index.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "arrays/file/index.h"

namespace cairn::arrays {

/// A file that holds an index, as a writer of one process keeps it.
class IndexFile {
 public:
  explicit IndexFile(uint64_t segment) { sizes_.segment = segment; }

  void synchronise(Index *index) {
    index->end = std::max<uint64_t>(index->end, bytes_.size());
    if (std::optional<Index::Plan> plan = index->plan(sizes_)) {
      put(index->end, plan->bytes);
      written_ += plan->bytes.size();
      index->filed(std::move(*plan));
    }
    root_ = pack(*index);
    written_ += root_.size();
  }
  [[nodiscard]] ReadPlace reader() const {
    return [this](const Run &place) -> Result<Bytes> {
      ++reads_;
      if (place.end() > bytes_.size()) return fail(ErrorKind::unreadable, "beyond the end");
      const auto begin = bytes_.begin() + static_cast<ptrdiff_t>(place.offset);
      return Bytes(begin, begin + static_cast<ptrdiff_t>(place.bytes));
    };
  }
  void put(uint64_t at, ByteView bytes) {
    bytes_.resize(std::max<size_t>(bytes_.size(), at + bytes.size()));
    std::ranges::copy(bytes, bytes_.begin() + static_cast<ptrdiff_t>(at));
  }
  void move(uint64_t by) { bytes_.insert(bytes_.begin(), by, 0); }
  uint8_t &byte(uint64_t at) { return bytes_[at]; }
  [[nodiscard]] const Bytes &root() const { return root_; }
  [[nodiscard]] size_t size() const { return bytes_.size(); }
  [[nodiscard]] size_t written() const { return written_; }
  [[nodiscard]] size_t reads() const { return reads_; }

 private:
  IndexSizes sizes_;
  Bytes bytes_;
  Bytes root_;
  size_t written_ = 0;
  mutable size_t reads_ = 0;
};

/// Sequence numbers of the blocks that hold some of it, oldest first.
inline std::vector<uint64_t> found(const Index &index, const Region &wanted) {
  std::vector<uint64_t> sequences;
  for (const size_t block : index.find({&wanted, 1})) sequences.push_back(index.blocks()[block].sequence);
  return sequences;
}

}  // namespace cairn::arrays
