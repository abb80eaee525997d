// The header of a NetCDF file in the classic formats (CDF-1, CDF-2, CDF-5): read from bytes, and written anew.
//
// A compressed file has two headers. The *virtual* one is what PnetCDF wrote: the program's dimensions, variables and
// attributes, and where their values would lie in an uncompressed file; it is kept, byte for byte, in the index
// (arrays/file/index.h). The *physical* one is what stands at the front of the file: a CDF-5 header that every NetCDF
// tool reads, with the same dimensions and attributes, a scalar in place of each variable, and the compressed bytes as
// one variable of unsigned bytes at the end. Format: NetCDF Classic and 64-bit Data Format Specifications (Unidata).
//
// Parsing accepts any bytes: it fails or gives a header whose counts the bytes bear out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arrays/file/region.h"
#include "base/bytes.h"
#include "base/result.h"

namespace cairn::arrays {

/// NetCDF's external types, by their numbers in the format.
enum class NcType : uint32_t { byte = 1, character, int16, int32, f32, f64, ubyte, uint16, uint32, int64, uint64 };
size_t size_of(NcType type);  ///< 0 if there is no such type

struct Dimension {
  std::string name;
  uint64_t length = 0;  ///< 0: the record dimension
};

struct Attribute {
  std::string name;
  NcType type = NcType::byte;
  uint64_t count = 0;
  Bytes values;  ///< big-endian, not padded
};

struct Variable {
  std::string name;
  NcType type = NcType::byte;
  std::vector<uint32_t> dimensions;
  std::vector<Attribute> attributes;
  uint64_t begin = 0;

  bool record = false;          ///< the first dimension is the record dimension
  std::vector<uint64_t> shape;  ///< without the record dimension
  uint64_t slab = 0;            ///< bytes of the variable, of one record of it if it is a record variable; not padded
};

struct Header {
  int version = 5;  ///< 1, 2 or 5
  uint64_t records = 0;
  std::vector<Dimension> dimensions;
  std::vector<Attribute> attributes;
  std::vector<Variable> variables;

  uint64_t record_size = 0;   ///< distance of two records
  uint64_t first_record = 0;  ///< where the first record begins; 0 without record variables
  uint64_t size = 0;          ///< bytes of the header itself

  [[nodiscard]] const Attribute *attribute(const std::string &name) const;
  /// Where the values of a variable lie, all records. Empty if it has none, or if they are not regular enough.
  [[nodiscard]] Regions where(const Variable &variable) const;
  /// End of all values that there can be by now.
  [[nodiscard]] uint64_t end() const;
};

/// What parsing came to: a header, or how many bytes it would take to go on (more than there were).
struct Parsed {
  std::optional<Header> header;
  uint64_t wanted = 0;
};
/// Error: what is wrong, if no more bytes can help.
Result<Parsed> parse_header(ByteView bytes);

/// A CDF-5 header. Values of `begin` are the caller's.
Bytes write_header(const Header &header);

/// Which variable holds a byte of the file; nullptr if none does (the header, padding).
class Layout {
 public:
  Layout() = default;
  explicit Layout(const Header &header);
  /// The stretch of one variable's (record's) values around a byte.
  struct Place {
    int variable = -1;   ///< -1: of none
    uint64_t begin = 0;  ///< of the slab
    uint64_t end = 0;    ///< of the slab; of the gap, if of none
  };
  [[nodiscard]] Place find(uint64_t offset) const;
  /// Whether all runs of the region lie in slabs of one variable, and of which.
  [[nodiscard]] std::optional<int> owner(const Region &region) const;

 private:
  struct Slab {
    uint64_t begin, end;
    int variable;
  };
  [[nodiscard]] static Place place_in(const std::vector<Slab> &slabs, uint64_t offset, uint64_t limit);
  std::vector<Slab> fixed_;   ///< by begin
  std::vector<Slab> record_;  ///< within a record, by begin
  uint64_t first_record_ = UINT64_MAX;
  uint64_t record_size_ = 0;
};

}  // namespace cairn::arrays
