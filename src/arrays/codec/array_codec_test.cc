#include "arrays/codec/array_codec.h"

#include <gtest/gtest.h>

#include <set>

#include "arrays/codec/cpu.h"
#include "arrays/codec/reused.h"
#include "arrays/testing/boxes.h"

namespace cairn::codec {
namespace {

TEST(ArrayCodec, NumbersAndNamesAreEachOnes) {
  std::set<std::string_view> names;
  for (const ArrayCodec &codec : array_codecs()) {
    EXPECT_EQ(find_array_codec(codec.id), &codec);
    EXPECT_EQ(find_array_codec(codec.name), &codec);
    EXPECT_LT(codec.id, kFirstOfUsers);
    names.insert(codec.name);
  }
  EXPECT_EQ(names.size(), array_codecs().size());
  EXPECT_EQ(find_array_codec(uint8_t{127}), nullptr);
  EXPECT_EQ(find_array_codec("brotli"), nullptr);
}

TEST(ArrayCodec, EveryCodecGivesBackEveryBox) {
  const Bytes before = {1, 2, 3};
  for (const ArrayCodec &codec : array_codecs()) {
    if (codec.lossy) continue;
    for_all_boxes([&](const Box &box) {
      if (!codec.takes(box.element)) return;
      SCOPED_TRACE(testing::Message() << codec.name << " element " << static_cast<int>(box.element) << " content "
                                      << static_cast<int>(box.content) << " " << testing::PrintToString(box.shape));
      Bytes out = before;
      ASSERT_TRUE(codec.encode(box.values, box.grid(), {}, &out));
      ASSERT_TRUE(std::equal(before.begin(), before.end(), out.begin()));
      Bytes back(box.values.size(), 0xee);
      ASSERT_TRUE(codec.decode(ByteView(out).subspan(before.size()), box.grid(), back));
      ASSERT_TRUE(back == box.values);
    });
  }
}

TEST(ArrayCodec, AnyCpuWritesAndReadsTheSameBytes) {
  if (!cpu_has_avx2()) GTEST_SKIP() << "this CPU has but the portable form";
  const auto check = [](const Box &box) {
    for (const ArrayCodec &codec : array_codecs()) {
      if (codec.lossy || !codec.takes(box.element)) continue;
      Bytes fast;
      Bytes portable;
      ASSERT_TRUE(codec.encode(box.values, box.grid(), {}, &fast));
      portable_only = true;
      const bool encoded = codec.encode(box.values, box.grid(), {}, &portable);
      Bytes back(box.values.size());
      const bool decoded = codec.decode(fast, box.grid(), back);
      portable_only = false;
      ASSERT_TRUE(encoded && fast == portable) << codec.name << " element " << static_cast<int>(box.element);
      ASSERT_TRUE(decoded && back == box.values) << codec.name << " element " << static_cast<int>(box.element);
    }
  };
  int turn = 0;
  for_all_boxes([&](const Box &box) {
    if (++turn % 5 == 0) check(box);
  });
  std::mt19937_64 random(8);
  for (const Element element : {Element::i16, Element::f32, Element::f64}) {
    for (const Content content : {Content::smooth, Content::missing, Content::decimal, Content::packed})
      check({element, content, {70, 341, 3}, values_of(element, content, 71610, random), {}});
  }
}

TEST(ArrayCodec, MemoryThatCodecsWorkInIsKeptForTheNext) {
  const ReusedMemory probe = take_reused(8);
  keep_reused(probe);
  if (probe.size == 8) GTEST_SKIP() << "not with an address sanitizer";
  const uint8_t *first = nullptr;
  {
    const Reused<uint64_t> some(100000);
    first = reinterpret_cast<const uint8_t *>(some.get());
  }
  const Reused<float> less(199000);
  EXPECT_EQ(reinterpret_cast<const uint8_t *>(less.get()), first);
  const Reused<float> other(199000);
  EXPECT_NE(reinterpret_cast<const uint8_t *>(other.get()), first);
  // Of what is more than a thread keeps, the last.
  std::vector<Reused<uint8_t>> many;
  for (int i = 0; i < 6; ++i) many.emplace_back(size_t{5} << 20);
  const uint8_t *const last = many.back().get();
  many.clear();
  const Reused<uint8_t> again(size_t{5} << 20);
  EXPECT_EQ(again.get(), last);
}

TEST(ArrayCodec, RefusesShapesThatAreNotTheValues) {
  const Bytes values(24, 1);
  const uint64_t shape[] = {7};
  const uint64_t huge[] = {UINT64_MAX / 2, 4, 6};
  const uint64_t right[] = {2, 3};
  for (const ArrayCodec &codec : array_codecs()) {
    Bytes out;
    Bytes back(24);
    const ArrayOptions options{0, 0.1};
    EXPECT_FALSE(codec.encode(values, {Element::f32, shape, {}}, options, &out)) << codec.name;
    EXPECT_FALSE(codec.encode(values, {Element::f32, huge, {}}, options, &out)) << codec.name;
    EXPECT_FALSE(codec.encode(values, {Element::f32, right, ByteView(values).first(20)}, options, &out)) << codec.name;
    EXPECT_TRUE(out.empty()) << codec.name;
    ASSERT_TRUE(codec.encode(values, {Element::f32, right, {}}, options, &out)) << codec.name;
    EXPECT_FALSE(codec.decode(out, {Element::f32, shape, {}}, back)) << codec.name;
  }
}

TEST(ArrayCodec, DamagedBytesAreRefusedOrDecodeWithinTheirValues) {
  const std::vector<uint64_t> shapes[] = {{6}, {40}, {12, 9}, {50, 3}};
  std::mt19937_64 random(2);
  for (const ArrayCodec &codec : array_codecs()) {
    for (const Element element : {Element::u8, Element::u16, Element::f32, Element::f64}) {
      if (!codec.takes(element)) continue;
      for (const Content content : {Content::smooth, Content::random, Content::missing, Content::decimal}) {
        if (codec.lossy && content != Content::smooth) continue;
        for (const auto &shape : shapes) {
          const Bytes values = values_of(element, content, product(shape), random);
          const Grid grid{element, shape, {}};
          Bytes out;
          ASSERT_TRUE(codec.encode(values, grid, {0, 0.5}, &out));
          // Each try has the bytes and the values in memory of their own size, so that a sanitizer sees what is over.
          for (size_t cut = 0; cut < out.size(); ++cut) {
            const Bytes bytes(out.begin(), out.begin() + static_cast<ptrdiff_t>(cut));
            Bytes back(values.size());
            EXPECT_FALSE(codec.decode(bytes, grid, back)) << codec.name << " cut to " << cut << " of " << out.size();
          }
          for (size_t at = 0; at < out.size(); ++at) {
            Bytes bytes = out;
            bytes[at] ^= static_cast<uint8_t>(1U << random() % 8);
            Bytes back(values.size());
            codec.decode(bytes, grid, back);
            bytes[at] = static_cast<uint8_t>(random());
            codec.decode(bytes, grid, back);
          }
          Bytes longer = out;
          longer.push_back(0);
          Bytes back(values.size());
          EXPECT_FALSE(codec.decode(longer, grid, back)) << codec.name;
        }
      }
    }
  }
}

TEST(ArrayCodec, DamagedCodesAreRefusedOrDecodeWithinTheirValues) {
  // Long enough for the codes of "delta", which shorter boxes do not have.
  const std::vector<uint64_t> shape = {2700};
  std::mt19937_64 random(4);
  for (const char *name : {"delta", "xor"}) {
    const ArrayCodec *codec = find_array_codec(name);
    for (const Element element : {Element::i16, Element::f32, Element::f64}) {
      for (const Content content : {Content::smooth, Content::packed, Content::missing}) {
        if (!codec->takes(element)) continue;
        const Bytes values = values_of(element, content, 2700, random);
        const Grid grid{element, shape, {}};
        Bytes out;
        ASSERT_TRUE(codec->encode(values, grid, {}, &out));
        Bytes back(values.size());
        for (size_t at = 0; at < out.size(); at += 1 + at / 400) {
          const Bytes bytes(out.begin(), out.begin() + static_cast<ptrdiff_t>(at));
          EXPECT_FALSE(codec->decode(bytes, grid, back)) << name << " cut to " << at << " of " << out.size();
          Bytes other = out;
          other[at] ^= static_cast<uint8_t>(1U << random() % 8);
          codec->decode(other, grid, back);
          other[at] = static_cast<uint8_t>(random());
          codec->decode(other, grid, back);
        }
      }
    }
  }
}

TEST(ArrayCodec, LossyKeepsItsPromiseOrRefuses) {
  const ArrayCodec *codec = find_array_codec("zfp-lossy");
  if (codec == nullptr) GTEST_SKIP() << "built without zfp";
  std::mt19937_64 random(3);
  const std::vector<uint64_t> shape = {30, 40};
  Bytes values = values_of(Element::f32, Content::smooth, 1200, random);
  const Grid grid{Element::f32, shape, {}};
  Bytes out;
  ASSERT_TRUE(codec->encode(values, grid, {0, 0.01}, &out));
  EXPECT_LT(out.size(), values.size() / 2);
  Bytes back(values.size());
  ASSERT_TRUE(codec->decode(out, grid, back));
  for (size_t i = 0; i < 1200; ++i) {
    float a = 0;
    float b = 0;
    memcpy(&a, values.data() + 4 * i, 4);
    memcpy(&b, back.data() + 4 * i, 4);
    ASSERT_NEAR(a, b, 0.01F);
  }
  const float missing = -1e34F;  // no block that holds this can keep its other values
  memcpy(values.data() + 400, &missing, 4);
  out.clear();
  EXPECT_FALSE(codec->encode(values, grid, {0, 0.01}, &out));
  EXPECT_FALSE(codec->encode(values, grid, {0, 0}, &out));
  EXPECT_TRUE(out.empty());
}

}  // namespace
}  // namespace cairn::codec
