// The values of a block: from the file's byte order into a codec's and back, through the codec that was chosen.
//
// NetCDF's classic formats are big-endian; codecs take little-endian values. Single bytes are left alone. A user's own
// codec is a pair of functions (src/arrays/include/cairn/arrays.h). Any thread may call any function here.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arrays/codec/array_codec.h"
#include "arrays/file/header.h"
#include "arrays/file/index.h"
#include "cairn/arrays.h"

namespace cairn::arrays {

/// Characters and bytes are u8 and i8.
codec::Element element_of(NcType type);

struct UserCodec {
  std::string name;
  cairn_arrays_code_f compress = nullptr;
  cairn_arrays_code_f decompress = nullptr;
  cairn_arrays_args args{};
};

/// How a variable is coded: one of ours (or an automatic choice), or a user's.
struct Coding {
  codec::ArrayCodecChoice choice;
  const UserCodec *user = nullptr;
};

/// What a block may be coded against: an earlier one with as many elements of the same type.
struct Reference {
  uint64_t sequence = 0;
  uint64_t checksum = 0;
  ByteView values;  ///< empty: there is none
};

struct Coded {
  uint8_t codec = codec::kStore;
  bool refers = false;  ///< cannot be decoded without the reference
  Bytes bytes;
};

/// Codes little-endian values. Stores them if the codec cannot carry them or makes them larger. `exact` refuses codecs
/// that lose something. A user's codec is given the number `user_number`.
Coded encode(ByteView values, const codec::Grid &grid, const Coding &coding, bool exact, uint8_t user_number);

/// A block of such values and its bytes; its place and sequence number are still to come. `variable`: nullptr for bytes
/// between variables.
struct CodedBlock {
  Block block;
  Bytes bytes;
};
CodedBlock make_block(Regions regions, codec::Element element, const Variable *variable, ByteView values,
                      const Coding &coding, bool exact, uint8_t user_number, const Reference &reference);
/// The same, with its bytes behind those that are there.
Block append_block(Regions regions, codec::Element element, const Variable *variable, ByteView values,
                   const Coding &coding, bool exact, uint8_t user_number, const Reference &reference, Bytes *out);

/// Whether these are the bytes that were written. `reference_checksum`: of the block that it is coded against, else 0.
bool intact(const Block &block, ByteView coded, uint64_t reference_checksum);

/// The values of a block, little-endian, after comparing the checksum. `users` are the index's user codecs; those that
/// are registered have functions. Error: which part is wrong.
Result<Bytes> decode(const Block &block, ByteView coded, std::span<const UserCodec *const> users,
                     const Reference &reference = {});

/// The same into `values`, which are as many bytes as the block has; after an error they may be any.
Result<void> decode(const Block &block, ByteView coded, std::span<const UserCodec *const> users,
                    const Reference &reference, std::span<uint8_t> values);

/// The axes of a region in elements, the variable's own where whole rows follow each other.
std::vector<uint64_t> shape_of(const Region &region, const Variable *variable, size_t element);

/// Where the block's bytes are in the data of the request, if they are all there, one after the other as they are in
/// the block.
std::optional<uint64_t> place_in(const Block &block, std::span<const Region> request);

/// Copies what a block has of the request into its data, in the file's byte order. `data` are the bytes of `request`,
/// one region after the other.
void lay(const Block &block, ByteView values, std::span<const Region> request, uint8_t *data);

}  // namespace cairn::arrays
