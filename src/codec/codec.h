// Codecs: bytes in, fewer bytes out, under a number that stands in files. One registry for all streams of all
// recorders.
//
// Numbers are permanent. Decoders are given the size they must produce and refuse it before allocating anything when
// it exceeds `decoded_bound`, so that a hostile length never becomes an allocation. Nothing throws or prints; static
// data and stack only, so any thread may use any codec.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/bytes.h"

namespace cairn::codec {

constexpr uint8_t kRaw = 0;      ///< as they are
constexpr uint8_t kZstd = 1;     ///< one zstd frame (RFC 8878) without the kFrameMagic bytes that all begin with
constexpr uint8_t kNumbers = 2;  ///< varints as zigzag differences of successive numbers, then zstd
// 3 stands in files for bytes in blocks with checksums of their own (trace/file/file.h), which is no codec.

/// Every byte counts: of a trace of 600 bytes, what these take in the frames of three sections is two in a hundred.
constexpr size_t kFrameMagic = 4;

struct Codec {
  uint8_t id;
  /// Appends exactly `size` bytes; false if the bytes are not valid, or not that long.
  bool (*decode)(ByteView encoded, size_t size, Bytes *out);
};

const Codec *find(uint8_t id);  ///< nullptr if there is none

constexpr int kDefaultLevel = 9;

/// Appends the encoded bytes; false if `plain` is nothing that this codec can carry, or there is no such codec (then
/// nothing was appended). Apart from `find`: who only reads needs no encoders.
bool encode(uint8_t id, ByteView plain, int level, Bytes *out);

/// The most that `encoded` bytes may claim to hold. Far above what our streams reach; whoever encodes uses kRaw for
/// what would exceed it.
constexpr uint64_t decoded_bound(uint64_t encoded) { return 65536 + 128 * encoded; }

/// The smallest of kRaw and `codecs`, as (codec, bytes). Of many bytes at a high level, all but the codec that takes
/// least at a low one are left out.
struct Encoded {
  uint8_t codec = kRaw;
  Bytes bytes;
};
Encoded smallest(ByteView plain, std::span<const uint8_t> codecs, int level = kDefaultLevel);

/// Decodes with the codec of number `id` after checking `size` against `decoded_bound`.
bool decode(uint8_t id, ByteView encoded, uint64_t size, Bytes *out);

}  // namespace cairn::codec
