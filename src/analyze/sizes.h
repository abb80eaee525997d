// Sizes: how many bytes a datatype holds and how many processes a communicator has, as far as one rank's calls tell.
//
// Predefined datatypes come from a table (of the x86-64 and AArch64 ABIs: long is 8 bytes, a Fortran INTEGER 4);
// derived ones from the calls that made them, or from MPI_Type_size; communicators from the calls that made them, or
// from MPI_Comm_size. Names are reused when objects are freed: where two objects of one name differ, the answer is
// "unknown". Built once a rank, from its distinct calls: nothing is expanded. One thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "analyze/row_access.h"
#include "analyze/selected_calls.h"

namespace cairn::analyze {

/// Bytes in one element of a predefined datatype.
std::optional<int64_t> predefined_size(std::string_view name);

class Sizes {
 public:
  /// `calls`: one rank's, those of creators (below) among them; not kept.
  Sizes(const trace::Trace &trace, const std::vector<SelectedCalls::Sequence> &calls);

  [[nodiscard]] std::optional<int64_t> datatype(const HandleName &name) const;
  /// Of the local group.
  [[nodiscard]] std::optional<int64_t> communicator(const HandleName &name) const;

  /// Functions whose calls this class looks at.
  static bool is_creator(const spec::Function &function);

 private:
  void learn(const trace::Row &row, const RowScope &scope);
  enum class Evidence : uint8_t { creation, query };
  static void add(std::map<HandleName, std::optional<int64_t>> &table, const HandleName &name,
                  std::optional<int64_t> size, Evidence evidence);
  [[nodiscard]] std::optional<int64_t> derived(const RowAccess &row) const;
  [[nodiscard]] std::optional<int64_t> created(const RowAccess &row) const;

  uint32_t world_size_;
  std::map<HandleName, std::optional<int64_t>> datatypes_;
  std::map<HandleName, std::optional<int64_t>> communicators_;
};

}  // namespace cairn::analyze
