#include "codec/array/array_codec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <set>

namespace cairn::codec {
namespace {

constexpr Element kElements[] = {Element::i8,  Element::u8,  Element::i16, Element::u16, Element::i32,
                                 Element::u32, Element::i64, Element::u64, Element::f32, Element::f64};

/// What boxes hold, from nothing that can be foretold to nothing that cannot.
enum class Content : uint8_t { random, smooth, special, constant, missing, decimal, steps };
constexpr Content kContents[] = {Content::random,  Content::smooth,  Content::special, Content::constant,
                                 Content::missing, Content::decimal, Content::steps};

template <typename T>
T special(std::mt19937_64 &random) {
  using Limits = std::numeric_limits<T>;
  const T values[] = {T(0), Limits::max(), Limits::lowest(), Limits::min(), T(1), static_cast<T>(-T(1))};
  if constexpr (std::is_floating_point_v<T>) {
    const T floats[] = {-T(0),
                        Limits::infinity(),
                        -Limits::infinity(),
                        Limits::denorm_min(),
                        -Limits::denorm_min(),
                        Limits::quiet_NaN(),
                        T(-1e34),
                        T(1e20)};
    if (random() % 2 == 0) return floats[random() % std::size(floats)];
  }
  return values[random() % std::size(values)];
}

template <typename T>
Bytes values_of(Content content, size_t count, std::mt19937_64 &random) {
  Bytes bytes(count * sizeof(T));
  for (size_t i = 0; i < count; ++i) {
    const double wave = 100 * std::sin(static_cast<double>(i) * 0.01);
    T value = T(0);
    uint64_t bits = random();
    switch (content) {
      case Content::random:
        memcpy(&value, &bits, sizeof(T));
        break;
      case Content::smooth:
        value = static_cast<T>(static_cast<int>(wave));
        break;
      case Content::special:
        value = special<T>(random);
        if constexpr (std::is_floating_point_v<T>) {  // NaNs with payloads, quiet and signalling
          if (bits % 7 == 0) {
            const T infinite = std::numeric_limits<T>::infinity();
            uint64_t pattern = 0;
            memcpy(&pattern, &infinite, sizeof(T));
            pattern |= (bits >> 20 & 0x3fffff) | 1;
            memcpy(&value, &pattern, sizeof(T));
          }
        }
        break;
      case Content::constant:
        value = T(42);
        break;
      case Content::missing:
        value = bits % 50 < 20 ? special<T>(random) : static_cast<T>(static_cast<int>(wave));
        break;
      case Content::decimal:
        value = static_cast<T>(static_cast<T>(static_cast<int>(bits % 100)) / T(100));
        break;
      case Content::steps:
        value = static_cast<T>(i / 97 % 100);
        break;
    }
    if constexpr (std::is_floating_point_v<T>) {
      if (content == Content::smooth) value = static_cast<T>(wave + 1e-3 * static_cast<double>(bits % 1000));
    }
    memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

Bytes values_of(Element element, Content content, size_t count, std::mt19937_64 &random) {
  switch (element) {
    case Element::i8:
      return values_of<int8_t>(content, count, random);
    case Element::u8:
      return values_of<uint8_t>(content, count, random);
    case Element::i16:
      return values_of<int16_t>(content, count, random);
    case Element::u16:
      return values_of<uint16_t>(content, count, random);
    case Element::i32:
      return values_of<int32_t>(content, count, random);
    case Element::u32:
      return values_of<uint32_t>(content, count, random);
    case Element::i64:
      return values_of<int64_t>(content, count, random);
    case Element::u64:
      return values_of<uint64_t>(content, count, random);
    case Element::f32:
      return values_of<float>(content, count, random);
    case Element::f64:
      return values_of<double>(content, count, random);
  }
  return {};
}

const std::vector<std::vector<uint64_t>> kShapes = {{},
                                                    {1},
                                                    {2},
                                                    {7},
                                                    {8},
                                                    {33},
                                                    {1000},
                                                    {0},
                                                    {3, 0, 2},
                                                    {1, 1, 1},
                                                    {5, 1, 7},
                                                    {129, 3},
                                                    {3, 129},
                                                    {17, 16},
                                                    {4, 5, 6, 7},
                                                    {3, 2, 1, 3},
                                                    {9, 9, 9},
                                                    {2, 3, 4, 5, 6},
                                                    {1, 1, 31, 1},
                                                    {70, 90, 3},
                                                    {20011}};

size_t product(const std::vector<uint64_t> &shape) {
  size_t count = 1;
  for (const uint64_t extent : shape) count *= static_cast<size_t>(extent);
  return count;
}

struct Box {
  Element element;
  Content content;
  std::vector<uint64_t> shape;
  Bytes values;
  Bytes reference;
  [[nodiscard]] Grid grid() const { return {element, shape, reference}; }
};

template <typename Function>
void for_all_boxes(Function function) {
  std::mt19937_64 random(1);
  for (const Element element : kElements) {
    for (const Content content : kContents) {
      for (const auto &shape : kShapes) {
        Box box{element, content, shape, values_of(element, content, product(shape), random), {}};
        function(box);
        box.reference = box.values;
        for (size_t i = 0; i < box.reference.size(); i += 1 + random() % 5) box.reference[i] ^= 1;
        function(box);
      }
    }
  }
}

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
