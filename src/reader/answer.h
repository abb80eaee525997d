// For tests: a result of the reader (reader.h) taken apart.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "reader/reader.h"

namespace cairn::reader {

class Answer {
 public:
  /// NULL is a failure of the test.
  explicit Answer(reader_result result) : block_(result) {
    EXPECT_NE(result, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(result) % alignof(double), 0U);
  }

  [[nodiscard]] uint32_t columns() const { return number(0); }
  [[nodiscard]] std::string text(uint32_t column) const {
    const auto [from, count] = place(column, 1, 1);
    return {reinterpret_cast<const char *>(from), count};
  }
  [[nodiscard]] std::vector<uint32_t> numbers(uint32_t column) const {
    const auto [from, count] = place(column, 3, sizeof(uint32_t));
    std::vector<uint32_t> all(count);
    if (count != 0) std::memcpy(all.data(), from, count * sizeof(uint32_t));
    return all;
  }
  [[nodiscard]] std::vector<double> doubles(uint32_t column) const {
    const auto [from, count] = place(column, 5, sizeof(double));
    std::vector<double> all(count);
    if (count != 0) std::memcpy(all.data(), from, count * sizeof(double));
    return all;
  }
  /// Texts of ASCII, whose ends are in one column, and they in the next.
  [[nodiscard]] std::vector<std::string> texts(uint32_t column) const {
    const std::string all = text(column + 1);
    std::vector<std::string> found;
    uint32_t begin = 0;
    for (const uint32_t end : numbers(column)) {
      EXPECT_LE(end, all.size());
      found.push_back(all.substr(begin, end - begin));
      begin = end;
    }
    EXPECT_EQ(begin, all.size());
    return found;
  }

 private:
  [[nodiscard]] uint32_t number(size_t offset) const {
    uint32_t value = 0;
    if (block_ != nullptr) std::memcpy(&value, block_ + offset, sizeof(value));
    return value;
  }
  struct Place {
    const uint8_t *from;
    size_t count;
  };
  [[nodiscard]] Place place(uint32_t column, uint32_t type, size_t bytes_each) const {
    const size_t head = 8 + size_t{16} * column;
    if (column >= columns() || number(head) != type) {
      ADD_FAILURE() << "no column " << column << " of type " << type;
      return {nullptr, 0};
    }
    const Place found{block_ + number(head + 8), number(head + 4)};
    EXPECT_EQ(number(head + 8) % 8, 0U);
    EXPECT_LE(number(head + 8) + found.count * bytes_each, number(4));
    return found;
  }
  reader_result block_;
};

/// Opens a copy of the bytes.
inline bool open(const Bytes &bytes) {
  uint8_t *copy = reader_alloc(bytes.size());
  std::copy(bytes.begin(), bytes.end(), copy);
  return reader_open(copy, bytes.size()) == 0;
}

}  // namespace cairn::reader
