// Boxes of every element, shape and content, for the tests of array codecs and their second reader. Always the same.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "arrays/codec/array_codec.h"

namespace cairn::codec {

constexpr Element kElements[] = {Element::i8,  Element::u8,  Element::i16, Element::u16, Element::i32,
                                 Element::u32, Element::i64, Element::u64, Element::f32, Element::f64};

/// What boxes hold, from nothing that can be foretold to nothing that cannot.
enum class Content : uint8_t { random, smooth, special, constant, missing, decimal, steps, packed };
constexpr Content kContents[] = {Content::random,  Content::smooth,  Content::special, Content::constant,
                                 Content::missing, Content::decimal, Content::steps,   Content::packed};

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
      case Content::packed:  // below
        break;
    }
    if constexpr (std::is_floating_point_v<T>) {
      if (content == Content::smooth) value = static_cast<T>(wave + 1e-3 * static_cast<double>(bits % 1000));
      // A base of its own for every 500, as GRIB has it.
      if (content == Content::packed) {
        const size_t group = i / 500;
        value = static_cast<T>(1000 + 0.7312 * static_cast<double>(group) +
                               std::round(8 * wave + static_cast<double>(bits % 64)) / 64);
      }
    }
    memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

inline Bytes values_of(Element element, Content content, size_t count, std::mt19937_64 &random) {
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

inline const std::vector<std::vector<uint64_t>> kShapes = {{},
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

inline size_t product(const std::vector<uint64_t> &shape) {
  size_t count = 1;
  for (const uint64_t extent : shape) count *= static_cast<size_t>(extent);
  return count;
}

struct Box {
  Element element = Element::u8;
  Content content = Content::random;
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

}  // namespace cairn::codec
