#include "codec/codec.h"

#include <gtest/gtest.h>

#include <random>

namespace cairn::codec {
namespace {

Bytes some_bytes(size_t size, unsigned seed, unsigned alphabet) {
  std::mt19937 random(seed);
  Bytes bytes(size);
  for (uint8_t &byte : bytes) byte = static_cast<uint8_t>(random() % alphabet);
  return bytes;
}

constexpr uint8_t kAll[] = {kRaw, kZstd, kNumbers};

TEST(Codec, EveryCodecGivesBackWhatItWasGiven) {
  for (const uint8_t id : kAll) {
    const Codec &codec = *find(id);
    EXPECT_EQ(codec.id, id);
    for (const size_t size : {size_t{0}, size_t{1}, size_t{100}, size_t{70000}}) {
      const Bytes plain = some_bytes(size, 7, 100);  // below 128: every byte is a varint, too
      Bytes encoded;
      ASSERT_TRUE(encode(id, plain, kDefaultLevel, &encoded)) << int{id};
      Bytes back;
      ASSERT_TRUE(decode(codec.id, encoded, plain.size(), &back)) << int{id} << " " << size;
      EXPECT_EQ(back, plain);
    }
  }
  EXPECT_EQ(find(uint8_t{200}), nullptr);
}

TEST(Codec, NumbersTakesOnlyShortestVarints) {
  Bytes out;
  const Codec *numbers = find(kNumbers);
  EXPECT_FALSE(encode(kNumbers, Bytes{0x80}, 3, &out));        // unfinished
  EXPECT_FALSE(encode(kNumbers, Bytes{0x80, 0x00}, 3, &out));  // zero in two bytes
  EXPECT_TRUE(out.empty());
  ByteWriter writer;
  for (uint64_t i = 0; i < 1000; ++i) writer.varint(UINT64_MAX - i * 1000003);
  ASSERT_TRUE(encode(kNumbers, writer.view(), 3, &out));
  EXPECT_LT(out.size(), 100U);
  Bytes back;
  ASSERT_TRUE(numbers->decode(out, writer.size(), &back));
  EXPECT_EQ(back, Bytes(writer.view().begin(), writer.view().end()));
}

TEST(Codec, SmallestKeepsWhatDoesNotShrinkRaw) {
  const uint8_t candidates[] = {kZstd, kNumbers};
  EXPECT_EQ(smallest(some_bytes(40, 1, 256), candidates).codec, kRaw);
  EXPECT_EQ(smallest(Bytes(1000, 42), candidates).bytes.size() < 50, true);
  // Compresses past the bound that decoders accept: stays raw.
  EXPECT_EQ(smallest(Bytes(10'000'000, 0), candidates).codec, kRaw);
}

TEST(Codec, RefusesWrongSizesAndBrokenBytes) {
  const Bytes plain = some_bytes(1000, 3, 20);
  for (const uint8_t id : kAll) {
    const Codec &codec = *find(id);
    Bytes encoded;
    ASSERT_TRUE(encode(id, plain, 3, &encoded));
    Bytes back;
    EXPECT_FALSE(decode(codec.id, encoded, 999, &back)) << int{id};
    EXPECT_FALSE(decode(codec.id, encoded, 1001, &back)) << int{id};
    EXPECT_FALSE(decode(codec.id, encoded, UINT64_MAX, &back)) << int{id};
    EXPECT_TRUE(back.empty());
    for (size_t cut = 0; cut < encoded.size(); cut += 7) {
      EXPECT_FALSE(decode(codec.id, ByteView(encoded).first(cut), 1000, &back)) << int{id};
    }
  }
}

}  // namespace
}  // namespace cairn::codec
