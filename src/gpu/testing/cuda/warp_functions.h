// What the lanes of a warp or the threads of a block do together, for the emulator.
#pragma once

#include "lane_functions.h"

inline void __syncthreads() { cairn::emulator::synchronise_block(false); }
inline int __syncthreads_count(int predicate) {
  return static_cast<int>(cairn::emulator::synchronise_block(predicate != 0).yes);
}
inline int __syncthreads_or(int predicate) {
  return cairn::emulator::synchronise_block(predicate != 0).yes != 0 ? 1 : 0;
}
inline int __syncthreads_and(int predicate) {
  const cairn::emulator::BlockVote vote = cairn::emulator::synchronise_block(predicate != 0);
  return vote.yes == vote.all ? 1 : 0;
}
inline void __syncwarp(unsigned mask = 0xffffffff) { cairn::emulator::exchange(mask, 0); }
/// The lanes that come to this line of the caller together.
inline unsigned __activemask(unsigned line = __builtin_LINE()) {
  constexpr uint32_t kAfterPoints = 1u << 16;
  return cairn::emulator::converge(kAfterPoints + line);
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
  const uint64_t *all = cairn::emulator::exchange(mask, predicate != 0 ? 1 : 0);
  unsigned ballot = 0;
  for (unsigned lane = 0; lane < 32; ++lane) ballot |= all[lane] != 0 ? 1u << lane : 0;
  return ballot;
}
inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0 ? 1 : 0; }
inline int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate == 0) == 0 ? 1 : 0; }

/// The bytes of every lane's value, in as many exchanges as there are words in it; `use` gets lane and value.
template <typename T, typename F>
void cairn_gathered(unsigned mask, const T &value, F use) {
  static_assert(std::is_trivially_copyable_v<T>);
  constexpr size_t kWords = (sizeof(T) + sizeof(uint64_t) - 1) / sizeof(uint64_t);
  uint64_t own[kWords] = {};
  uint64_t all[32][kWords];
  std::memcpy(own, &value, sizeof value);
  for (size_t word = 0; word < kWords; ++word) {
    const uint64_t *each = cairn::emulator::exchange(mask, own[word]);
    for (unsigned lane = 0; lane < 32; ++lane) all[lane][word] = each[lane];
  }
  for (unsigned lane = 0; lane < 32; ++lane) {
    T other = value;
    std::memcpy(&other, all[lane], sizeof other);
    use(lane, other);
  }
}
template <typename T>
T cairn_exchanged(unsigned mask, T value, unsigned from) {
  if constexpr (sizeof(T) <= sizeof(uint64_t)) {
    static_assert(std::is_trivially_copyable_v<T>);
    uint64_t word = 0;
    std::memcpy(&word, &value, sizeof value);
    word = cairn::emulator::exchange(mask, word)[from % 32];
    std::memcpy(&value, &word, sizeof value);
    return value;
  } else {
    T out = value;
    cairn_gathered(mask, value, [&](unsigned lane, const T &other) {
      if (lane == from % 32) out = other;
    });
    return out;
  }
}
template <typename T>
unsigned __match_any_sync(unsigned mask, T value) {
  unsigned same = 0;
  cairn_gathered(mask, value, [&](unsigned lane, const T &other) {
    same |= (mask >> lane & 1) != 0 && std::memcmp(&other, &value, sizeof value) == 0 ? 1u << lane : 0;
  });
  return same;
}
template <typename T>
unsigned __match_all_sync(unsigned mask, T value, int *all) {
  *all = __match_any_sync(mask, value) == mask ? 1 : 0;
  return *all != 0 ? mask : 0;
}
template <typename T>
T __shfl_sync(unsigned mask, T value, int from, int width = 32) {
  const unsigned lane = cairn::emulator::lane_index();
  const unsigned w = static_cast<unsigned>(width);
  return cairn_exchanged(mask, value, lane / w * w + static_cast<unsigned>(from) % w);
}
template <typename T>
T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32) {
  const unsigned lane = cairn::emulator::lane_index();
  const unsigned w = static_cast<unsigned>(width);
  return cairn_exchanged(mask, value, lane % w + by < w ? lane + by : lane);
}
template <typename T>
T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32) {
  const unsigned lane = cairn::emulator::lane_index();
  return cairn_exchanged(mask, value, lane % static_cast<unsigned>(width) >= by ? lane - by : lane);
}
template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int with, int width = 32) {
  const unsigned lane = cairn::emulator::lane_index();
  const unsigned from = lane ^ static_cast<unsigned>(with);
  const unsigned w = static_cast<unsigned>(width);
  // A lane of a later segment is out of reach.
  return cairn_exchanged(mask, value, from / w <= lane / w ? from : lane);
}

/// Of the lanes in `mask`, in the order of lanes.
template <typename T, typename F>
T cairn_reduced(unsigned mask, T value, F join) {
  bool first = true;
  T result = value;
  cairn_gathered(mask, value, [&](unsigned lane, const T &other) {
    if ((mask >> lane & 1) == 0) return;
    result = first ? other : static_cast<T>(join(result, other));
    first = false;
  });
  return result;
}
#define CAIRN_REDUCE(name, T, joined)                                   \
  inline T name(unsigned mask, T value) {                               \
    return cairn_reduced(mask, value, [](T a, T b) { return joined; }); \
  }
CAIRN_REDUCE(__reduce_add_sync, unsigned, a + b)
CAIRN_REDUCE(__reduce_min_sync, unsigned, std::min(a, b))
CAIRN_REDUCE(__reduce_max_sync, unsigned, std::max(a, b))
CAIRN_REDUCE(__reduce_add_sync, int, a + b)
CAIRN_REDUCE(__reduce_min_sync, int, std::min(a, b))
CAIRN_REDUCE(__reduce_max_sync, int, std::max(a, b))
CAIRN_REDUCE(__reduce_and_sync, unsigned, a &b)
CAIRN_REDUCE(__reduce_or_sync, unsigned, a | b)
CAIRN_REDUCE(__reduce_xor_sync, unsigned, a ^ b)
#undef CAIRN_REDUCE
