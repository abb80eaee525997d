#include "arrays/codec/delta_predict.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "arrays/codec/cpu.h"
#include "arrays/codec/running.h"

namespace cairn::codec {
namespace {

template <typename Word>
CAIRN_BODY Word fold(Word x) {
  return (x << 1) ^ static_cast<Word>(static_cast<std::make_signed_t<Word>>(x) >> (sizeof(Word) * 8 - 1));
}
template <typename Word>
CAIRN_BODY Word unfold(Word x) {
  return (x >> 1) ^ (Word(0) - (x & 1));
}

template <typename Word>
CAIRN_BODY void predict_body(const Lags &lags, const Word *x, size_t count, Word *__restrict out) {
  const auto [a, b, c] = lags.of;
  if (lags.count == 0) {
    for (size_t i = 0; i < count; ++i) out[i] = fold(x[i]);
  } else if (lags.count == 1) {
    const Word *xa = x - a;
    for (size_t i = 0; i < count; ++i) out[i] = fold(x[i] - xa[i]);
  } else if (lags.count == 2) {
    const Word *xa = x - a;
    const Word *xb = x - b;
    const Word *xab = x - a - b;
    for (size_t i = 0; i < count; ++i) out[i] = fold((x[i] - xa[i]) - (xb[i] - xab[i]));
  } else {
    const Word *xa = x - a;
    const Word *xb = x - b;
    const Word *xab = xb - a;
    const Word *xc = x - c;
    const Word *xac = xc - a;
    const Word *xbc = xc - b;
    const Word *xabc = xbc - a;
    for (size_t i = 0; i < count; ++i)
      out[i] = fold(((x[i] - xa[i]) - (xb[i] - xab[i])) - ((xc[i] - xac[i]) - (xbc[i] - xabc[i])));
  }
}

/// What the lags but the smallest add to a residual; all of it lies before the piece.
template <typename Word>
CAIRN_BODY void expect_body(const Lags &lags, Word *__restrict t, size_t count, const Word *x) {
  const auto [a, b, c] = lags.of;
  if (lags.count < 2) {
    for (size_t i = 0; i < count; ++i) t[i] = unfold(t[i]);
  } else if (lags.count == 2) {
    const Word *xb = x - b;
    const Word *xab = xb - a;
    for (size_t i = 0; i < count; ++i) t[i] = unfold(t[i]) + (xb[i] - xab[i]);
  } else {
    const Word *xb = x - b;
    const Word *xab = xb - a;
    const Word *xc = x - c;
    const Word *xac = xc - a;
    const Word *xbc = xc - b;
    const Word *xabc = xbc - a;
    for (size_t i = 0; i < count; ++i) t[i] = unfold(t[i]) + (xb[i] - xab[i]) + ((xc[i] - xac[i]) - (xbc[i] - xabc[i]));
  }
}

template <typename Word>
CAIRN_BODY void restore_body(const Lags &lags, Word *t, const uint8_t *held, size_t count, Word *x) {
  // As long as nothing that is expected lies in the piece itself.
  const size_t most = lags.count < 2 ? count : std::max(lags.of[1], size_t{1});
  for (size_t at = 0; at < count; at += most) {
    const size_t size = std::min(most, count - at);
    expect_body(lags, t + at, size, x + at);
    if (held != nullptr) {
      for (size_t i = at; i < at + size; ++i) t[i] = held[i] != 0 ? 0 : t[i];
    }
    if (lags.count == 0) {
      memcpy(x + at, t + at, size * sizeof(Word));
    } else {
      join_running(x + at, t + at, lags.of[0], size, [](Word one, Word other) { return one + other; });
    }
  }
}

/// Most groups of eight have none that is held, or nothing else.
template <typename Word>
CAIRN_BODY void hold_body(const Lags &lags, const uint8_t *held, size_t count, Word *x) {
  const size_t lag = lags.of[0];
  const Word *before = x - lag;
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    uint64_t eight = 0;
    memcpy(&eight, held + i, 8);
    if (eight == 0) continue;
    if (lag == 1) {
      Word last = before[i];
      for (size_t k = 0; k < 8; ++k) x[i + k] = last = held[i + k] != 0 ? last : x[i + k];
    } else if (lag == 0 || lag >= 8) {
      Word from[8] = {};
      if (lag != 0) memcpy(from, before + i, sizeof(from));
      for (size_t k = 0; k < 8; ++k) {
        const Word there = Word(0) - held[i + k];
        x[i + k] = (x[i + k] & ~there) | (from[k] & there);
      }
    } else {
      for (size_t k = 0; k < 8; ++k) x[i + k] = held[i + k] != 0 ? before[i + k] : x[i + k];
    }
  }
  for (; i < count; ++i) {
    if (held[i] != 0) x[i] = lag == 0 ? 0 : before[i];
  }
}

}  // namespace

template <typename Word>
void predict(const Lags &lags, const Word *integers, size_t count, Word *residuals) {
  on_this_cpu<predict_body<Word>>(lags, integers, count, residuals);
}
template <typename Word>
void restore(const Lags &lags, Word *residuals, const uint8_t *held, size_t count, Word *integers) {
  on_this_cpu<restore_body<Word>>(lags, residuals, held, count, integers);
}
template <typename Word>
void hold(const Lags &lags, const uint8_t *held, size_t count, Word *integers) {
  on_this_cpu<hold_body<Word>>(lags, held, count, integers);
}

template void predict(const Lags &lags, const uint32_t *integers, size_t count, uint32_t *residuals);
template void predict(const Lags &lags, const uint64_t *integers, size_t count, uint64_t *residuals);
template void restore(const Lags &lags, uint32_t *residuals, const uint8_t *held, size_t count, uint32_t *integers);
template void restore(const Lags &lags, uint64_t *residuals, const uint8_t *held, size_t count, uint64_t *integers);
template void hold(const Lags &lags, const uint8_t *held, size_t count, uint32_t *integers);
template void hold(const Lags &lags, const uint8_t *held, size_t count, uint64_t *integers);

}  // namespace cairn::codec
