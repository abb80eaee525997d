#include "mpi/store/row_bytes.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

namespace cairn::recorder {
namespace {

TEST(RowBytes, KeepsEachRowAndGivesAllBack) {
  constexpr size_t kSize = size_t{4} << 20;
  const std::unique_ptr<void, decltype(&std::free)> memory(std::aligned_alloc(4096, kSize), std::free);
  Arena arena(memory.get(), kSize, Arena::Fresh::as_it_is);
  RowBytes rows;
  std::vector<std::pair<const uint8_t *, std::vector<uint8_t>>> added;
  size_t bytes = 0;
  for (size_t i = 0; i < 3000; ++i) {
    std::vector<uint8_t> row(i % 500 == 499 ? 20000 : 1 + i % 60, static_cast<uint8_t>(i));
    const uint8_t *const copy = rows.add(arena, row.data(), row.size());
    ASSERT_NE(copy, nullptr);
    if (i % 7 == 0) {
      rows.undo(row.size());
      continue;
    }
    bytes += row.size();
    added.emplace_back(copy, std::move(row));
  }
  for (const auto &[copy, row] : added) ASSERT_EQ(std::vector<uint8_t>(copy, copy + row.size()), row);
  EXPECT_LE(arena.used(), bytes + bytes / 2);
  rows.release(arena);
  EXPECT_EQ(arena.used(), 0U);
}

TEST(RowBytes, SaysSoWithoutMemory) {
  constexpr size_t kSize = size_t{64} << 10;
  const std::unique_ptr<void, decltype(&std::free)> memory(std::aligned_alloc(4096, kSize), std::free);
  Arena arena(memory.get(), kSize, Arena::Fresh::as_it_is);
  RowBytes rows;
  const std::vector<uint8_t> row(100);
  size_t count = 0;
  while (rows.add(arena, row.data(), row.size()) != nullptr) ++count;
  EXPECT_GT(count, kSize / row.size() / 2);
}

}  // namespace
}  // namespace cairn::recorder
