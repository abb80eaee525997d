// Symbols of a byte as Huffman codes (huffman.h) in four lanes: what class_code.h and byte_code.h have in common.
//
// Each lane is a varint with its length and its codes; it has a fourth of the symbols, rounded up, the last what is
// left (fewer lanes if there are not as many symbols). Lanes are read at the same time, since each code has to be read
// before it is known where the next one is. Which code a symbol has may depend on the symbol before it in its lane, by
// its context. Any thread; no memory but what is appended. Cost: about 1 ns a symbol in each direction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "arrays/codec/huffman.h"
#include "base/bytes.h"

namespace cairn::codec {

constexpr size_t kCodeLanes = 4;
constexpr size_t code_lane_size(size_t count) { return (count + kCodeLanes - 1) / kCodeLanes; }

/// The codes of all 256 symbols, each above its length, which so can be shifted by as it is.
void lay_out(const HuffmanCode &code, uint32_t *codes);

/// Appends codes[places[i]] for each place. `room`: 2 * count + 64 bytes, which what a lane takes never exceeds.
template <typename Place>
void write_code_lanes(const Place *places, size_t count, const uint32_t *codes, uint8_t *room, Bytes *out);

/// By the next bits of a lane: the length of the code, the symbol, and where the table of the context behind it begins,
/// in bytes from the first table.
using CodeTable = std::array<uint32_t, kCodeTable>;
/// `context_of` each symbol.
void fill_table(const HuffmanCode &code, const std::array<uint8_t, 256> &context_of, CodeTable *table);

/// Lanes begin in the first context. False if the bytes are not valid; the symbols may be any.
bool read_code_lanes(ByteReader &in, const CodeTable *tables, uint8_t *symbols, size_t count);

}  // namespace cairn::codec
