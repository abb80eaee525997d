// Block: the columns of a result, as reader.h lays them out.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace cairn::reader {

enum class ColumnType : uint32_t { text = 1, u32 = 3, f64 = 5 };

class Block {
 public:
  /// Room for so many bytes of columns, so that large ones are not moved while others come.
  void reserve(size_t bytes);
  void text(std::string_view text);
  void numbers(std::span<const uint32_t> numbers);
  void numbers(std::span<const double> numbers);
  /// Where each ends, in units of UTF-16, and all of them, which must be valid UTF-8.
  void texts(const std::vector<std::string> &texts);

  /// The bytes; nothing else may be asked then.
  Bytes take();

 private:
  void add(ColumnType type, size_t count, const void *data, size_t bytes);
  struct Column {
    ColumnType type;
    uint32_t count;
    size_t offset;  ///< in bytes_
  };
  /// Of every block, for what says where its columns are: no block has more.
  static constexpr size_t kMostColumns = 16;
  static constexpr size_t kHead = 8;
  static constexpr size_t kColumnHead = 16;
  static constexpr size_t kFront = kHead + kMostColumns * kColumnHead;
  std::vector<Column> columns_;
  Bytes bytes_ = Bytes(kFront);
};

/// A number of 64 bits in a column of f64: refused beyond 2^53, above which not each is one.
class Exactly {
 public:
  double operator()(uint64_t number) {
    constexpr uint64_t kMost = uint64_t{1} << 53;
    if (number > kMost) beyond_ = true;
    return static_cast<double>(number);
  }
  /// None was refused.
  [[nodiscard]] Result<void> done() const;

 private:
  bool beyond_ = false;
};

}  // namespace cairn::reader
