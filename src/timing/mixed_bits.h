// MixedBits: how likely the next bit of a symbol is, from what followed several contexts before.
//
// A *context* is a number made of what is known when a symbol is coded: say, which call it is of, or that and the
// symbol before. For each context and each prefix of a symbol there is a counter: how likely a 1 is there, and how
// often that was learnt from, since it learns fast at first and slowly later. What the counters of eight contexts say
// of a bit is mixed in the logistic domain, with weights that learn which of them to believe: Mahoney, "Adaptive
// weighing of context models for lossless data compression", Florida Tech CS-2005-16 (the nibble-wise table is that of
// his lpaq).
//
// In whole numbers only, so that every machine decodes what another wrote; with SSE2 what the loops say is done eight
// at a time, to the same bits (context_coder_test.cc holds the two together). About 200 instructions a bit. Memory: 32
// bytes a line, at most 512 KiB. One thread at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>
#if defined(__SSE2__) && !defined(CAIRN_PLAIN_MIXED_BITS)
#include <emmintrin.h>
#endif

namespace cairn::timing {

class MixedBits {
 public:
  static constexpr int kContexts = 8;
  using Contexts = std::array<uint64_t, kContexts>;
  static constexpr int kMostBits = 20;  ///< of a symbol
  static constexpr int kKinds = 2;      ///< of symbols, which weigh their contexts differently

  /// For about so many symbols: the memory follows from that. Equal for a writer and its reader.
  explicit MixedBits(uint64_t symbols);

  /// Codes the lowest `bits` of a symbol, of 1 to kMostBits, with a BitEncoder, or gives them with a BitDecoder.
  template <typename Coder>
  uint32_t code(Coder &coder, const Contexts &contexts, uint32_t symbol, int bits, int kind) {
    uint32_t done = 1;
    Weights *weights = &weights_[static_cast<size_t>(kind) * kMostBits];
    for (int left = bits; left > 0;) {
      const int some = (left - 1) % 4 + 1;
      left -= some;
      find_lines(contexts, done);
      uint32_t node = 1;
      for (int i = some - 1; i >= 0; --i, ++weights) {
        const bool bit = coder.code(probability(node, *weights), (symbol >> (left + i) & 1) != 0);
        learn(node, *weights, bit);
        node = 2 * node + (bit ? 1 : 0);
      }
      done = (done << some) + (node - (1U << some));
    }
    return done - (1U << bits);
  }

 private:
  /// Counters of up to four bits: of the first bit at 1, of the second at 2 and 3, …; at 0 whose they are. A counter:
  /// 12 bits, how likely a 1 is; 4 bits, how often learnt from, at most kMostLearnt.
  struct alignas(32) Line {
    uint16_t counters[16];
  };
  struct alignas(16) Weights {
    int16_t of[kContexts];  ///< in 8,192ths
  };
  struct Tables {
    std::array<int16_t, 4096> stretch;  ///< 256 · ln(p / (1 − p)), of p in 4,096ths
    std::array<uint16_t, 4096> squash;  ///< the inverse, of −2,048 to 2,047, in 65,536ths
    std::array<int16_t, 16> rate;       ///< 32,768 / (n + 1.5)
    Tables();
  };
  static const Tables &tables();
  static constexpr int kMostLearnt = 14;

  void find_lines(const Contexts &contexts, uint32_t prefix);
  uint32_t probability(uint32_t node, const Weights &weights);
  void learn(uint32_t node, Weights &weights, bool bit);

  const Tables &tables_ = tables();
  int line_shift_;
  std::vector<Line> lines_;
  std::array<Weights, static_cast<size_t>(kKinds) * kMostBits> weights_;
  std::array<uint16_t *, kContexts> at_{};  ///< the contexts' lines
  alignas(16) std::array<int16_t, kContexts> inputs_{};
  uint32_t said_ = 0;
};

inline void MixedBits::find_lines(const Contexts &contexts, uint32_t prefix) {
  for (size_t i = 0; i < kContexts; ++i) {
    const uint64_t hash = (contexts[i] + prefix) * 0x9e3779b97f4a7c15U;
    const auto owner = static_cast<uint16_t>(static_cast<uint16_t>(hash >> 16) | 1U);
    Line &line = lines_[hash >> line_shift_];
    if (line.counters[0] != owner) {
      line.counters[0] = owner;
      for (int k = 1; k < 16; ++k) line.counters[k] = 1U << 15;
    }
    at_[i] = line.counters;
  }
}

inline uint32_t MixedBits::probability(uint32_t node, const Weights &weights) {
#if defined(__SSE2__) && !defined(CAIRN_PLAIN_MIXED_BITS)
  const auto in = [&](size_t i) { return tables_.stretch[at_[i][node] >> 4]; };
  const __m128i inputs = _mm_setr_epi16(in(0), in(1), in(2), in(3), in(4), in(5), in(6), in(7));
  _mm_store_si128(reinterpret_cast<__m128i *>(inputs_.data()), inputs);
  __m128i sums = _mm_madd_epi16(inputs, _mm_load_si128(reinterpret_cast<const __m128i *>(weights.of)));
  sums = _mm_add_epi32(sums, _mm_shuffle_epi32(sums, 0x4e));
  sums = _mm_add_epi32(sums, _mm_shuffle_epi32(sums, 0xb1));
  const int32_t sum = _mm_cvtsi128_si32(sums);
#else
  int32_t sum = 0;
  for (size_t i = 0; i < kContexts; ++i) {
    inputs_[i] = tables_.stretch[at_[i][node] >> 4];
    sum += inputs_[i] * weights.of[i];
  }
#endif
  const int32_t mixed = std::clamp(sum >> 13, -2047, 2047);
  said_ = tables_.squash[static_cast<uint32_t>(mixed + 2048)];
  return said_;
}

inline void MixedBits::learn(uint32_t node, Weights &weights, bool bit) {
  const auto error = static_cast<int16_t>(((bit ? 65535 : 0) - static_cast<int32_t>(said_)) >> 1);
  const auto certain = static_cast<int16_t>(bit ? 32760 : 0);
#if defined(__SSE2__) && !defined(CAIRN_PLAIN_MIXED_BITS)
  auto *const all = reinterpret_cast<__m128i *>(weights.of);
  const __m128i inputs = _mm_load_si128(reinterpret_cast<const __m128i *>(inputs_.data()));
  __m128i step = _mm_mulhi_epi16(_mm_slli_epi16(inputs, 3), _mm_set1_epi16(error));
  step = _mm_srai_epi16(_mm_add_epi16(step, _mm_set1_epi16(8)), 4);
  _mm_store_si128(all, _mm_adds_epi16(_mm_load_si128(all), step));
  const auto was = [&](size_t i) { return static_cast<int16_t>(at_[i][node]); };
  const auto rate = [&](size_t i) { return tables_.rate[at_[i][node] & 15]; };
  __m128i counters = _mm_setr_epi16(was(0), was(1), was(2), was(3), was(4), was(5), was(6), was(7));
  const __m128i rates = _mm_setr_epi16(rate(0), rate(1), rate(2), rate(3), rate(4), rate(5), rate(6), rate(7));
  const __m128i half = _mm_and_si128(_mm_srli_epi16(counters, 1), _mm_set1_epi16(0x7ff8));
  const __m128i far = _mm_sub_epi16(_mm_set1_epi16(certain), half);
  const __m128i move = _mm_and_si128(_mm_slli_epi16(_mm_mulhi_epi16(far, rates), 2), _mm_set1_epi16(-16));
  const __m128i learnt = _mm_and_si128(counters, _mm_set1_epi16(15));
  const __m128i more = _mm_cmplt_epi16(learnt, _mm_set1_epi16(kMostLearnt));  // −1 where so
  counters = _mm_sub_epi16(_mm_add_epi16(counters, move), more);
  at_[0][node] = static_cast<uint16_t>(_mm_extract_epi16(counters, 0));
  at_[1][node] = static_cast<uint16_t>(_mm_extract_epi16(counters, 1));
  at_[2][node] = static_cast<uint16_t>(_mm_extract_epi16(counters, 2));
  at_[3][node] = static_cast<uint16_t>(_mm_extract_epi16(counters, 3));
  at_[4][node] = static_cast<uint16_t>(_mm_extract_epi16(counters, 4));
  at_[5][node] = static_cast<uint16_t>(_mm_extract_epi16(counters, 5));
  at_[6][node] = static_cast<uint16_t>(_mm_extract_epi16(counters, 6));
  at_[7][node] = static_cast<uint16_t>(_mm_extract_epi16(counters, 7));
#else
  std::array<uint16_t, kContexts> next{};
  for (size_t i = 0; i < kContexts; ++i) {
    const int32_t step = ((inputs_[i] * 8 * error >> 16) + 8) >> 4;
    weights.of[i] = static_cast<int16_t>(std::clamp(weights.of[i] + step, -32768, 32767));
    const uint32_t counter = at_[i][node];
    const int32_t far = certain - static_cast<int32_t>(counter >> 1 & 0x7ff8);
    const int32_t move = ((far * tables_.rate[counter & 15]) >> 16) * 4 & ~15;
    const bool more = (counter & 15) < kMostLearnt;
    next[i] = static_cast<uint16_t>(static_cast<int32_t>(counter) + move + (more ? 1 : 0));
  }
  for (size_t i = 0; i < kContexts; ++i) at_[i][node] = next[i];
#endif
}

}  // namespace cairn::timing
