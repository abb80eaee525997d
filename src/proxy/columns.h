// Columns along ranks as C expressions: a law of `rank` where a simple one holds (law.h), else a table of their
// differences from member to member as rules, so that what repeats takes no entry for each rank.
//
// Borrows the columns, which it knows by where they lie. One thread. Cost: the members, once a column.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "proxy/program.h"
#include "trace/values/fold_column.h"

namespace cairn::proxy {

class Columns {
 public:
  /// `member` gives the expression of a rank's place among `ranks`, where a table needs it; tables go to `tables`.
  Columns(Program *program, std::vector<uint32_t> ranks, std::function<std::string()> member, Source *tables,
          Identifiers *names)
      : program_(*program), ranks_(std::move(ranks)), member_(std::move(member)), tables_(*tables), names_(*names) {}

  [[nodiscard]] const std::vector<uint32_t> &ranks() const { return ranks_; }
  /// The value of the column on this rank, as an expression.
  std::string value(const trace::FoldColumn &column);
  /// The same of a value for each rank. `marks`: what is no number stays a mark (law.h).
  std::string value(const std::vector<trace::Atom> &values, bool marks = false);

 private:
  std::string table(const std::vector<trace::Atom> &values);
  Program &program_;
  std::vector<uint32_t> ranks_;
  std::function<std::string()> member_;
  Source &tables_;
  Identifiers &names_;
  std::map<const trace::FoldColumn *, std::string> known_;
  std::map<std::vector<trace::Atom>, std::string> known_tables_;
};

}  // namespace cairn::proxy
