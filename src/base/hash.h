// Content hashes. hash64 and hash128 are XXH3 (Debian's libxxhash, inlined): fast, not cryptographic.
// Equality of 128-bit hashes is taken as equality of content throughout the merge.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <compare>
#include <cstdint>
#include <span>

namespace cairn {

struct Hash128 {
  uint64_t low = 0;
  uint64_t high = 0;
  auto operator<=>(const Hash128 &) const = default;
};

inline uint64_t hash64(std::span<const uint8_t> bytes, uint64_t seed = 0) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

/// Of all the pieces as one run of bytes.
inline uint64_t hash64(std::span<const std::span<const uint8_t>> pieces) {
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  for (const auto piece : pieces) XXH3_64bits_update(&state, piece.data(), piece.size());
  return XXH3_64bits_digest(&state);
}

inline Hash128 hash128(std::span<const uint8_t> bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.low64, hash.high64};
}

struct HashOf128 {
  size_t operator()(const Hash128 &hash) const { return static_cast<size_t>(hash.low); }
};

}  // namespace cairn
