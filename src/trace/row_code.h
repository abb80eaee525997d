// RowWriter and RowReader: rows as bytes (docs/format.md, "rows"): a list of shapes, and rows told against the last one
// of their shape. Values, columns and tables are kept in a pool, each once, and named by number.
//
// The reader trusts nothing: `read` gives nullptr and `what` says why. One use each.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "trace/class_row.h"

namespace cairn::trace {

/// Numbers byte strings in order of first occurrence.
class Interned {
 public:
  uint32_t number(Bytes bytes);
  [[nodiscard]] const std::vector<Bytes> &list() const { return list_; }
  /// Another way to write what has this number.
  void rewrite(uint32_t number, Bytes bytes) { list_[number] = std::move(bytes); }

 private:
  std::unordered_map<std::string, uint32_t> numbers_;
  std::vector<Bytes> list_;
};

/// A class's site as all classes name it: 0 is unknown, else its number in the trace plus one.
uint32_t site_in_trace(uint32_t site, const std::vector<uint32_t> &sites);

/// Of one shape, the codes that the next row is told against: those of its last row at the same site, else of its last.
class LastCodes {
 public:
  [[nodiscard]] const std::vector<uint64_t> *find(uint32_t site) const;
  void put(uint32_t site, std::vector<uint64_t> codes);

 private:
  std::unordered_map<uint32_t, std::vector<uint64_t>> by_site_;
  uint32_t last_site_ = 0;
  bool any_ = false;
};

/// What rows refer to.
class PoolWriter {
 public:
  /// `to_stay`: nothing will be appended to the columns once they were read again.
  explicit PoolWriter(bool to_stay) : to_stay_(to_stay) {}
  uint32_t column(const FoldColumn &fold);
  /// The same for one that rows share, which must outlive this.
  uint32_t column(const ColumnPointer &fold);
  uint32_t table(const ValuesColumn &values);
  uint32_t value(Bytes bytes) { return values_.number(std::move(bytes)); }
  /// These columns are one array on all ranks, numbered from `first`. If it has a place for each rank and an array
  /// before says the same from the other side (what i sends to k is what k receives from i), they are told by that.
  void exchanged(uint32_t first, std::span<const VariedAtom> columns);
  void write(ByteWriter &out) const;

 private:
  /// An array with a column for each rank.
  struct Square {
    uint32_t first;
    uint64_t room;  ///< values that a reader lets others have by it; 0: it is told by another itself
    std::vector<ColumnPointer> columns;
  };
  Interned values_;
  Interned columns_;
  std::vector<Square> squares_;
  Interned tables_;
  std::unordered_map<const FoldColumn *, uint32_t> known_;
  bool to_stay_;
};

/// How a column begins that is told by others: its value on the r-th rank is what another array's r-th column has at
/// one place.
constexpr uint64_t kMirrored = 5;

class RowWriter {
 public:
  explicit RowWriter(PoolWriter &pool) : pool_(pool) {}
  /// A row as its shape's number and codes.
  struct Coded {
    uint32_t shape = 0;
    uint32_t site = 0;
    std::vector<uint64_t> codes;
    [[nodiscard]] Bytes identity() const;
  };
  Coded code(const ClassRow &row);
  /// `site` is the row's as all classes name it.
  void write(const Coded &row, uint32_t site, ByteWriter &out);
  void write_shapes(ByteWriter &out) const;

 private:
  std::optional<uint32_t> as_array(const ClassRow &row, uint32_t slot, uint32_t count, size_t varied);
  std::optional<uint32_t> as_successive(const ClassRow &row, uint32_t slot, uint32_t count, size_t varied);

  PoolWriter &pool_;
  Interned shapes_;
  std::vector<LastCodes> last_;  // by shape
};

struct Pool {
  std::vector<Bytes> values;
  std::vector<ColumnPointer> columns;
  std::vector<TablePointer> tables;
};

class RowReader {
 public:
  explicit RowReader(const Pool &pool) : pool_(pool) {}
  bool read_shapes(ByteReader &in);
  /// A row of a class with these sites. `by_site`: since version 2, a row is told against the last one at its site.
  RowPointer read(ByteReader &in, const std::vector<uint32_t> &sites, bool by_site);
  [[nodiscard]] const std::string &what() const { return what_; }

 private:
  /// The bits say which codes of a field of atoms are columns.
  struct Shape {
    struct Head {
      FieldHead field;
      Bytes columns;
      bool is_array = false;    ///< one code: the column along the array
      bool successive = false;  ///< one code: the column of the first atom, those of the others follow
    };
    uint32_t function = 0;
    uint32_t depth = 0;
    std::vector<Head> heads;
    uint64_t codes = 0;
    LastCodes last;
  };
  bool read_shape(ByteReader &in, Shape *shape);
  bool read_codes(ByteReader &in, uint32_t site, Shape *shape, std::vector<uint64_t> *codes);
  bool bad(std::string what);

  const Pool &pool_;
  std::vector<Shape> shapes_;
  uint64_t text_bytes_ = 0;
  uint64_t array_atoms_ = 0;
  std::string what_ = "is malformed";
};

}  // namespace cairn::trace
