// Reading single arguments out of a row by name, without decoding the others.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "spec/spec.h"
#include "trace/read/trace.h"
#include "trace/values/atom_reader.h"

namespace cairn::analyze {

/// A handle so that two rows of one process that mean the same object have equal ones, whichever thread they are of.
struct HandleName {
  trace::Atom special = 0;  ///< a constant or kUnknown, else 0
  uint32_t thread = 0;      ///< that created it
  trace::Site site;         ///< where
  trace::Atom number = 0;   ///< its place among those of the site, or a communicator's number
  /// Which of spec::constants() it is; -1: none.
  [[nodiscard]] int constant() const { return trace::AtomValue{false, special != 0, special}.constant(); }
  [[nodiscard]] auto key() const { return std::tuple(special, thread, site.module, site.offset, site.caller, number); }
  bool operator<(const HandleName &other) const { return key() < other.key(); }
  bool operator==(const HandleName &) const = default;
};

/// What the site numbers in a row mean: those of its sequence.
struct RowScope {
  std::vector<trace::Site> sites;
  uint32_t thread = 0;
  static RowScope of(const trace::Trace &trace, const trace::SequenceView &sequence) {
    return {trace.sites(sequence.class_index), sequence.thread};
  }
};

/// The number of a site and the thread of a handle's creator, from the first of the handle's atoms: where another
/// thread than the row's created it, the upper half is that thread's number plus 1.
struct CreationSite {
  uint64_t site = 0;
  std::optional<uint32_t> thread;
  static CreationSite of(trace::Atom atom) {
    CreationSite result;
    result.site = static_cast<uint64_t>(atom) & 0xffffffffU;
    if (const uint64_t other = static_cast<uint64_t>(atom) >> 32; other != 0)
      result.thread = static_cast<uint32_t>(other - 1);
    return result;
  }
};

/// The handle that these two atoms name in a row of that scope; of a communicator, but an unknown one, only the first
/// counts.
HandleName handle_name(trace::Atom first, trace::Atom second, spec::Layout layout, const RowScope &scope);

class RowAccess {
 public:
  RowAccess(const trace::Row &row, const RowScope &scope);

  [[nodiscard]] const spec::Function *function() const { return function_; }
  /// The field of that parameter; nullptr if the function has none or it is absent in this row.
  [[nodiscard]] const trace::Field *field(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const { return field(name) != nullptr; }
  /// A number; nullopt if absent, or a special.
  [[nodiscard]] std::optional<int64_t> number(std::string_view name) const;
  [[nodiscard]] std::optional<std::vector<int64_t>> numbers(std::string_view name) const;
  /// Of integers that may be addresses as well, as displacements may: nullopt if one was.
  [[nodiscard]] std::optional<std::vector<int64_t>> displacements(std::string_view name) const;
  [[nodiscard]] std::optional<HandleName> handle(std::string_view name) const;
  [[nodiscard]] std::vector<HandleName> handles(std::string_view name) const;
  /// The constant's name if the argument is one, as "MPI_IN_PLACE"; else "".
  [[nodiscard]] std::string_view constant(std::string_view name) const;
  /// The call returned MPI_SUCCESS.
  [[nodiscard]] bool succeeded() const;

 private:
  /// Which of the function's parameters that is; nullopt where `field` gives nullptr.
  [[nodiscard]] std::optional<size_t> place(std::string_view name) const;
  template <typename Visit>
  void each_handle(std::string_view name, Visit visit) const;

  const trace::Row &row_;
  const RowScope &scope_;
  const spec::Function *function_ = nullptr;
};

}  // namespace cairn::analyze
