#include "timing/lossless.h"

#include <gtest/gtest.h>

#include <random>

namespace cairn::timing {
namespace {

struct Encoder {
  explicit Encoder(size_t capacity) : pending(capacity), writer(pending.data(), capacity) {}
  void add(CallTime pair) {
    if (writer.add(pair.gap, pair.duration)) return;
    flush();
    ASSERT_TRUE(writer.add(pair.gap, pair.duration));
  }
  void flush() {
    Bytes chunk(writer.flush_bound());
    chunk.resize(writer.flush(chunk.data(), chunk.size(), workspace.data(), workspace.size() * 8));
    stream.insert(stream.end(), chunk.begin(), chunk.end());
  }
  Bytes pending;
  LosslessWriter writer;
  std::vector<uint64_t> workspace = std::vector<uint64_t>(LosslessWriter::workspace_size() / 8 + 1);
  Bytes stream;
};

std::vector<CallTime> some_pairs(size_t count, uint64_t spread) {
  std::mt19937_64 random(5);
  std::vector<CallTime> pairs(count);
  for (auto &pair : pairs) pair = {random() % spread, random() % spread};
  return pairs;
}

TEST(Lossless, GivesBackEveryPair) {
  for (const size_t capacity : {size_t{20}, size_t{1000}, size_t{65536}, size_t{1000000}}) {
    for (const uint64_t spread : {uint64_t{3}, uint64_t{100000}, UINT64_MAX}) {
      const auto pairs = some_pairs(3000, spread);
      Encoder encoder(capacity);
      for (const auto &pair : pairs) encoder.add(pair);
      encoder.flush();
      EXPECT_EQ(encoder.writer.pending_calls(), 0U);
      std::vector<CallTime> back;
      size_t bad = 0;
      ASSERT_TRUE(read_lossless(encoder.stream, pairs.size(), &back, &bad)) << capacity << " " << spread;
      EXPECT_EQ(back, pairs);
    }
  }
}

TEST(Lossless, CompressesAndWorksWithoutWorkspace) {
  Encoder encoder(65536);
  for (int i = 0; i < 10000; ++i) encoder.add({50, 100});
  encoder.flush();
  EXPECT_LT(encoder.stream.size(), 200U);
  Bytes pending(1000);
  LosslessWriter plain(pending.data(), pending.size());
  ASSERT_TRUE(plain.add(1, 2));
  Bytes chunk(plain.flush_bound());
  EXPECT_EQ(plain.flush(chunk.data(), chunk.size() - 1, nullptr, 0), 0U);
  chunk.resize(plain.flush(chunk.data(), chunk.size(), nullptr, 0));
  std::vector<CallTime> back;
  size_t bad = 0;
  ASSERT_TRUE(read_lossless(chunk, 1, &back, &bad));
  EXPECT_EQ(back, (std::vector<CallTime>{{1, 2}}));
}

TEST(Lossless, RefusesHostileBytes) {
  Encoder encoder(1000);
  const auto pairs = some_pairs(1000, 100000);
  for (const auto &pair : pairs) encoder.add(pair);
  encoder.flush();
  std::vector<CallTime> back;
  size_t bad = 0;
  EXPECT_FALSE(read_lossless(encoder.stream, 999, &back, &bad));  // more calls than the sequence has
  EXPECT_GT(bad, 0U);
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    Bytes broken = encoder.stream;
    broken[random() % broken.size()] ^= static_cast<uint8_t>(1U << (random() % 8));
    broken.resize(random() % broken.size());
    back.clear();
    read_lossless(broken, 1000, &back, &bad);
    EXPECT_LE(back.size(), 1000U);
    EXPECT_LE(bad, broken.size());
  }
  // A chunk that claims more pairs than its bytes can hold.
  back.clear();
  EXPECT_FALSE(read_lossless(Bytes{100, 2, 2, 1, 1}, 1000, &back, &bad));
}

}  // namespace
}  // namespace cairn::timing
