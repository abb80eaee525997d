// RowWriter and RowReader: rows as bytes (docs/format.md, "rows"): a list of shapes, and rows told against the last one
// of their shape. Values, columns and tables are kept in a pool, each once, and named by number.
//
// The reader trusts nothing: `read` gives nullptr and `what` says why. One use each.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "trace/code/field_shape.h"
#include "trace/model/class_row.h"
#include "trace/values/bounds.h"
#include "trace/values/rank_set.h"

namespace cairn::trace {

/// Numbers byte strings in order of first occurrence; keeps none.
class Numbers {
 public:
  uint32_t number(ByteView bytes);
  [[nodiscard]] uint32_t size() const { return size_; }

 private:
  static constexpr uint32_t kFree = UINT32_MAX;
  struct Slot {
    Hash128 hash;
    uint32_t number = kFree;
  };
  Slot &slot_of(const Hash128 &hash);

  /// Open addressing, half full at most; a map would allocate a node for each.
  std::vector<Slot> slots_;
  uint32_t size_ = 0;
};

/// The same, and keeps them, one behind the other.
class Interned {
 public:
  uint32_t number(ByteView bytes);
  [[nodiscard]] uint32_t size() const { return numbers_.size(); }
  [[nodiscard]] ByteView at(uint32_t number) const;
  /// Another way to write what has this number.
  void rewrite(uint32_t number, Bytes bytes) { rewritten_[number] = std::move(bytes); }

 private:
  Numbers numbers_;
  Bytes bytes_;
  std::vector<size_t> ends_;
  std::unordered_map<uint32_t, Bytes> rewritten_;
};

/// A class's site as all classes name it: 0 is unknown, else its number in the trace plus one.
uint32_t site_in_trace(uint32_t site, const std::vector<uint32_t> &sites);

/// The way back.
class SitesOfClass {
 public:
  explicit SitesOfClass(const std::vector<uint32_t> &sites);
  /// The class's first number of the site that all classes name so; nothing if it has none.
  [[nodiscard]] std::optional<uint32_t> number(uint32_t site_in_trace) const;

 private:
  std::unordered_map<uint32_t, uint32_t> numbers_;
};

/// Of one shape, the codes that the next row is told against: those of its last row at the same site, else of its last.
class LastCodes {
 public:
  [[nodiscard]] const std::vector<uint64_t> *find(uint32_t site) const;
  void put(uint32_t site, const std::vector<uint64_t> &codes);
  [[nodiscard]] size_t sites() const { return by_site_.size(); }

 private:
  std::unordered_map<uint32_t, std::vector<uint64_t>> by_site_;
  uint32_t last_site_ = 0;
  bool any_ = false;
};

class SiteAtoms;

/// What rows refer to.
class PoolWriter {
 public:
  uint32_t column(const FoldColumn &fold);
  /// The same for one that rows share, which must stay until `forget_columns`.
  uint32_t column(const ColumnPointer &fold);
  void forget_columns() { known_.clear(); }
  /// The column of whoever names it: rank + distance on each of its ranks.
  uint32_t ranks_plus(Atom distance);
  uint32_t table(const ValuesColumn &values);
  uint32_t value(ByteView bytes) { return values_.number(bytes); }
  /// These columns are one array on all ranks, or the part of one that is about them, numbered from `first`. If it has
  /// a place for each rank and an array before says the same from the other side (what i sends to k is what k receives
  /// from i), they are told by that.
  void exchanged(uint32_t first, std::span<const VariedAtom> columns);
  void write(ByteWriter &out) const;

 private:
  /// An array with a column for each rank.
  struct Square {
    uint32_t first;
    uint64_t room;  ///< values that a reader lets others have by it; 0: it is told by another itself
    std::vector<ColumnPointer> columns;
  };
  /// The column, or the one and some that follow it before `end`; the next one.
  uint32_t write_column(uint32_t i, uint32_t end, ByteWriter &out) const;

  Interned values_;
  Interned columns_;
  std::vector<Square> squares_;
  Interned tables_;
  std::unordered_map<const FoldColumn *, uint32_t> known_;
  ByteWriter scratch_;
};

/// The ranks of a class, and which columns along them are the rank plus something. Those are told so: neighbours of
/// different classes, at corners and edges, are then the same.
class RankColumns {
 public:
  /// Beyond so many ranks a regular column costs next to nothing, and reading it so would cost time.
  static constexpr uint64_t kMostRanks = uint64_t{1} << 16;

  explicit RankColumns(const RankSet &ranks);
  /// What must be added to each rank; nothing if it isn't so. The column must outlive this.
  std::optional<Atom> distance(const ColumnPointer &column);
  /// The same of an atom; nothing for several ranks.
  [[nodiscard]] std::optional<Atom> distance(Atom atom) const;
  /// The first rank and how many there are, if they follow each other; nothing if they don't, or there are too many.
  [[nodiscard]] std::optional<std::pair<uint32_t, uint32_t>> run() const;

 private:
  std::vector<uint32_t> ranks_;  ///< none if there are too many
  std::unordered_map<const FoldColumn *, std::optional<Atom>> known_;
};

class RowWriter {
 public:
  explicit RowWriter(PoolWriter &pool) : pool_(pool) {}
  /// A row as its shape's number and codes.
  struct Coded {
    uint32_t shape = 0;
    uint32_t site = 0;
    std::vector<uint64_t> codes;
    /// Values that columns tell, of which the codes name the first alone: many for few bytes.
    uint64_t array_atoms = 0;
    /// Of what rows of other classes may share, whose sites are numbered otherwise: `site_in_all` is this one's number
    /// for all.
    [[nodiscard]] Bytes identity(uint32_t site_in_all) const;
    /// Whether all codes are the other's but the last, which is one more: of columns, one behind the other.
    [[nodiscard]] bool follows(const Coded &before) const;
  };
  /// `ranks`: of the row's class; nullptr for rows that no class has. `site` is the row's as all classes name it.
  /// `position`: bytes that a reader will have behind it when it comes to the row, at least; where they are too few for
  /// the arrays that columns tell, those are told atom by atom.
  Coded code(const ClassRow &row, RankColumns *ranks, uint32_t site, size_t position);
  /// The row is going to be written, no matter how often named: from now on its arrays count.
  void count(const Coded &row, size_t position);
  /// What the rows to come are told by; before the first one, if at all. Must outlive this.
  void tell_by(const SiteAtoms *moving) { moving_ = moving; }
  /// `site` is the row's as all classes name it.
  void write(const Coded &row, uint32_t site, ByteWriter &out);
  /// So many values, each of which follows the one before, and the first of them what was written last: `last` is the
  /// last one. They have no site.
  void write_following(const Coded &last, size_t count, ByteWriter &out);
  void write_shapes(ByteWriter &out) const;

 private:
  Coded code(const ClassRow &row, RankColumns *ranks, uint32_t site, bool arrays);
  std::optional<uint32_t> as_array(const ClassRow &row, uint32_t slot, uint32_t count, size_t varied);
  std::optional<uint32_t> as_successive(const ClassRow &row, uint32_t slot, uint32_t count, size_t varied,
                                        const RankColumns *ranks);
  /// Writes the shape of a field of atoms from `slot` on, of which `varied` is the first that differs, and adds codes.
  void code_atoms(const ClassRow &row, uint32_t field, uint32_t slot, size_t varied, RankColumns *ranks, uint32_t site,
                  bool arrays, Coded *coded);
  /// The atom as its distance from the row's site, if such atoms are told so.
  std::optional<Atom> moving_told(const ClassRow &row, uint32_t field, uint32_t atom, uint32_t slot) const;
  /// The field's one atom, as its column, if it is so far from the rank as it was in the last row here.
  std::optional<uint32_t> as_before(Atom atom, const std::tuple<uint32_t, uint32_t, uint32_t> &place,
                                    RankColumns *ranks);

  PoolWriter &pool_;
  Interned shapes_;
  std::vector<LastCodes> last_;  // by shape
  StoodFor arrays_;
  const SiteAtoms *moving_ = nullptr;
  ByteWriter shape_;  // of the row being coded; kept for its room, as the next one
  FieldShape field_;
  /// By site, function and field: how far from the rank its one atom last was.
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, Atom> distances_;
};

struct Pool {
  std::vector<Bytes> values;
  std::vector<ColumnPointer> columns;
  std::unordered_map<const FoldColumn *, Atom> distances;  ///< of those columns that are ranks plus something
  std::vector<TablePointer> tables;
};

class RowReader {
 public:
  explicit RowReader(const Pool &pool) : pool_(pool) {}
  bool read_shapes(ByteReader &in);
  /// A row of a class with these sites.
  RowPointer read(ByteReader &in, const std::vector<uint32_t> &sites);
  /// A value of a stream, which has no site: a row, or one of several that follow each other.
  RowPointer read_value(ByteReader &in);
  /// The value that is this atom on all ranks; equal ones are one row. nullptr: it would take more than `in` allows.
  RowPointer value(Atom atom, ByteReader *in);
  /// Whether the values that were said to follow each other have all been read.
  [[nodiscard]] bool at_end_of_values() const { return following_ == 0; }
  /// The places in `ClassRow::atoms` that move with the site, of the row that was read last.
  [[nodiscard]] const std::vector<uint32_t> &moving() const { return moving_; }
  [[nodiscard]] const std::string &what() const { return what_; }

 private:
  struct Shape {
    uint32_t function = 0;
    uint32_t depth = 0;
    RowKind kind;
    std::vector<FieldShape> fields;
    uint64_t codes = 0;
    uint64_t columns = 0;  ///< how many codes are, at least
    bool is_atom = false;  ///< nothing but one atom that is the same on all ranks
    LastCodes last;
  };
  bool read_shape(ByteReader &in, Shape *shape);
  bool read_codes(ByteReader &in, uint32_t site, Shape *shape, std::vector<uint64_t> *codes);
  /// The row that `codes_` are.
  RowPointer made(const Shape &shape, uint32_t site, ByteReader *in);
  bool bad(std::string what);

  const Pool &pool_;
  std::vector<Shape> shapes_;
  std::vector<uint32_t> moving_;
  std::vector<uint64_t> codes_;  // of the row being read
  uint64_t following_ = 0;       // values to come, of the shape of that number
  uint64_t following_shape_ = 0;
  uint64_t text_bytes_ = 0;
  StoodFor arrays_;
  std::unordered_map<Atom, RowPointer> values_;  // of one atom: streams of many ranks have millions of a few
  std::string what_ = "is malformed";
};

}  // namespace cairn::trace
