// ClassReader: classes out of the sections that hold them (docs/format.md), one after the other; the other side of
// ClassWriter.
//
// Trusts nothing: where a method gives false, `what` says why unless `in` failed, and memory stays in proportion to the
// bytes. Keys are left out, which only merging asks for (Part::Body::set_keys). Methods are called in the order in
// which they stand here, those of a class once for each class. One use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/code/pool_reader.h"
#include "trace/code/row_code.h"
#include "trace/model/class_part.h"

namespace cairn::trace {

class ClassReader {
 public:
  [[nodiscard]] const std::string &what() const { return what_; }

  bool grammars(ByteReader &in);
  bool columns(ByteReader &in);
  bool row_shapes(ByteReader &in);
  bool rank_set(ByteReader &in, RankSet *out);
  /// Needs the class's ranks and sites when its rows are read.
  bool grammar(ByteReader &in, ClassPart *part);
  bool rows(ByteReader &in, ClassPart *part);
  bool stream_shapes(ByteReader &in);
  bool streams(ByteReader &in, ClassPart *part);
  bool heap_shapes(ByteReader &in);
  bool heap(ByteReader &in, ClassPart *part);
  bool begin(ByteReader &in, ClassPart *part);
  bool order(ByteReader &in, ClassPart *part);
  static void no_order(ClassPart *part);  ///< instead
  bool timing(ByteReader &in, ClassPart *part);

  bool times(ByteReader &in, ClassHead *part);
  /// The same of a section whose checksum is wrong. Only checks of their own are left to blocks, and they don't say
  /// whose times these are: that is sure where a class has as many streams as `may_have` ranks, one of these lists.
  /// Streams are read as far as they are those of these ranks; false if there are others, or none.
  static bool damaged_times(ByteReader &in, const std::vector<std::vector<uint32_t>> &may_have, ClassHead *part);

 private:
  struct KnownRow {
    RowPointer row;
    uint32_t site;                 ///< as all classes name it
    std::vector<uint32_t> moving;  ///< atoms that move with the class's number of it
  };
  bool bad(std::string what);
  bool add_row(RowPointer row, ByteReader *in, ClassPart *part);
  bool add_known_row(const KnownRow &known, const SitesOfClass &sites, ByteReader *in, ClassPart *part);
  bool read_variant(ByteReader &in, StreamVariant *variant);
  bool read_values(ByteReader &in, uint64_t count, RowReader *reader, std::vector<RowPointer> *out);
  bool stats(ByteReader &in, bool blocks, ClassPart *part);

  std::string what_ = "is malformed";
  std::vector<GrammarPointer> grammars_;
  std::vector<uint64_t> symbols_;  ///< of each grammar: largest + 1
  uint64_t symbols_of_calls_ = 0;  ///< of the class being read
  Pool pool_;
  PoolReader pool_reader_{pool_};
  RowReader rows_reader_{pool_};
  RowReader stream_reader_{pool_};
  RowReader heap_reader_{pool_};
  std::vector<KnownRow> known_rows_;
  uint64_t named_rows_ = 0;
  StoodFor copied_atoms_;
};

}  // namespace cairn::trace
