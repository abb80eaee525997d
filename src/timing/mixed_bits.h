// MixedBits: how likely the next bit of a symbol is, from what followed several contexts before.
//
// A *context* is a number made of what is known when a symbol is coded: say, which call it is of, or that and the
// symbol before. For each context and each prefix of a symbol there is a counter: how likely a 1 is there, and how
// often that was learnt from, since it learns fast at first and slowly later. What the counters of eight contexts say
// of a bit is mixed in the logistic domain, with weights that learn which of them to believe: Mahoney, "Adaptive
// weighing of context models for lossless data compression", Florida Tech CS-2005-16 (the nibble-wise table is that of
// his lpaq).
//
// What follows the eighth bit of a symbol is nearly noise, and most contexts only learn that it is: so a nibble that
// begins there is asked of the first and the last context only, which is smaller and takes a quarter of the time.
//
// In whole numbers only, so that every machine decodes what another wrote; with SSE2 what the loops say is done eight
// at a time, to the same bits (context_coder_test.cc holds the two together). About 300 instructions a bit. Memory: 32
// bytes a line, at most 2 MiB: a quarter of that takes 1 to 3 % more bytes. One thread at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>
#if defined(__SSE2__) && !defined(CAIRN_PLAIN_MIXED_BITS)
#include <emmintrin.h>
#endif

#include "base/as_size.h"

namespace cairn::timing {

class MixedBits {
 public:
  static constexpr size_t kContexts = 8;
  using Contexts = std::array<uint64_t, kContexts>;  ///< the most telling one first, the broadest last
  static constexpr int kMostBits = 20;               ///< of a symbol
  static constexpr int kKinds = 2;                   ///< of symbols, which weigh their contexts differently

  /// For about so many symbols: the memory follows from that. Equal for a writer and its reader.
  explicit MixedBits(uint64_t symbols);

  /// Codes the lowest `bits` of a symbol, of 1 to kMostBits, with a BitEncoder, or gives them with a BitDecoder.
  template <typename Coder>
  uint32_t code(Coder &coder, const Contexts &contexts, uint32_t symbol, int bits, int kind) {
    uint32_t done = 1;
    for (int left = bits; left > 0;) {
      const size_t place = static_cast<size_t>(kind * kMostBits + bits - left);
      const int some = (left - 1) % 4 + 1;
      left -= some;
      const uint32_t part = symbol >> left;
      const uint32_t coded =
          done < kFine ? nibble(coder, contexts, done, part, some, &weights_[place])
                       : nibble<2>(coder, {contexts.front(), contexts.back()}, done, part, some, &fine_[place]);
      done = (done << some) + coded;
    }
    return done - (1U << bits);
  }

 private:
  static constexpr uint32_t kFine = 1U << 8;  ///< of a symbol's bits so far, after a 1
  /// Counters of up to four bits: of the first bit at 1, of the second at 2 and 3, …; at 0 whose they are. A counter:
  /// 12 bits, how likely a 1 is; 4 bits, how often learnt from, at most kMostLearnt.
  struct alignas(32) Line {
    uint16_t counters[16];
  };
  template <size_t N>
  struct alignas(2 * N) Weights {
    int16_t of[N];  ///< in 8,192ths
  };
  /// What N contexts say of a bit.
  template <size_t N>
  struct alignas(16) Inputs {
    std::array<int16_t, N> of;
  };
  /// Their lines for a nibble.
  template <size_t N>
  using Lines = std::array<uint16_t *, N>;
  struct Tables {
    std::array<int16_t, 4096> stretch;  ///< 256 · ln(p / (1 − p)), of p in 4,096ths
    std::array<uint16_t, 4096> squash;  ///< the inverse, of −2,048 to 2,047, in 65,536ths
    std::array<int32_t, 256> rates;     ///< 32,768 / (n + 1.5), n = i mod 16; and above it the same of n = i / 16
    Tables();
  };
  static const Tables &tables();
  static constexpr int kMostLearnt = 14;

  /// Codes the lowest `bits` of `part`, of 1 to 4.
  template <size_t N, typename Coder>
  uint32_t nibble(Coder &coder, const std::array<uint64_t, N> &contexts, uint32_t prefix, uint32_t part, int bits,
                  Weights<N> *weights) {
    Lines<N> lines;
    for (size_t i = 0; i < N; ++i) lines[i] = line_of(contexts[i] + prefix);
    // Of this bit at [i % 2], of the next one, after a 0 and after a 1, at the other place.
    std::array<std::array<Inputs<N>, 2>, 2> inputs;
    const Inputs<N> *now = inputs[(bits - 1) % 2].data();
    ask(1, lines, inputs[(bits - 1) % 2].data());
    uint32_t node = 1;
    for (int i = bits - 1; i >= 0; --i, ++weights) {
      const uint32_t said = likely(*now, *weights);
      std::array<Inputs<N>, 2> &next = inputs[(i + 1) % 2];
      // A decoder finds out which bit it is meanwhile, which takes longest.
      if (Coder::kDecodes && i > 0) {
        ask(2 * node, lines, next.data());
        ask(2 * node + 1, lines, &next[1]);
      }
      const bool bit = coder.code(said, (part >> i & 1) != 0);
      learn(node, bit, said, *now, lines, weights);
      node = 2 * node + (bit ? 1 : 0);
      now = &next[bit ? 1 : 0];
      if (!Coder::kDecodes && i > 0) ask(node, lines, &next[bit ? 1 : 0]);
    }
    return node - (1U << bits);
  }

  uint16_t *line_of(uint64_t context);
  [[nodiscard]] uint32_t squashed(int32_t sum) const {
    return tables_.squash[static_cast<uint32_t>(std::clamp(sum >> 13, -2047, 2047) + 2048)];
  }
  template <size_t N>
  void ask(uint32_t node, const Lines<N> &lines, Inputs<N> *inputs) const;
  template <size_t N>
  [[nodiscard]] uint32_t likely(const Inputs<N> &inputs, const Weights<N> &weights) const;
  template <size_t N>
  void learn(uint32_t node, bool bit, uint32_t said, const Inputs<N> &inputs, const Lines<N> &lines,
             Weights<N> *weights) const;
#if defined(__SSE2__) && !defined(CAIRN_PLAIN_MIXED_BITS)
  void ask(uint32_t node, const Lines<kContexts> &lines, Inputs<kContexts> *inputs) const;
  [[nodiscard]] uint32_t likely(const Inputs<kContexts> &inputs, const Weights<kContexts> &weights) const;
  void learn(uint32_t node, bool bit, uint32_t said, const Inputs<kContexts> &inputs, const Lines<kContexts> &lines,
             Weights<kContexts> *weights) const;
#endif

  const Tables &tables_ = tables();
  int line_shift_;
  std::vector<Line> lines_;
  std::array<Weights<kContexts>, static_cast<size_t>(kKinds) * kMostBits> weights_;
  std::array<Weights<2>, static_cast<size_t>(kKinds) * kMostBits> fine_;
};

/// Without a branch, which could not be foretold, where SSE2 is.
inline uint16_t *MixedBits::line_of(uint64_t context) {
  constexpr int kHalf = 1 << 15;
  const uint64_t hash = context * 0x9e3779b97f4a7c15U;
  const auto owner = static_cast<uint16_t>(static_cast<uint16_t>(hash >> 16) | 1U);
  Line &line = lines_[as_size(hash >> line_shift_)];
#if defined(__SSE2__) && !defined(CAIRN_PLAIN_MIXED_BITS)
  auto *const halves = reinterpret_cast<__m128i *>(line.counters);
  const __m128i own = _mm_set1_epi16(line.counters[0] == owner ? -1 : 0);
  const __m128i even = _mm_set1_epi16(static_cast<int16_t>(kHalf));
  const __m128i first = _mm_insert_epi16(even, owner, 0);
  _mm_store_si128(halves, _mm_or_si128(_mm_and_si128(own, _mm_load_si128(halves)), _mm_andnot_si128(own, first)));
  _mm_store_si128(halves + 1,
                  _mm_or_si128(_mm_and_si128(own, _mm_load_si128(halves + 1)), _mm_andnot_si128(own, even)));
#else
  if (line.counters[0] != owner) {
    line.counters[0] = owner;
    for (int k = 1; k < 16; ++k) line.counters[k] = kHalf;
  }
#endif
  return line.counters;
}

template <size_t N>
void MixedBits::ask(uint32_t node, const Lines<N> &lines, Inputs<N> *inputs) const {
  for (size_t i = 0; i < N; ++i) inputs->of[i] = tables_.stretch[lines[i][node] >> 4];
}

template <size_t N>
uint32_t MixedBits::likely(const Inputs<N> &inputs, const Weights<N> &weights) const {
  int32_t sum = 0;
  for (size_t i = 0; i < N; ++i) sum += inputs.of[i] * weights.of[i];
  return squashed(sum);
}

template <size_t N>
void MixedBits::learn(uint32_t node, bool bit, uint32_t said, const Inputs<N> &inputs, const Lines<N> &lines,
                      Weights<N> *weights) const {
  const int32_t error = ((bit ? 65535 : 0) - static_cast<int32_t>(said)) >> 1;
  const int32_t certain = bit ? 32760 : 0;
  std::array<uint16_t, N> next{};
  for (size_t i = 0; i < N; ++i) {
    const int32_t step = ((inputs.of[i] * 8 * error >> 16) + 8) >> 4;
    weights->of[i] = static_cast<int16_t>(std::clamp(weights->of[i] + step, -32768, 32767));
    const uint32_t counter = lines[i][node];
    const int32_t far = certain - static_cast<int32_t>(counter >> 1 & 0x7ff8);
    const int32_t rate = tables_.rates[counter & 15] & 0xffff;
    const int32_t move = (far * rate >> 16) * 4 & ~15;
    const bool more = (counter & 15) < kMostLearnt;
    next[i] = static_cast<uint16_t>(static_cast<int32_t>(counter) + move + (more ? 1 : 0));
  }
  for (size_t i = 0; i < N; ++i) lines[i][node] = next[i];
}

#if defined(__SSE2__) && !defined(CAIRN_PLAIN_MIXED_BITS)
inline void MixedBits::ask(uint32_t node, const Lines<kContexts> &lines, Inputs<kContexts> *inputs) const {
  const auto in = [&](size_t i) { return tables_.stretch[lines[i][node] >> 4]; };
  _mm_store_si128(reinterpret_cast<__m128i *>(inputs->of.data()),
                  _mm_setr_epi16(in(0), in(1), in(2), in(3), in(4), in(5), in(6), in(7)));
}

inline uint32_t MixedBits::likely(const Inputs<kContexts> &inputs, const Weights<kContexts> &weights) const {
  const __m128i all = _mm_load_si128(reinterpret_cast<const __m128i *>(inputs.of.data()));
  __m128i sums = _mm_madd_epi16(all, _mm_load_si128(reinterpret_cast<const __m128i *>(weights.of)));
  sums = _mm_add_epi32(sums, _mm_shuffle_epi32(sums, 0x4e));
  sums = _mm_add_epi32(sums, _mm_shuffle_epi32(sums, 0xb1));
  return squashed(_mm_cvtsi128_si32(sums));
}

inline void MixedBits::learn(uint32_t node, bool bit, uint32_t said, const Inputs<kContexts> &inputs,
                             const Lines<kContexts> &lines, Weights<kContexts> *weights) const {
  const auto error = static_cast<int16_t>(((bit ? 65535 : 0) - static_cast<int32_t>(said)) >> 1);
  const auto certain = static_cast<int16_t>(bit ? 32760 : 0);
  auto *const all = reinterpret_cast<__m128i *>(weights->of);
  const __m128i in = _mm_load_si128(reinterpret_cast<const __m128i *>(inputs.of.data()));
  __m128i step = _mm_mulhi_epi16(_mm_slli_epi16(in, 3), _mm_set1_epi16(error));
  step = _mm_srai_epi16(_mm_add_epi16(step, _mm_set1_epi16(8)), 4);
  _mm_store_si128(all, _mm_adds_epi16(_mm_load_si128(all), step));
  const auto was = [&](size_t i) { return static_cast<int16_t>(lines[i][node]); };
  __m128i counters = _mm_setr_epi16(was(0), was(1), was(2), was(3), was(4), was(5), was(6), was(7));
  const __m128i learnt = _mm_and_si128(counters, _mm_set1_epi16(15));
  // Two rates at once: of each pair the second number beside the first.
  const __m128i pairs = _mm_or_si128(learnt, _mm_srli_epi32(learnt, 12));
  const auto two = [&](int pair) { return _mm_cvtsi32_si128(tables_.rates[static_cast<size_t>(pair)]); };
  const __m128i rates =
      _mm_unpacklo_epi64(_mm_unpacklo_epi32(two(_mm_extract_epi16(pairs, 0)), two(_mm_extract_epi16(pairs, 2))),
                         _mm_unpacklo_epi32(two(_mm_extract_epi16(pairs, 4)), two(_mm_extract_epi16(pairs, 6))));
  const __m128i half = _mm_and_si128(_mm_srli_epi16(counters, 1), _mm_set1_epi16(0x7ff8));
  const __m128i far = _mm_sub_epi16(_mm_set1_epi16(certain), half);
  const __m128i move = _mm_and_si128(_mm_slli_epi16(_mm_mulhi_epi16(far, rates), 2), _mm_set1_epi16(-16));
  const __m128i more = _mm_cmplt_epi16(learnt, _mm_set1_epi16(kMostLearnt));  // −1 where so
  counters = _mm_sub_epi16(_mm_add_epi16(counters, move), more);
  lines[0][node] = static_cast<uint16_t>(_mm_extract_epi16(counters, 0));
  lines[1][node] = static_cast<uint16_t>(_mm_extract_epi16(counters, 1));
  lines[2][node] = static_cast<uint16_t>(_mm_extract_epi16(counters, 2));
  lines[3][node] = static_cast<uint16_t>(_mm_extract_epi16(counters, 3));
  lines[4][node] = static_cast<uint16_t>(_mm_extract_epi16(counters, 4));
  lines[5][node] = static_cast<uint16_t>(_mm_extract_epi16(counters, 5));
  lines[6][node] = static_cast<uint16_t>(_mm_extract_epi16(counters, 6));
  lines[7][node] = static_cast<uint16_t>(_mm_extract_epi16(counters, 7));
}
#endif

}  // namespace cairn::timing
