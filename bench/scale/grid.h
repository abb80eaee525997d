// Grid: processes laid out in one to three dimensions, the last one varying fastest, as MPI_Cart_create does it.
// Plain value, const use from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "scale/script.h"

namespace cairn::scale {

class Grid {
 public:
  static constexpr uint32_t kMost = 3;
  using Offset = std::array<int64_t, kMost>;

  Grid() = default;
  explicit Grid(std::vector<uint32_t> sides) : sides_(std::move(sides)) {}
  /// As near to a square or cube as the divisors of `ranks` allow, longest side first, like MPI_Dims_create.
  static Grid of(uint32_t ranks, uint32_t dimensions);

  [[nodiscard]] uint32_t dimensions() const { return static_cast<uint32_t>(sides_.size()); }
  [[nodiscard]] uint32_t side(uint32_t dimension) const { return sides_[dimension]; }
  [[nodiscard]] const std::vector<uint32_t> &sides() const { return sides_; }
  [[nodiscard]] uint64_t size() const;
  [[nodiscard]] Offset coordinates(uint32_t rank) const;
  [[nodiscard]] uint32_t rank(const Offset &at) const;
  /// The rank so far away; beyond an edge, kProcNull or around it.
  [[nodiscard]] Atom neighbour(uint32_t rank, const Offset &offset, bool periodic) const;

 private:
  std::vector<uint32_t> sides_;
};

/// The largest n with n * n <= value.
uint32_t square_root(uint32_t value);

}  // namespace cairn::scale
