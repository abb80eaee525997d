// What must hold of a class that was read, whichever bytes it was read from, and that no reader of bytes can see while
// it reads: streams fit the calls, and hold what has moved out of the rows.
//
// Trusts the rows' sites and columns, the grammar's symbols and each variant's values to exist; nothing else. What is
// wrong is said as a predicate of its section ("has …"); nullptr: nothing. Cost: the rows and the grammar.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/model/class_part.h"

namespace cairn::trace {

/// The largest symbol and one.
uint64_t symbols_of(const grammar::Grammar &grammar);

/// All columns and tables of the row have so many members.
bool has_columns_of(const ClassRow &row, uint64_t members);

/// Goes through the streams of a class.
class StreamCheck {
 public:
  explicit StreamCheck(const ClassPart &part);
  /// `stream` comes after `before`, or is the first one (nullptr).
  [[nodiscard]] const char *wrong(const Stream &stream, const Stream *before) const;

 private:
  [[nodiscard]] const char *wrong(const StreamVariant &variant, const ClassRow &row, uint32_t field,
                                  uint64_t calls) const;

  const ClassPart &part_;
  RowGroups groups_;
  std::vector<uint64_t> calls_;  ///< of each group
};

/// A field has a stream if and only if it has moved out of all rows of its group.
bool has_what_moved(const ClassPart &part);

/// All of the above, and that grammars' symbols, rows' sites and columns' lengths are the class's: what holds whenever
/// a stage leaves a class to the next one. For `assert`.
bool is_sound(const ClassPart &part);

}  // namespace cairn::trace
