// ClassWriter: classes, one after the other, as the sections that hold them (docs/format.md): what is equal in several
// (row shapes, rows, columns, values, grammars) is written once. Of a class that was added nothing is referred to, but
// for arrays that others may mirror: memory goes with the bytes that come out.
//
// One use. `add` costs the class's rows, columns and values.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/code/row_code.h"
#include "trace/code/section.h"
#include "trace/model/class_part.h"

namespace cairn::trace {

class ClassWriter {
 public:
  /// `moving`: what is told by call sites; nullptr: nothing. `ranks`: of the trace; `site_numbers`: where its sites
  /// stand in the list of sites. Both must outlive this.
  ClassWriter(const SiteAtoms *moving, const RankSet &ranks, const std::vector<uint32_t> &site_numbers);
  void add(const ClassPart &part);

  // When all classes were added, each once:
  Bytes rows();
  Bytes streams();  ///< nothing if there are none; `heap`, `order` and `timing` likewise
  Bytes grammars();
  Bytes columns();
  Bytes heap();
  Bytes order();
  Bytes timing();
  /// Whether `timing` has times, which are compressed already.
  [[nodiscard]] bool has_times() const { return any_times_; }
  /// When each class's first call began.
  Bytes begin() { return begins_.take(); }

 private:
  void rows_of(const ClassPart &part);
  /// The number of a row that is known, or of the next one, if a reader could not copy it.
  uint32_t row_number(const RowWriter::Coded &coded, const ClassRow &row, Bytes identity, size_t position);
  void streams_of(const ClassPart &part);
  void variant(const StreamVariant &variant);
  void heap_of(const ClassPart &part);
  static void write_values(const std::vector<RowPointer> &values, RowWriter *writer, ByteWriter *out);
  void order_of(const ClassPart &part);
  void timing_of(const ClassPart &part);
  void stats_of(const ClassPart &part);
  uint32_t grammar_number(const grammar::Grammar &grammar);

  const std::vector<uint32_t> &site_numbers_;
  uint64_t classes_ = 0;
  PoolWriter pool_;
  uint32_t ranks_;  ///< the column of the trace's ranks
  RowWriter row_writer_{pool_};
  RowWriter stream_writer_{pool_};
  RowWriter heap_writer_{pool_};
  Interned grammars_;
  Numbers known_rows_;
  std::vector<uint32_t> sites_of_known_;  ///< as the classes that wrote them number these
  StoodFor copied_atoms_;                 ///< of rows that other classes name
  ByteWriter rows_;
  ByteWriter streams_;
  ByteWriter heap_;
  ByteWriter order_;
  ByteWriter timing_;
  ByteWriter begins_;
  bool any_streams_ = false;
  bool any_heap_ = false;
  bool any_order_ = false;
  bool any_timing_ = false;
  bool any_times_ = false;
};

/// Whether the class has no more to say of how its threads interleave than that there is one.
bool has_no_order(const ClassPart &part);
/// What the section `order` says of a class.
void write_order(const ClassPart &part, ByteWriter &out);
/// A list of sites as runs of successive numbers.
void write_sites(const std::vector<uint32_t> &sites, ByteWriter &out);

}  // namespace cairn::trace
