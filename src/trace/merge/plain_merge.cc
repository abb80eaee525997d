// merge_plain: a class that came plain joins an open one, if both are alike in all but their values.
//
// Streams of several calls have values in common (who is sent to is received from, too). What is one row on both sides,
// or one order, is looked at and merged once: the left row is changed where it lies, for all that have it.
#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include "trace/code/plain_class.h"
#include "trace/merge/class_merge.h"
#include "trace/model/class_checks.h"
#include "trace/model/row_merge.h"

namespace cairn::trace {
namespace {

using grammar::Grammar;

constexpr size_t kOrder = 256;  // bytes that most take

/// Rows join those that they are alike, from where they lie.
class PlainRowMerge {
 public:
  explicit PlainRowMerge(const Interleave &order) : merge_(order) {}
  /// As RowMerge::merge_alike.
  void add(RowPointer *left, const PlainRows::View &right, long owners) {
    columns_.clear();
    for (const PlainRows::VariedPlace &place : right.varied()) columns_.push_back({place.slot, right.column(place)});
    merge_.merge_alike(left, right.atoms(), columns_, owners);
  }

 private:
  RowMerge merge_;
  std::vector<RowMerge::Varied> columns_;  ///< of the row; kept for its room
};

/// Orders of streams on both sides.
class OrderPairs {
 public:
  bool alike(const Grammar *left, ByteView right, uint32_t number) {
    uint32_t known = 0;
    const bool fresh = lefts_.add(left, &known);
    if (!fresh && right_of_[known] == number) return true;
    if (!is_written_so(*left, right)) return false;
    if (fresh) right_of_.push_back(number);
    return true;
  }
  bool is_written_so(const Grammar &grammar, ByteView bytes) {
    scratch_.clear();
    grammar.write(scratch_);
    return std::ranges::equal(scratch_.view(), bytes);
  }

 private:
  PointerNumbering lefts_;
  std::vector<uint32_t> right_of_;
  ByteWriter scratch_{kOrder};
};

/// Values of streams on both sides.
class ValuePairs {
 public:
  /// At most so many values.
  ValuePairs(const PlainRows &right, size_t values) : right_(right) {
    lefts_.reserve(std::min(values, kFew));
    pairs_.reserve(std::min(values, kFew));
    again_.reserve(values);
  }

  /// Whether the values of a stream look alike. A left row that stands for several right ones comes apart.
  bool add(std::vector<RowPointer> *left, PlainRows::Range right) {
    if (left->size() != right.count) return false;
    for (size_t i = 0; i < left->size(); ++i) {
      if (!add(&(*left)[i], right.first + i)) return false;
    }
    return true;
  }

  void merge(PlainRowMerge *rows) {
    for (const Pair &pair : pairs_) rows->add(pair.left, right_.at(pair.right), pair.times);
    for (const auto &[again, pair] : again_) {
      if (*again != *pairs_[pair].left) *again = *pairs_[pair].left;
    }
  }

 private:
  static constexpr size_t kFew = 32;
  struct Pair {
    RowPointer *left;
    size_t right;  ///< a place
    long times;    ///< that it was seen
  };

  bool add(RowPointer *left, size_t right) {
    uint32_t number = 0;
    if (!lefts_.add(left->get(), &number)) {
      Pair &known = pairs_[number];
      if (right_.row_at(known.right) == right_.row_at(right)) {
        ++known.times;
        again_.emplace_back(left, number);
        return true;
      }
      *left = std::make_shared<ClassRow>(**left);
      lefts_.add(left->get(), &number);
    }
    pairs_.push_back({left, right, 1});
    return right_.at(right).is_alike(**left);
  }

  const PlainRows &right_;
  PointerNumbering lefts_;
  std::vector<Pair> pairs_;
  std::vector<std::pair<RowPointer *, uint32_t>> again_;  ///< what else has a pair's left row
};

bool all_alike(const std::vector<RowPointer> &left, const PlainRows &rows, PlainRows::Range right) {
  if (left.size() != right.count) return false;
  for (size_t i = 0; i < left.size(); ++i) {
    if (!rows.at(right.first + i).is_alike(*left[i])) return false;
  }
  return true;
}

/// All that keys are made of is the same, and all shapes of values.
bool alike(ClassPart *left, const ClassHead &head, const PlainClass &right, ValuePairs *values) {
  if (left->thread != head.thread || left->segment != head.segment || left->skeleton != head.skeleton ||
      left->sites != head.sites || left->stats.empty() != right.stats.empty() ||
      left->streams.size() != right.streams.size()) {
    return false;
  }
  if (!right.interleaving.empty()) return false;
  OrderPairs orders;
  if (!all_alike(left->rows, right.all_rows, right.rows) || !orders.is_written_so(*left->calls, right.calls)) {
    return false;
  }
  const auto are_alike = [&](Stream *stream, const PlainStream &other) {
    if (stream->group != other.group || stream->field != other.field || stream->variants.size() != 1 ||
        other.variants != 1) {
      return false;
    }
    StreamVariant &l = stream->variants[0];
    const PlainVariant &r = right.variants[other.variant];
    return l.differences == r.differences && orders.alike(l.order.get(), right.orders[r.order], r.order) &&
           values->add(&l.values, r.values);
  };
  for (size_t i = 0; i < left->streams.size(); ++i) {
    if (!are_alike(&left->streams[i], right.streams[i])) return false;
  }
  if (left->heap.variants.empty() && right.heap.variants == 0) return true;
  return are_alike(&left->heap, right.heap);
}

}  // namespace

Result<bool> merge_plain(ClassPart *left, ClassHead *head, PlainClass *right) {
  ValuePairs values(right->all_rows, right->all_rows.places() - right->rows.count);
  if (!alike(left, *head, *right, &values)) return false;
  const std::optional<Interleave> order = Interleave::of(left->ranks, head->ranks);
  if (!order) return fail(ErrorKind::unreadable, "the same rank and thread is in both of two parts");
  PlainRowMerge merge(*order);
  for (size_t i = 0; i < left->rows.size(); ++i)
    merge.add(&left->rows[i], right->all_rows.at(right->rows.first + i), 1);
  values.merge(&merge);
  const uint64_t members = head->ranks.size();
  Result<void> merged = merge_what_is_of_each(left, head,
                                              {std::move(right->stats), std::move(right->begin_ns),
                                               FoldColumn::constant(0, members), ValuesColumn::constant({}, members)},
                                              *order);
  if (!merged) return tl::unexpected(merged.error());
  for (Stream &stream : left->streams) stream.variants[0].ranks = left->ranks;
  for (StreamVariant &variant : left->heap.variants) variant.ranks = left->ranks;
  assert(is_sound(*left));
  return true;
}

}  // namespace cairn::trace
