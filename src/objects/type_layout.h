// TypeLayout: where the bytes of a datatype lie, counted from the address of the buffer, and the bounds that MPI gives
// it (MPI 4.1, 5.1.6 to 5.1.8).
//
// Example: MPI_Type_vector(3, 2, 4, MPI_INT) is three turns of 8 bytes, 16 bytes from one to the next; its size is 24,
// its extent 40. A layout is made of smaller ones, so it takes memory for what its maker was told, not for each of its
// blocks. Layouts of one table are equal if their addresses are.
//
// Where elements lie out of their alignment, libraries pad differently: this is MPICH's way, and Open MPI's extents are
// then a few bytes longer. Layouts are immutable; a table is one thread's. What has more than kMostItems items, or is
// nested deeper than kDeepest, is not known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "trace/read/trace.h"

namespace cairn::objects {

/// All lengths are in bytes.
struct TypeLayout {
  struct Item {
    int64_t at = 0;
    const TypeLayout *of = nullptr;
    auto operator<=>(const Item &) const = default;
  };
  int64_t size = 0;
  int64_t lower_bound = 0;
  int64_t upper_bound = 0;
  // Of the bytes themselves; both 0 where there are none.
  int64_t true_lower_bound = 0;
  int64_t true_upper_bound = 0;
  // MPI_Type_create_resized set it (or MPI_LB, MPI_UB): types made of this one, of which only some parts have such a
  // bound, look at no others.
  bool lower_is_set = false;
  bool upper_is_set = false;
  /// What MPI_Type_create_struct rounds extents up to.
  uint32_t alignment = 1;
  /// Every byte between the true bounds, once. Else it is so many turns, one `stride` behind the other, of `items`.
  bool dense = true;
  uint32_t depth = 0;
  uint64_t turns = 0;
  int64_t stride = 0;
  std::vector<Item> items;  ///< in the order of their first bytes
  // True bounds of the first turn.
  int64_t turn_lower = 0;
  int64_t turn_upper = 0;

  [[nodiscard]] int64_t extent() const { return upper_bound - lower_bound; }
  [[nodiscard]] int64_t true_extent() const { return true_upper_bound - true_lower_bound; }
  /// Equal but for `items`, which tell the rest.
  bool operator==(const TypeLayout &) const = default;
  auto operator<=>(const TypeLayout &) const = default;
};

class TypeLayouts {
 public:
  static constexpr size_t kMostItems = size_t{1} << 16;
  static constexpr uint32_t kDeepest = 64;

  /// `resized_stays`: as the standard says, bounds that MPI_Type_create_resized set are such. In MPICH only MPI_LB and
  /// MPI_UB are.
  explicit TypeLayouts(bool resized_stays = true) : resized_stays_(resized_stays) {}
  /// Layouts as in the run's MPI library.
  explicit TypeLayouts(const trace::Trace &trace);

  // nullptr of what follows: not known, or larger than 64 bits can tell.

  /// A predefined type, by its id in spec/.
  const TypeLayout *predefined(int constant);
  const TypeLayout *repeated(int64_t count, int64_t stride, const TypeLayout *of);
  /// Items in any order; those of nullptr make the whole unknown.
  const TypeLayout *sequence(const std::vector<TypeLayout::Item> &items);
  /// As MPI_Type_create_struct: the upper bound is rounded up, unless it was set.
  const TypeLayout *structure(const std::vector<TypeLayout::Item> &items);
  const TypeLayout *resized(const TypeLayout *of, int64_t lower_bound, int64_t extent);

 private:
  const TypeLayout *composed(uint64_t turns, int64_t stride, std::vector<TypeLayout::Item> items, bool padded);
  const TypeLayout *kept(TypeLayout layout);
  const TypeLayout *bytes(int64_t size, uint32_t alignment);

  bool resized_stays_;
  std::map<TypeLayout, std::unique_ptr<const TypeLayout>> all_;
};

/// How many bytes both have, the second's buffer beginning `apart` bytes behind the first's; nullopt: to tell would
/// take more than some milliseconds. A byte that one of them has twice counts twice.
std::optional<uint64_t> common_bytes(const TypeLayout &first, const TypeLayout &second, int64_t apart);
/// Whether it has a byte more than once; nullopt as above.
std::optional<bool> repeats_bytes(const TypeLayout &layout);

}  // namespace cairn::objects
