// RankSet: ranks in ascending order as a fold column, so that "all", "every second" and "the inner ones of a grid" take
// a few bytes whatever their number.
//
// Plain value, whose copies share the column until one changes: the parts of a class name the same set many times.
// Concurrent const use is fine. Look-ups are O(log size · depth · log terms); nothing is expanded.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "trace/values/fold_column.h"

namespace cairn::trace {

class RankSet {
 public:
  RankSet() = default;
  explicit RankSet(uint32_t rank) { append(rank); }

  [[nodiscard]] uint64_t size() const { return ranks_ == nullptr ? 0 : ranks_->size(); }
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] uint32_t at(uint64_t index) const { return static_cast<uint32_t>(ranks_->at(index)); }
  [[nodiscard]] uint32_t front() const { return at(0); }
  [[nodiscard]] uint32_t back() const { return at(size() - 1); }
  /// Place of `rank` among the members, if it is one.
  [[nodiscard]] std::optional<uint64_t> index_of(uint32_t rank) const;
  [[nodiscard]] std::vector<uint32_t> expand() const;
  [[nodiscard]] const FoldColumn &column() const;

  /// `rank` must be greater than back().
  void append(uint32_t rank);

  /// The set that a column holds, unless it isn't ascending within kMaxRanks.
  static std::optional<RankSet> of(FoldColumn column);

 private:
  friend class Interleave;
  explicit RankSet(FoldColumn &&column) : ranks_(std::make_shared<FoldColumn>(std::move(column))) {}
  /// The column, which nobody else has then.
  FoldColumn taken() &&;

  std::shared_ptr<FoldColumn> ranks_;  ///< nullptr: none
};

/// Each member of `whole` is in exactly one of `parts`, which hold nothing else. Proportional to the members.
bool is_partition(const RankSet &whole, const std::vector<const RankSet *> &parts);

/// How the members of two disjoint sets lie among each other; columns along them are merged by it.
class Interleave {
 public:
  /// nullopt when the sets share a member. Proportional to the terms if one lies entirely below the other, else to
  /// the members.
  static std::optional<Interleave> of(const RankSet &left, const RankSet &right);

  [[nodiscard]] RankSet merged(RankSet left, const RankSet &right) const;
  [[nodiscard]] FoldColumn merged(FoldColumn left, const FoldColumn &right) const;
  /// With `right` on each of the right ranks.
  [[nodiscard]] FoldColumn merged(FoldColumn left, Atom right) const;
  [[nodiscard]] uint64_t left_size() const { return left_size_; }
  [[nodiscard]] uint64_t right_size() const { return right_size_; }

 private:
  enum class Order : uint8_t { left_first, right_first, mixed };
  Order order_ = Order::left_first;
  uint64_t left_size_ = 0;
  uint64_t right_size_ = 0;
  std::vector<uint64_t> runs_;  ///< mixed: members from left, then right, then left, …
};

}  // namespace cairn::trace
