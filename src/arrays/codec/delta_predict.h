// How the codec "delta" takes from each integer what those before it let expect: differences over one to three
// distances in a row (lags), which over steps along axes is the predictor of Ibarria et al. (2003, "Lorenzo"). A lag
// counts elements and takes no notice of where a row ends: what lies before the first element is zero, and that costs a
// few values only, while one loop, in vectors, serves every shape. Differences and no fitted predictor: coefficients
// would have to be found for each box, and multiplied with rounding that both sides repeat exactly.
//
// Integers stand behind `history(lags)` zeros. Words wrap. No allocation, any thread; vectors where the CPU has AVX2.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace cairn::codec {

constexpr size_t kMaxLags = 3;
struct Lags {
  size_t count = 0;
  std::array<size_t, kMaxLags> of = {};  ///< ascending, from 1
};

/// How far back a prediction looks.
inline size_t history(const Lags &lags) { return lags.of[0] + lags.of[1] + lags.of[2]; }

/// residuals[i] = what is not predicted of integers[i], zigzag: small for small ones of either sign.
template <typename Word>
void predict(const Lags &lags, const Word *integers, size_t count, Word *residuals);

/// And back. Where held[i] is not 0 the integer is that one smallest lag before (0 without lags), whatever the
/// residual. `held` may be nullptr. The residuals are overwritten.
template <typename Word>
void restore(const Lags &lags, Word *residuals, const uint8_t *held, size_t count, Word *integers);

/// What `restore` will make of the held ones, before predicting.
template <typename Word>
void hold(const Lags &lags, const uint8_t *held, size_t count, Word *integers);

}  // namespace cairn::codec
