// Sizes: how many bytes a datatype holds and how many processes a communicator has, as far as one rank's calls tell.
//
// Predefined datatypes come from a table (of the x86-64 and AArch64 ABIs: long is 8 bytes, a Fortran INTEGER 4);
// derived ones from the calls that made them, or from MPI_Type_size; communicators from the calls that made them, from
// MPI_Comm_size, or from those of other ranks where the caller has counted these (communicators.h). Names are reused
// when objects are freed: where two objects of one name differ, the answer is "unknown". Built once a rank, from its
// distinct calls: nothing is expanded. Or it follows a rank's calls in their order, and a name means what it meant
// last. One thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "analyze/communicators.h"
#include "analyze/row_access.h"
#include "analyze/selected_calls.h"

namespace cairn::analyze {

/// Bytes in one element of a predefined datatype.
std::optional<int64_t> predefined_size(std::string_view name);

class Sizes {
 public:
  /// `calls`: one rank's, those of creators (below) among them; not kept. `world_size`: of its MPI_COMM_WORLD.
  Sizes(uint32_t world_size, const std::vector<SelectedCalls::Sequence> &calls);
  /// How large some communicator is is not known so far.
  [[nodiscard]] bool lacks_members() const;
  /// Of such communicators.
  void learn_members(const CommunicatorSizes &members, uint32_t rank);

  /// Follows calls in their order.
  explicit Sizes(uint32_t world_size) : world_size_(world_size), in_order_(true) {}
  /// The rank's next call of a creator. Whether a name means something else from now on than it did.
  bool see(const trace::Row &row, const RowScope &scope);

  [[nodiscard]] std::optional<int64_t> datatype(const HandleName &name) const;
  /// What a call moves by the arguments of these names, those of all partitions; nullopt: not known.
  [[nodiscard]] std::optional<uint64_t> bytes(const RowAccess &row, const char *count, const char *datatype) const;
  /// Of the local group.
  [[nodiscard]] std::optional<int64_t> communicator(const HandleName &name) const;

  /// Functions whose calls this class looks at.
  static bool is_creator(const spec::Function &function);
  static bool is_creator(uint32_t function);

  /// Names mean the same.
  bool operator==(const Sizes &) const = default;

 private:
  void learn(const trace::Row &row, const RowScope &scope);
  enum class Evidence : uint8_t { creation, query };
  void add(std::map<HandleName, std::optional<int64_t>> &table, const HandleName &name, std::optional<int64_t> size,
           Evidence evidence);
  [[nodiscard]] std::optional<int64_t> derived(const RowAccess &row) const;
  [[nodiscard]] std::optional<int64_t> created(const RowAccess &row) const;

  uint32_t world_size_;
  bool in_order_ = false;
  bool changed_ = false;  ///< by the call that was seen last
  std::map<HandleName, std::optional<int64_t>> datatypes_;
  std::map<HandleName, std::optional<int64_t>> communicators_;
};

}  // namespace cairn::analyze
