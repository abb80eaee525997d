// The array codecs, each with its two functions as the registry (registry.cc) names them. What their bytes are stands
// in docs/array-codecs.md. For all of them holds what array_codec.h promises.
#pragma once

#include "arrays/codec/array_codec.h"

namespace cairn::codec {

// xor_codec.cc: elements of 4 and 8 bytes.
bool takes_xor(Element element);
bool encode_xor(ByteView values, const Grid &grid, const ArrayOptions &options, Bytes *out);
bool decode_xor(ByteView encoded, const Grid &grid, std::span<uint8_t> values);
/// The bytes that encode_xor should make of these, from a sample.
size_t expected_xor(ByteView values, const Grid &grid);

// byte_codecs.cc: the bytes as they are, or in blocks of one frame each.
bool encode_store(ByteView values, const Grid &grid, const ArrayOptions &options, Bytes *out);
bool decode_store(ByteView encoded, const Grid &grid, std::span<uint8_t> values);
bool encode_zstd_blocks(ByteView values, const Grid &grid, const ArrayOptions &options, Bytes *out);
bool decode_zstd_blocks(ByteView encoded, const Grid &grid, std::span<uint8_t> values);

// plane_codecs.cc: planes of bytes of a block, then a general compressor.
bool encode_shuffle_lz4(ByteView values, const Grid &grid, const ArrayOptions &options, Bytes *out);
bool decode_shuffle_lz4(ByteView encoded, const Grid &grid, std::span<uint8_t> values);
bool encode_shuffle_zstd(ByteView values, const Grid &grid, const ArrayOptions &options, Bytes *out);
bool decode_shuffle_zstd(ByteView encoded, const Grid &grid, std::span<uint8_t> values);

// delta_codec.cc
bool encode_delta(ByteView values, const Grid &grid, const ArrayOptions &options, Bytes *out);
bool decode_delta(ByteView encoded, const Grid &grid, std::span<uint8_t> values);

// zfp_codec.cc
bool encode_zfp_lossy(ByteView values, const Grid &grid, const ArrayOptions &options, Bytes *out);
bool decode_zfp_lossy(ByteView encoded, const Grid &grid, std::span<uint8_t> values);

}  // namespace cairn::codec
