// PlainClass: a class on its way to a rank that will merge it at once, read no further than merging it with its like
// needs (plain_rows.h). Nearly all that is merged is of this kind: a few rows whose structure both sides have, and
// values that go to the end of columns.
//
// `merge_plain` looks at all that makes two classes one by itself, instead of at hashes of it: what it merges needs no
// other check. `made` is the way for all else, and checks what was read as the reader of a file does.
// `read` trusts nothing; memory goes with the bytes, which must outlive this. One use, one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "trace/code/plain_rows.h"
#include "trace/model/class_part.h"

namespace cairn::trace {

struct PlainVariant {
  RankSet ranks;  ///< empty if there is no other variant: the class's
  bool differences = false;
  uint32_t order = 0;  ///< number in the class's orders
  PlainRows::Range values;
};

struct PlainStream {
  uint32_t group = 0;
  uint32_t field = 0;
  size_t variant = 0;  ///< its first one
  size_t variants = 0;
};

struct PlainClass {
  ByteView calls;      ///< a grammar's bytes
  PlainRows all_rows;  ///< and streams' values
  PlainRows::Range rows;
  std::vector<PlainStream> streams;
  PlainStream heap;  ///< of kHeapGroup; without variants there is none
  std::vector<PlainVariant> variants;
  std::vector<ByteView> orders;  ///< of variants: grammars' bytes
  std::vector<StatsBlock> stats;
  FoldColumn begin_ns;
  ByteView interleaving;  ///< as in the section `order`; empty if there is one thread only

  /// `head` is the class's.
  bool read(ByteView bytes, const ClassHead &head);
  /// Nothing is left in this. nullptr: good; else what is wrong.
  const char *made(ClassHead head, ClassPart *part);

 private:
  bool read_stream(ByteReader &in, const RankSet &members, PlainStream *out);
  bool read_variant(ByteReader &in, const RankSet &members, bool alone);
};

/// What `PlainClass::read` reads: all but what ClassHead has.
void write_plain(const ClassPart &part, ByteWriter &out);

/// If `right` is like `left` in all but its values, its ranks join left's, and `true` is the answer; else neither has
/// changed. Their keys are equal.
Result<bool> merge_plain(ClassPart *left, ClassHead *head, PlainClass *right);

}  // namespace cairn::trace
