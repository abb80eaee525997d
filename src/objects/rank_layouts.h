// RankLayouts: the layouts of one rank's datatypes, as its calls have said so far.
//
// A type that the program made is what the call that made it says; where the program asked MPI for the bounds of one
// (MPI_Type_get_extent), they are what MPI said. Not known: types by MPI_Type_create_f90_…, and those of addresses that
// are no numbers, which a program uses with MPI_BOTTOM.
//
// Borrows the table. One thread. Memory for the names of types.
#pragma once

#include <cstdint>
#include <map>

#include "analyze/row_access.h"
#include "objects/type_layout.h"

namespace cairn::objects {

class RankLayouts {
 public:
  explicit RankLayouts(TypeLayouts *table) : table_(table) {}
  /// The rank's next call. Whether a name means something else from now on than it did.
  bool see(const trace::Row &row, const analyze::RowScope &scope);
  /// nullptr: not known.
  [[nodiscard]] const TypeLayout *of(const analyze::HandleName &type) const;
  /// Of so many elements, one behind the other.
  [[nodiscard]] const TypeLayout *of(const analyze::HandleName &type, int64_t count) const;
  [[nodiscard]] TypeLayouts &table() const { return *table_; }
  /// Functions whose calls `see` looks at.
  static bool concerns(uint32_t function);

 private:
  [[nodiscard]] const TypeLayout *made(const analyze::RowAccess &row) const;

  TypeLayouts *table_;
  std::map<analyze::HandleName, const TypeLayout *> derived_;
};

}  // namespace cairn::objects
