#include "arrays/codec/class_code.h"

#include <array>

#include "arrays/codec/code_lanes.h"
#include "arrays/codec/reused.h"

namespace cairn::codec {
namespace {

constexpr size_t kMaxContexts = 8;

/// The number of bits of a residual of that class.
constexpr uint32_t bits_of_class(uint32_t klass) {
  return klass < 4 ? static_cast<uint32_t>(std::bit_width(klass)) : (klass >> 2) + 2;
}
/// The first class of that number of bits; 256 where there is none.
constexpr uint32_t class_of_bits(uint32_t bits) { return std::min(bits < 3 ? bits : 4 * (bits - 2), 256U); }

struct Contexts {
  size_t count = 1;
  std::array<uint8_t, kMaxContexts> first = {};  ///< the smallest number of bits of each; ascending, from 0

  /// By the class before.
  [[nodiscard]] std::array<uint8_t, 256> table() const {
    std::array<uint8_t, 256> of;
    uint8_t context = 0;
    for (uint32_t klass = 0; klass < 256; ++klass) {
      while (context + 1U < count && first[context + 1U] <= bits_of_class(klass)) ++context;
      of[klass] = context;
    }
    return of;
  }
};

using Histogram = std::array<uint32_t, 256>;
constexpr size_t kMaxBits = 66;

/// Cuts where each context has had its share.
Contexts choose_contexts(const Histogram &some) {
  std::array<uint64_t, kMaxBits> by_bits = {};
  uint64_t all = 0;
  for (uint32_t klass = 0; klass < 256; ++klass) {
    by_bits[bits_of_class(klass)] += some[klass];
    all += some[klass];
  }
  Contexts contexts;
  uint64_t share = 0;
  for (size_t bits = 0; bits < kMaxBits; ++bits) {
    if (share > 0 && share * kMaxContexts >= all && contexts.count < kMaxContexts) {
      contexts.first[contexts.count++] = static_cast<uint8_t>(bits);
      share = 0;
    }
    share += by_bits[bits];
  }
  if (share == 0 && contexts.count > 1) --contexts.count;
  return contexts;
}

/// The context of each class, by the one before it, times 256, and the class. The first of a lane has context 0.
CAIRN_BODY void place_body(const uint8_t *classes, size_t count, const Contexts &contexts, uint16_t *places) {
  std::array<uint8_t, kMaxContexts> from;
  from.fill(0xff);  // no class is as high
  for (size_t c = 1; c < contexts.count; ++c)
    from[c] = static_cast<uint8_t>(std::min(class_of_bits(contexts.first[c]), 255U));
  const size_t lane = code_lane_size(count);
  places[0] = classes[0];
  for (size_t i = 1; i < count; ++i) {
    const uint8_t before = classes[i - 1];
    uint16_t context = 0;
    for (size_t c = 1; c < kMaxContexts; ++c) context = static_cast<uint16_t>(context + (before >= from[c] ? 1 : 0));
    places[i] = static_cast<uint16_t>(context << 8 | classes[i]);
  }
  for (size_t at = lane; at < count; at += lane) places[at] = classes[at];
}

/// How often each class occurs in each context. Two counters, since one that was just written is not yet there to be
/// read.
void count_places(const uint16_t *places, size_t count, std::array<Histogram, kMaxContexts> *sums) {
  std::array<uint32_t, 256 *kMaxContexts> one = {};
  std::array<uint32_t, 256 *kMaxContexts> two = {};
  for (size_t i = 0; i + 2 <= count; i += 2) {
    ++one[places[i]];
    ++two[places[i + 1]];
  }
  if (count % 2 != 0) ++one[places[count - 1]];
  for (size_t c = 0; c < kMaxContexts; ++c) {
    for (size_t klass = 0; klass < 256; ++klass) (*sums)[c][klass] = one[c << 8 | klass] + two[c << 8 | klass];
  }
}

}  // namespace

bool write_class_codes(const uint8_t *classes, size_t count, const std::array<uint32_t, 256> &some, double least,
                       uint8_t *room, Bytes *out) {
  const Contexts contexts = choose_contexts(some);
  auto *places = reinterpret_cast<uint16_t *>(room);
  uint8_t *const packed = room + 2 * count;
  on_this_cpu<place_body>(classes, count, contexts, places);
  std::array<Histogram, kMaxContexts> sums;
  count_places(places, count, &sums);
  std::array<uint32_t, 256 * kMaxContexts> codes;
  Bytes front;
  front.push_back(static_cast<uint8_t>(contexts.count));
  for (size_t c = 1; c < contexts.count; ++c) front.push_back(contexts.first[c]);
  uint64_t bits = 0;
  for (size_t c = 0; c < contexts.count; ++c) {
    const HuffmanCode code = HuffmanCode::of(sums[c]);
    code.write(&front);
    lay_out(code, codes.data() + 256 * c);
    for (size_t klass = 0; klass < 256; ++klass) bits += uint64_t{sums[c][klass]} * code.length[klass];
  }
  if (static_cast<double>(bits) < least * static_cast<double>(count)) return false;
  out->insert(out->end(), front.begin(), front.end());
  write_code_lanes(places, count, codes.data(), packed, out);
  return true;
}

bool read_class_codes(ByteReader &in, uint8_t *classes, size_t count) {
  Contexts contexts;
  contexts.count = in.byte();
  if (contexts.count == 0 || contexts.count > kMaxContexts) return false;
  for (size_t c = 1; c < contexts.count; ++c) {
    contexts.first[c] = in.byte();
    if (contexts.first[c] <= contexts.first[c - 1]) return false;
  }
  const std::array<uint8_t, 256> context_of = contexts.table();
  const Reused<CodeTable> table(kMaxContexts);
  for (size_t c = 0; c < contexts.count; ++c) {
    HuffmanCode code;
    if (!code.read(in)) return false;
    fill_table(code, context_of, &table[c]);
  }
  return read_code_lanes(in, table.get(), classes, count);
}

}  // namespace cairn::codec
