// Values to try codecs on: pieces of a variable of a file, compressed or plain, or a made-up field.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "arrays/codec/array_codec.h"
#include "base/bytes.h"
#include "base/result.h"

namespace cairn::array_tool {

struct Piece {
  Bytes values;  ///< little-endian
  std::vector<uint64_t> shape;
};

struct Sample {
  std::string variable;
  std::string type;
  codec::Element element = codec::Element::f32;
  uint64_t all = 0;  ///< bytes of the whole variable
  std::vector<Piece> pieces;
  /// Boxes of single steps (records, or indexes of the first dimension), each behind the same one a step before.
  std::vector<std::pair<Piece, Piece>> steps;

  [[nodiscard]] uint64_t bytes() const;
};

/// At most `most` bytes of each variable, spread over it; of `variable` only, unless that is empty. Error: the file
/// cannot be read, or has no such variable or no values.
Result<std::vector<Sample>> samples_of(const std::string &path, const std::string &variable, uint64_t most);

/// Temperatures over 32 x 256 x 512 cells: stratified, with waves and a little noise.
Sample made_up_field();

}  // namespace cairn::array_tool
