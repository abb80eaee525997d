#include "report/seven_bits.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace cairn::report {
namespace {

constexpr std::array<uint32_t, 6> kUnsafe = {0x00, 0x0a, 0x0d, 0x1a, 0x26, 0x3c};

}  // namespace

std::string seven_bits(std::string_view bytes) {
  const uint64_t bits = uint64_t{8} * bytes.size();
  /// The seven bits from that one on; behind the last byte there are zeros.
  const auto from = [&](uint64_t bit) {
    const size_t at = bit / 8;
    const auto byte = [&](size_t index) -> uint32_t {
      return index < bytes.size() ? static_cast<uint8_t>(bytes[index]) : 0;
    };
    return (byte(at) << 8 | byte(at + 1)) >> (9 - bit % 8) & 0x7f;
  };
  std::string text;
  text.reserve(bits / 7 + 2);
  for (uint64_t bit = 0; bit < bits; bit += 7) {
    const uint32_t seven = from(bit);
    const auto *const unsafe = std::ranges::find(kUnsafe, seven);
    if (unsafe == kUnsafe.end()) {
      text += static_cast<char>(seven);
      continue;
    }
    bit += 7;
    const uint32_t character = static_cast<uint32_t>(unsafe - kUnsafe.begin() + 1) << 7 | from(bit);
    text += static_cast<char>(0xc0 | character >> 6);
    text += static_cast<char>(0x80 | (character & 0x3f));
  }
  return text;
}

}  // namespace cairn::report
