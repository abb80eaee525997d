#include "base/bytes.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace cairn {
namespace {

TEST(Bytes, VarintsAreReadAsTheyWereWritten) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 20000; ++round) {
    std::vector<uint64_t> values(random() % 6 + 1);
    ByteWriter out;
    for (uint64_t &value : values) {
      value = random() >> random() % 64;
      out.varint(value);
    }
    ByteReader in(out.view());
    for (const uint64_t value : values) ASSERT_EQ(in.varint(), value);
    EXPECT_TRUE(in.at_end());
    EXPECT_FALSE(in.failed());
  }
}

/// What docs/format.md says of a varint, a byte at a time.
struct Plain {
  uint64_t value = 0;
  size_t length = 0;
  bool failed = false;

  explicit Plain(ByteView bytes) {
    for (int shift = 0;; shift += 7) {
      failed = shift == 70 || length == bytes.size();
      if (failed) break;
      const uint8_t next = bytes[length++];
      failed = shift == 63 && next > 1;
      if (failed) break;
      value |= static_cast<uint64_t>(next & 0x7f) << shift;
      if (next < 0x80) return;
    }
    value = 0;
  }
};

TEST(Bytes, AnyBytesAreReadAsByteByByte) {
  std::mt19937 random(11);
  for (int round = 0; round < 50000; ++round) {
    Bytes bytes(random() % 24);
    for (uint8_t &byte : bytes) byte = static_cast<uint8_t>(random() | (random() % 3 != 0 ? 0x80U : 0U));
    const Plain plain(bytes);
    ByteReader in(bytes);
    ASSERT_EQ(in.varint(), plain.value);
    ASSERT_EQ(in.position(), plain.length);
    ASSERT_EQ(in.failed(), plain.failed);
  }
}

}  // namespace
}  // namespace cairn
