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
  /// `to_stay`: as in `encode`. `moving`: what is told by call sites; nullptr: nothing.
  ClassWriter(bool to_stay, const SiteAtoms *moving);
  /// Before all classes of a trace: its ranks, and where its sites stand in the list of sites, which must outlive this.
  /// Without it, there is one class, without what ClassHead has.
  void begin_trace(const RankSet &ranks, const std::vector<uint32_t> *site_numbers);
  /// `sites`: of the class, as in ClassPart, or other numbers that stand for them.
  void add(const ClassPart &part, const std::vector<uint32_t> &sites);

  // When all classes were added, each once:
  Bytes rows();
  Bytes streams();  ///< nothing if there are none; `order` and `timing` likewise
  Bytes grammars();
  Bytes columns();
  Bytes order();
  Bytes timing();
  /// Whether `timing` has times, which are compressed already.
  [[nodiscard]] bool has_times() const { return any_times_; }
  /// When each class's first call began.
  Bytes begin() { return begins_.take(); }

 private:
  void rows_of(const ClassPart &part, const std::vector<uint32_t> &in_trace);
  void streams_of(const ClassPart &part);
  void variant(const StreamVariant &variant);
  void order_of(const ClassPart &part);
  void timing_of(const ClassPart &part);
  void stats_of(const ClassPart &part);
  uint32_t grammar_number(const grammar::Grammar &grammar);

  bool to_stay_;
  const std::vector<uint32_t> *site_numbers_ = nullptr;
  uint64_t classes_ = 0;
  uint32_t ranks_ = 0;  ///< the column of the trace's ranks
  PoolWriter pool_;
  RowWriter row_writer_{pool_};
  RowWriter stream_writer_{pool_};
  Interned grammars_;
  Numbers known_rows_;
  ByteWriter rows_;
  ByteWriter streams_;
  ByteWriter order_;
  ByteWriter timing_;
  ByteWriter begins_;
  bool any_streams_ = false;
  bool any_order_ = false;
  bool any_timing_ = false;
  bool any_times_ = false;
};

/// A list of sites as runs of successive numbers.
void write_sites(const std::vector<uint32_t> &sites, ByteWriter &out);

}  // namespace cairn::trace
