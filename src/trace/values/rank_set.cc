#include "trace/values/rank_set.h"

#include <functional>
#include <new>
#include <queue>
#include <utility>

#include "base/as_size.h"

namespace cairn::trace {

const FoldColumn &RankSet::column() const {
  // Neither from the heap, where what a scope of small blocks leaves behind holds all of them, nor ended at exit.
  alignas(FoldColumn) static uint8_t room[sizeof(FoldColumn)];
  static const FoldColumn &empty = *new (room) FoldColumn();
  return ranks_ == nullptr ? empty : *ranks_;
}

void RankSet::append(uint32_t rank) {
  if (ranks_.use_count() != 1) ranks_ = std::make_shared<FoldColumn>(column());
  ranks_->append(rank);
}

FoldColumn RankSet::taken() && {
  const std::shared_ptr<FoldColumn> mine = std::move(ranks_);
  if (mine == nullptr) return FoldColumn();
  if (mine.use_count() == 1) return std::move(*mine);
  return *mine;
}

std::optional<uint64_t> RankSet::index_of(uint32_t rank) const {
  uint64_t low = 0;
  uint64_t high = size();
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    const uint32_t found = at(middle);
    if (found == rank) return middle;
    if (found < rank) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return std::nullopt;
}

std::vector<uint32_t> RankSet::expand() const {
  std::vector<uint32_t> ranks(as_size(size()));
  FoldColumn::Cursor cursor(column());
  for (uint32_t &rank : ranks) rank = static_cast<uint32_t>(cursor.next());
  return ranks;
}

std::optional<RankSet> RankSet::of(FoldColumn column) {
  if (!column.ascending_up_to(kMaxRanks - 1)) return std::nullopt;
  return RankSet(std::move(column));
}

bool is_partition(const RankSet &whole, const std::vector<const RankSet *> &parts) {
  struct Next {
    Atom rank;
    size_t part;
    bool operator>(const Next &other) const { return rank > other.rank; }
  };
  uint64_t members = 0;
  std::vector<FoldColumn::Cursor> cursors;
  std::vector<uint64_t> left;
  std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
  for (size_t i = 0; i < parts.size(); ++i) {
    members += parts[i]->size();
    if (parts[i]->empty() || members > whole.size()) return false;
    cursors.emplace_back(parts[i]->column());
    left.push_back(parts[i]->size() - 1);
    next.push({cursors[i].next(), i});
  }
  if (members != whole.size()) return false;
  FoldColumn::Cursor ranks(whole.column());
  for (uint64_t i = 0; i < members; ++i) {
    const Next first = next.top();
    next.pop();
    if (first.rank != ranks.next()) return false;
    if (left[first.part] == 0) continue;
    --left[first.part];
    next.push({cursors[first.part].next(), first.part});
  }
  return true;
}

std::optional<Interleave> Interleave::of(const RankSet &left, const RankSet &right) {
  Interleave result;
  result.left_size_ = left.size();
  result.right_size_ = right.size();
  if (left.empty() || right.empty() || left.back() < right.front()) return result;
  if (right.back() < left.front()) {
    result.order_ = Order::right_first;
    return result;
  }
  result.order_ = Order::mixed;
  FoldColumn::Cursor lefts(left.column());
  FoldColumn::Cursor rights(right.column());
  uint64_t l = 0;
  uint64_t r = 0;
  Atom left_rank = lefts.next();
  Atom right_rank = rights.next();
  bool from_left = true;
  result.runs_.push_back(0);
  while (l < left.size() || r < right.size()) {
    const bool both = l < left.size() && r < right.size();
    if (both && left_rank == right_rank) return std::nullopt;
    const bool take_left = both ? left_rank < right_rank : l < left.size();
    if (take_left != from_left) result.runs_.push_back(0);
    from_left = take_left;
    ++result.runs_.back();
    if (take_left) {
      if (++l < left.size()) left_rank = lefts.next();
    } else {
      if (++r < right.size()) right_rank = rights.next();
    }
  }
  return result;
}

FoldColumn Interleave::merged(FoldColumn left, const FoldColumn &right) const {
  if (order_ == Order::left_first) {
    left.append(right);
    return left;
  }
  if (order_ == Order::right_first) {
    FoldColumn out = right;
    out.append(left);
    return out;
  }
  FoldColumn out(left.domain());
  FoldColumn::Cursor lefts(left);
  FoldColumn::Cursor rights(right);
  bool from_left = true;
  for (const uint64_t run : runs_) {
    for (uint64_t i = 0; i < run; ++i) out.append(from_left ? lefts.next() : rights.next());
    from_left = !from_left;
  }
  return out;
}

FoldColumn Interleave::merged(FoldColumn left, Atom right) const {
  if (order_ != Order::left_first) {
    const FoldColumn rights = FoldColumn::constant(right, right_size_, left.domain());
    return merged(std::move(left), rights);
  }
  left.append(right, right_size_);
  return left;
}

RankSet Interleave::merged(RankSet left, const RankSet &right) const {
  return RankSet(merged(std::move(left).taken(), right.column()));
}

}  // namespace cairn::trace
