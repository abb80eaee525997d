#include "arrays/codec/delta_map.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "arrays/codec/cpu.h"

namespace cairn::codec {
namespace {

template <typename Word>
using Float = std::conditional_t<sizeof(Word) == 4, float, double>;
template <typename Word>
using Signed = std::make_signed_t<Word>;
template <typename Word>
constexpr int kBits = sizeof(Word) * 8;
template <typename Word>
constexpr int kMantissa = sizeof(Word) == 4 ? 23 : 52;
template <typename Word>
constexpr Word kSign = Word(1) << (kBits<Word> - 1);

/// 2^shift, which is a normal number.
template <typename Word>
Float<Word> power(int shift) {
  return std::ldexp(Float<Word>(1), shift);
}

template <typename T>
CAIRN_BODY T load(const uint8_t *values, size_t i) {
  T value;
  memcpy(&value, values + i * sizeof(T), sizeof(T));
  return value;
}

template <typename Word>
CAIRN_BODY Word order(Word bits) {
  return bits ^ (static_cast<Word>(static_cast<Signed<Word>>(bits) >> (kBits<Word> - 1)) | kSign<Word>);
}
template <typename Word>
CAIRN_BODY Word disorder(Word ordered) {
  return ordered ^ (static_cast<Word>(static_cast<Signed<Word>>(~ordered) >> (kBits<Word> - 1)) | kSign<Word>);
}

// ---- ordered ----

template <typename Word>
CAIRN_BODY void order_floats(const uint8_t *__restrict values, size_t count, Word *__restrict integers) {
  for (size_t i = 0; i < count; ++i) integers[i] = order(load<Word>(values, i));
}
template <typename Word>
CAIRN_BODY void disorder_floats(const Word *__restrict integers, size_t count, uint8_t *__restrict values) {
  for (size_t i = 0; i < count; ++i) {
    const Word bits = disorder(integers[i]);
    memcpy(values + i * sizeof(Word), &bits, sizeof(Word));
  }
}
template <typename Word, typename T>
CAIRN_BODY void widen(const uint8_t *__restrict values, size_t count, Word *__restrict integers) {
  for (size_t i = 0; i < count; ++i) integers[i] = static_cast<Word>(static_cast<Signed<Word>>(load<T>(values, i)));
}
template <typename Word, typename T>
CAIRN_BODY void narrow(const Word *__restrict integers, size_t count, uint8_t *__restrict values) {
  for (size_t i = 0; i < count; ++i) {
    const T value = static_cast<T>(integers[i]);
    memcpy(values + i * sizeof(T), &value, sizeof(T));
  }
}

// ---- fixed ----

/// Integers as large as a mantissa: what is larger does not fit.
template <typename Word>
constexpr Float<Word> kFixedEnd = Float<Word>(Word(2) << kMantissa<Word>);

/// The width of the tail of a number that the float `bits`, a whole positive number, counts.
template <typename Word>
CAIRN_BODY Word tail_width(Word bits) {
  return static_cast<Word>(kMantissa<Word> + (sizeof(Word) == 4 ? 127 : 1023)) - (bits >> kMantissa<Word>);
}

template <typename Word>
CAIRN_BODY void fix(const uint8_t *__restrict values, size_t count, Float<Word> scale, Word *__restrict integers,
                    Word *__restrict tails, uint8_t *__restrict widths, uint8_t *__restrict misfits) {
  using Real = Float<Word>;
  for (size_t i = 0; i < count; ++i) {
    const Word bits = load<Word>(values, i);
    const Word sign = static_cast<Word>(static_cast<Signed<Word>>(bits) >> (kBits<Word> - 1));
    const Real scaled = std::bit_cast<Real>(static_cast<Word>(bits & ~kSign<Word>)) * scale;
    const Word inside = Word(0) - static_cast<Word>(scaled < kFixedEnd<Word>);  // not for NaN
    const Real kept = std::bit_cast<Real>(static_cast<Word>(std::bit_cast<Word>(scaled) & inside));
    const auto whole = static_cast<Word>(static_cast<Signed<Word>>(kept));
    const Word counted = std::bit_cast<Word>(static_cast<Real>(static_cast<Signed<Word>>(whole)));
    const Word some = Word(0) - static_cast<Word>(whole != 0);
    const Word width = tail_width(counted) & some;
    integers[i] = (whole ^ sign) - sign;
    tails[i] = bits & ((Word(1) << width) - 1);
    widths[i] = static_cast<uint8_t>(width);
    // Of what gives the integer 0, only 0 itself fits.
    misfits[i] = static_cast<uint8_t>((~inside & 1) | (static_cast<Word>(bits != 0) & ~some & 1));
  }
}

template <typename Word>
CAIRN_BODY void fixed_tail_widths(const Word *__restrict integers, size_t count, uint8_t *__restrict widths) {
  for (size_t i = 0; i < count; ++i) {
    const Word sign = static_cast<Word>(static_cast<Signed<Word>>(integers[i]) >> (kBits<Word> - 1));
    const Word whole = (integers[i] ^ sign) - sign;
    const Word counted = std::bit_cast<Word>(static_cast<Float<Word>>(static_cast<Signed<Word>>(whole)));
    // Of whole numbers that no encoder writes, the width is none or all that there could be.
    const Word width = tail_width(counted);
    const Word good = (Word(0) - static_cast<Word>(whole != 0)) &
                      (Word(0) - static_cast<Word>(width <= static_cast<Word>(kMantissa<Word>)));
    widths[i] = static_cast<uint8_t>(width & good);
  }
}

template <typename Word>
CAIRN_BODY void unfix(const Word *__restrict integers, const Word *__restrict tails, size_t count, int shift,
                      uint8_t *__restrict values) {
  const Word down = static_cast<Word>(static_cast<Signed<Word>>(shift)) << kMantissa<Word>;
  for (size_t i = 0; i < count; ++i) {
    const Word sign = static_cast<Word>(static_cast<Signed<Word>>(integers[i]) >> (kBits<Word> - 1));
    const Word whole = (integers[i] ^ sign) - sign;
    const Word counted = std::bit_cast<Word>(static_cast<Float<Word>>(static_cast<Signed<Word>>(whole)));
    const Word some = Word(0) - static_cast<Word>(whole != 0);
    const Word bits = (((counted - down) | tails[i]) & some) | (sign & kSign<Word>);
    memcpy(values + i * sizeof(Word), &bits, sizeof(Word));
  }
}

// ---- scaled ----

constexpr double kMagic = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to a whole number, which is its low bits
template <typename Word>
constexpr double kScaledEnd = sizeof(Word) == 4 ? 1073741824.0 : 1125899906842624.0;  // 2^30, 2^50

template <typename Word>
CAIRN_BODY Word of_scaled(double whole, double base, double step) {
  return order(std::bit_cast<Word>(static_cast<Float<Word>>(base + whole * step)));
}

template <typename Word>
CAIRN_BODY void scale(const uint8_t *__restrict values, size_t count, double base, double step,
                      Word *__restrict integers, uint8_t *__restrict corrections, uint8_t *__restrict misfits) {
  const double inverse = 1 / step;
  for (size_t i = 0; i < count; ++i) {
    const Word bits = load<Word>(values, i);
    const double real = (static_cast<double>(std::bit_cast<Float<Word>>(bits)) - base) * inverse;
    // Compared as integers, since compilers do not put comparisons of doubles into these vectors; NaN is not inside.
    const uint64_t real_bits = std::bit_cast<uint64_t>(real);
    const uint64_t one = ((real_bits & ~kSign<uint64_t>)-std::bit_cast<uint64_t>(kScaledEnd<Word>)) >> 63;
    const double magic = std::bit_cast<double>(real_bits & (0 - one)) + kMagic;
    const uint64_t whole = std::bit_cast<uint64_t>(magic) - std::bit_cast<uint64_t>(kMagic);
    const Word difference = order(bits) - of_scaled<Word>(magic - kMagic, base, step);
    const Word folded =
        (difference << 1) ^ static_cast<Word>(static_cast<Signed<Word>>(difference) >> (kBits<Word> - 1));
    integers[i] = static_cast<Word>(whole);
    corrections[i] = static_cast<uint8_t>(folded);
    const Word far = folded >> 8;
    misfits[i] = static_cast<uint8_t>((1 - one) | (far | (Word(0) - far)) >> (kBits<Word> - 1));
  }
}

template <typename Word>
CAIRN_BODY void unscale(const Word *__restrict integers, const uint8_t *__restrict corrections, size_t count,
                        double base, double step, uint8_t *__restrict values) {
  for (size_t i = 0; i < count; ++i) {
    const auto whole = static_cast<double>(static_cast<Signed<Word>>(integers[i]));
    const Word folded = corrections[i];
    const Word difference = (folded >> 1) ^ (Word(0) - (folded & 1));
    const Word bits = disorder<Word>(of_scaled<Word>(whole, base, step) + difference);
    memcpy(values + i * sizeof(Word), &bits, sizeof(Word));
  }
}

// ---- by mapping and element ----

template <typename Word>
CAIRN_BODY void map_body(const ValueMap &map, Element element, const uint8_t *values, size_t count,
                         const Mapped<Word> &out) {
  if (map.kind == Mapping::fixed)
    return fix<Word>(values, count, power<Word>(map.shift), out.integers, out.tails, out.tail_widths, out.misfits);
  if (map.kind == Mapping::scaled)
    return scale<Word>(values, count, map.base, map.step, out.integers, out.corrections, out.misfits);
  memset(out.misfits, 0, count);
  if (is_float(element)) return order_floats<Word>(values, count, out.integers);
  switch (element) {
    case Element::i8:
      return widen<Word, int8_t>(values, count, out.integers);
    case Element::u8:
      return widen<Word, uint8_t>(values, count, out.integers);
    case Element::i16:
      return widen<Word, int16_t>(values, count, out.integers);
    case Element::u16:
      return widen<Word, uint16_t>(values, count, out.integers);
    default:
      memcpy(out.integers, values, count * sizeof(Word));
  }
}

template <typename Word>
CAIRN_BODY void unmap_body(const ValueMap &map, Element element, const Mapped<Word> &in, size_t count,
                           uint8_t *values) {
  if (map.kind == Mapping::fixed) return unfix<Word>(in.integers, in.tails, count, map.shift, values);
  if (map.kind == Mapping::scaled) return unscale<Word>(in.integers, in.corrections, count, map.base, map.step, values);
  if (is_float(element)) return disorder_floats<Word>(in.integers, count, values);
  switch (size_of(element)) {
    case 1:
      return narrow<Word, uint8_t>(in.integers, count, values);
    case 2:
      return narrow<Word, uint16_t>(in.integers, count, values);
    default:
      memcpy(values, in.integers, count * sizeof(Word));
  }
}

}  // namespace

bool valid(const ValueMap &map, Element element) {
  if (map.kind == Mapping::ordered) return true;
  if (!is_float(element)) return false;
  if (map.kind == Mapping::fixed) {
    const int most = element == Element::f32 ? 100 : 900;
    return map.shift >= -most && map.shift <= most;
  }
  return std::isfinite(map.base) && map.step > 1e-300 && map.step < 1e300;
}

template <typename Word>
void map_values(const ValueMap &map, Element element, const uint8_t *values, size_t count, const Mapped<Word> &out) {
  on_this_cpu<map_body<Word>>(map, element, values, count, out);
}
template <typename Word>
void tail_widths(const Word *integers, size_t count, uint8_t *widths) {
  on_this_cpu<fixed_tail_widths<Word>>(integers, count, widths);
}
template <typename Word>
void unmap_values(const ValueMap &map, Element element, const Mapped<Word> &in, size_t count, uint8_t *values) {
  on_this_cpu<unmap_body<Word>>(map, element, in, count, values);
}

template void map_values(const ValueMap &, Element, const uint8_t *, size_t, const Mapped<uint32_t> &);
template void map_values(const ValueMap &, Element, const uint8_t *, size_t, const Mapped<uint64_t> &);
template void tail_widths(const uint32_t *integers, size_t count, uint8_t *widths);
template void tail_widths(const uint64_t *integers, size_t count, uint8_t *widths);
template void unmap_values(const ValueMap &, Element, const Mapped<uint32_t> &, size_t, uint8_t *);
template void unmap_values(const ValueMap &, Element, const Mapped<uint64_t> &, size_t, uint8_t *);

}  // namespace cairn::codec
