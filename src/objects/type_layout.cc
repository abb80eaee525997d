#include "objects/type_layout.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "analyze/sizes.h"
#include "base/mpi_abi.h"
#include "spec/ids.h"
#include "spec/spec.h"

namespace cairn::objects {
namespace {

namespace ids = spec::constant_id;
using Item = TypeLayout::Item;

/// Sums and products that remember whether they were too large.
class Checked {
 public:
  int64_t add(int64_t a, int64_t b) {
    int64_t result = 0;
    failed_ = __builtin_add_overflow(a, b, &result) || failed_;
    return result;
  }
  int64_t times(int64_t a, int64_t b) {
    int64_t result = 0;
    failed_ = __builtin_mul_overflow(a, b, &result) || failed_;
    return result;
  }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  bool failed_ = false;
};

/// The bounds of several layouts together.
class Bounds {
 public:
  void add(const TypeLayout &layout, int64_t at, Checked *sum) {
    const bool empty = layout.size == 0;
    if (!empty) {
      take(&true_lower_, sum->add(at, layout.true_lower_bound), false);
      take(&true_upper_, sum->add(at, layout.true_upper_bound), true);
    }
    bound(&lower_, &lower_is_set_, layout.lower_is_set, empty, sum->add(at, layout.lower_bound), false);
    bound(&upper_, &upper_is_set_, layout.upper_is_set, empty, sum->add(at, layout.upper_bound), true);
  }
  void tell(TypeLayout *layout) const {
    layout->true_lower_bound = true_lower_.value_or(0);
    layout->true_upper_bound = true_upper_.value_or(0);
    layout->lower_bound = lower_.value_or(0);
    layout->upper_bound = upper_.value_or(0);
    layout->lower_is_set = lower_is_set_;
    layout->upper_is_set = upper_is_set_;
  }

 private:
  static void take(std::optional<int64_t> *so_far, int64_t value, bool greatest) {
    if (!*so_far || (greatest ? value > **so_far : value < **so_far)) *so_far = value;
  }
  static void bound(std::optional<int64_t> *so_far, bool *is_set, bool sets, bool empty, int64_t value, bool greatest) {
    if (sets && !*is_set) {
      *is_set = true;
      so_far->reset();
    }
    if (*is_set ? sets : !empty) take(so_far, value, greatest);
  }

  std::optional<int64_t> lower_;
  std::optional<int64_t> upper_;
  std::optional<int64_t> true_lower_;
  std::optional<int64_t> true_upper_;
  bool lower_is_set_ = false;
  bool upper_is_set_ = false;
};

/// What it has can be added up and taken from each other.
bool is_near(const TypeLayout &layout) {
  constexpr int64_t kFar = INT64_MAX / 8;
  const auto [least, most] = std::minmax(
      {layout.lower_bound, layout.upper_bound, layout.true_lower_bound, layout.true_upper_bound, layout.size});
  return least >= -kFar && most <= kFar;
}

/// Rounded to minus infinity; `b` is positive.
int64_t floor_of(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

/// Goes into layouts no further than it takes, and not for ever.
class Search {
 public:
  [[nodiscard]] bool gave_up() const { return steps_ > kMostSteps; }

  uint64_t common(const TypeLayout &a, int64_t at, const TypeLayout &b, int64_t there) {
    const int64_t begin = std::max(at + a.true_lower_bound, there + b.true_lower_bound);
    const int64_t end = std::min(at + a.true_upper_bound, there + b.true_upper_bound);
    if (begin >= end || a.size == 0 || b.size == 0) return 0;
    if (++steps_ > kMostSteps) return 0;
    if (a.dense && b.dense) return static_cast<uint64_t>(end - begin);
    if (b.dense && end - begin == a.true_extent()) return static_cast<uint64_t>(a.size);
    if (a.dense && end - begin == b.true_extent()) return static_cast<uint64_t>(b.size);
    if (a.dense || (!b.dense && a.true_extent() < b.true_extent())) return within(b, there, a, at);
    return within(a, at, b, there);
  }

  bool repeats(const TypeLayout &layout) {
    if (layout.dense || gave_up()) return false;
    if (layout.items.size() == 1 && layout.turns == 1) return repeats(*layout.items[0].of);
    int64_t reaches = INT64_MIN;
    for (size_t i = 0; i < layout.items.size(); ++i) {
      const Item &item = layout.items[i];
      if (repeats(*item.of)) return true;
      for (size_t j = i; item.at + item.of->true_lower_bound < reaches && j-- > 0;) {
        ++steps_;
        if (common(*item.of, item.at, *layout.items[j].of, layout.items[j].at) != 0) return true;
        if (gave_up()) return false;
      }
      reaches = std::max(reaches, item.at + item.of->true_upper_bound);
    }
    const int64_t step = layout.stride < 0 ? -layout.stride : layout.stride;
    const int64_t span = layout.turn_upper - layout.turn_lower;
    if (layout.turns > 1 && step == 0) return true;
    for (uint64_t turn = 1; turn < layout.turns && static_cast<int64_t>(turn) * step < span; ++turn) {
      for (const Item &first : layout.items) {
        for (const Item &second : layout.items) {
          if (++steps_ > kMostSteps) return false;
          if (common(*first.of, first.at, *second.of, second.at + static_cast<int64_t>(turn) * step) != 0) return true;
        }
        if (gave_up()) return false;
      }
    }
    return false;
  }

 private:
  static constexpr uint64_t kMostSteps = uint64_t{1} << 18;

  /// Of the turns and items of `a`, those that can have something of `b`.
  uint64_t within(const TypeLayout &a, int64_t at, const TypeLayout &b, int64_t there) {
    const int64_t begin = there + b.true_lower_bound;
    const int64_t end = there + b.true_upper_bound;
    int64_t first = 0;
    int64_t last = static_cast<int64_t>(a.turns) - 1;
    int64_t stride = a.stride;
    if (stride < 0) {
      at += last * stride;
      stride = -stride;
    }
    if (stride > 0) {
      first = std::max<int64_t>(first, floor_of(begin - at - a.turn_upper, stride) + 1);
      last = std::min<int64_t>(last, floor_of(end - at - a.turn_lower - 1, stride));
    }
    uint64_t found = 0;
    for (int64_t turn = first; turn <= last && !gave_up(); ++turn) {
      const int64_t turn_at = at + turn * stride;
      for (const Item &item : a.items) {
        if (turn_at + item.at + item.of->true_lower_bound >= end) break;
        ++steps_;
        found += common(*item.of, turn_at + item.at, b, there);
      }
    }
    return found;
  }

  uint64_t steps_ = 0;
};

/// Two values together, as the C structure has them.
struct PairType {
  uint16_t type;
  int64_t first;
  int64_t second_at;
  int64_t second;
  int64_t extent;
};
constexpr PairType kWithGaps[] = {
    {ids::k_DOUBLE_INT, 8, 8, 4, 16},
    {ids::k_LONG_INT, 8, 8, 4, 16},
    {ids::k_SHORT_INT, 2, 4, 4, 8},
    {ids::k_LONG_DOUBLE_INT, 16, 16, 4, 32},
};

uint32_t alignment_of(uint16_t type, int64_t size) {
  switch (type) {
    case ids::k_LONG_DOUBLE:
    case ids::k_C_LONG_DOUBLE_COMPLEX:
    case ids::k_CXX_LONG_DOUBLE_COMPLEX:
    case ids::k_REAL16:
    case ids::k_COMPLEX32:
      return 16;
    case ids::k_C_COMPLEX:
    case ids::k_C_FLOAT_COMPLEX:
    case ids::k_CXX_FLOAT_COMPLEX:
    case ids::k_COMPLEX:
    case ids::k_COMPLEX8:
    case ids::k_2INT:
    case ids::k_FLOAT_INT:
    case ids::k_2INTEGER:
    case ids::k_2REAL:
    case ids::k_2COMPLEX:
      return 4;
    default:
      return size >= 8 ? 8 : static_cast<uint32_t>(std::max<int64_t>(size, 1));
  }
}

}  // namespace

TypeLayouts::TypeLayouts(const trace::Trace &trace) : resized_stays_(true) {
  const std::string &recorder = trace.run().recorder;  // its last word is the library
  resized_stays_ = !has_mpich_abi(recorder.substr(recorder.rfind(' ') + 1).c_str());
}

const TypeLayout *TypeLayouts::kept(TypeLayout layout) {
  auto &entry = all_[layout];
  if (!entry) entry = std::make_unique<const TypeLayout>(std::move(layout));
  return entry.get();
}

const TypeLayout *TypeLayouts::bytes(int64_t size, uint32_t alignment) {
  TypeLayout layout;
  layout.size = layout.upper_bound = layout.true_upper_bound = size;
  layout.alignment = alignment;
  return kept(layout);
}

const TypeLayout *TypeLayouts::predefined(int constant) {
  const auto all = spec::constants();
  if (constant < 0 || static_cast<size_t>(constant) >= all.size()) return nullptr;
  const auto type = static_cast<uint16_t>(constant);
  if (type == ids::k_LB || type == ids::k_UB) {
    TypeLayout layout;
    layout.lower_is_set = type == ids::k_LB;
    layout.upper_is_set = type == ids::k_UB;
    return kept(layout);
  }
  for (const PairType &pair : kWithGaps) {
    if (pair.type != type) continue;
    const auto alignment = static_cast<uint32_t>(std::max(pair.first, pair.second));
    TypeLayout layout =
        *composed(1, 0, {{0, bytes(pair.first, alignment)}, {pair.second_at, bytes(pair.second, alignment)}}, false);
    layout.upper_bound = pair.extent;
    return kept(layout);
  }
  const auto size = analyze::predefined_size(all[type].name);
  return size && *size != 0 ? bytes(*size, alignment_of(type, *size)) : nullptr;
}

const TypeLayout *TypeLayouts::repeated(int64_t count, int64_t stride, const TypeLayout *of) {
  if (count < 0) return nullptr;
  return composed(static_cast<uint64_t>(count), stride, {{0, of}}, false);
}

const TypeLayout *TypeLayouts::sequence(const std::vector<Item> &items) { return composed(1, 0, items, false); }
const TypeLayout *TypeLayouts::structure(const std::vector<Item> &items) { return composed(1, 0, items, true); }

const TypeLayout *TypeLayouts::resized(const TypeLayout *of, int64_t lower_bound, int64_t extent) {
  if (of == nullptr) return nullptr;
  TypeLayout layout = *of;
  layout.lower_bound = lower_bound;
  if (__builtin_add_overflow(lower_bound, extent, &layout.upper_bound)) return nullptr;
  if (!is_near(layout)) return nullptr;
  layout.lower_is_set = layout.upper_is_set = resized_stays_;
  return kept(std::move(layout));
}

const TypeLayout *TypeLayouts::composed(uint64_t turns, int64_t stride, std::vector<Item> items, bool padded) {
  if (items.size() > kMostItems || turns > static_cast<uint64_t>(INT64_MAX)) return nullptr;
  if (std::any_of(items.begin(), items.end(), [](const Item &item) { return item.of == nullptr; })) return nullptr;
  if (turns == 0) items.clear();
  Checked sum;
  TypeLayout made;
  Bounds turn_bounds;
  for (const Item &item : items) {
    turn_bounds.add(*item.of, item.at, &sum);
    made.size = sum.add(made.size, item.of->size);
    made.alignment = std::max(made.alignment, item.of->alignment);
  }
  TypeLayout turn = made;
  turn_bounds.tell(&turn);
  if (turns > 1) {
    made.size = sum.times(made.size, static_cast<int64_t>(turns));
    Bounds all;
    all.add(turn, 0, &sum);
    all.add(turn, sum.times(static_cast<int64_t>(turns - 1), stride), &sum);
    all.tell(&made);
  } else {
    turn_bounds.tell(&made);
  }
  if (sum.failed() || !is_near(made)) return nullptr;
  if (const int64_t over = made.extent() % made.alignment; padded && !made.upper_is_set && over > 0) {
    made.upper_bound += made.alignment - over;
  }

  // Where the bytes are, whatever the bounds.
  std::erase_if(items, [](const Item &item) { return item.of->size == 0; });
  if (items.empty()) return kept(made);
  for (Item &item : items) {
    if (!item.of->dense) continue;
    item = {item.at + item.of->true_lower_bound, bytes(item.of->size, 1)};
  }
  std::stable_sort(items.begin(), items.end(), [](const Item &a, const Item &b) {
    return a.at + a.of->true_lower_bound < b.at + b.of->true_lower_bound;
  });
  std::vector<Item> joined;
  for (const Item &item : items) {
    Item *last = joined.empty() ? nullptr : &joined.back();
    if (last != nullptr && last->of->dense && item.of->dense && last->at + last->of->size == item.at) {
      last->of = bytes(last->of->size + item.of->size, 1);
    } else {
      joined.push_back(item);
    }
  }
  made.turns = turns;
  made.stride = turns > 1 ? stride : 0;
  made.turn_lower = turn.true_lower_bound;
  made.turn_upper = turn.true_upper_bound;
  const Item first = joined[0];
  if (joined.size() == 1 && first.of->dense && (turns == 1 || stride == first.of->size || stride == -first.of->size)) {
    made.turns = 0;
    made.stride = made.turn_lower = made.turn_upper = 0;
    return kept(made);
  }
  made.dense = false;
  if (joined.size() == 1 && turns == 1) {
    // One that is not dense, elsewhere.
    const TypeLayout &of = *first.of;
    made.turns = of.turns;
    made.stride = of.stride;
    made.turn_lower = of.turn_lower + first.at;
    made.turn_upper = of.turn_upper + first.at;
    joined = of.items;
    for (Item &item : joined) item.at += first.at;
  }
  for (const Item &item : joined) made.depth = std::max(made.depth, item.of->depth + 1);
  if (made.depth > kDeepest) return nullptr;
  made.items = std::move(joined);
  return kept(std::move(made));
}

std::optional<uint64_t> common_bytes(const TypeLayout &first, const TypeLayout &second, int64_t apart) {
  constexpr int64_t kFar = INT64_MAX / 4;
  if (apart > kFar || apart < -kFar) return 0;
  Search search;
  const uint64_t found = search.common(first, 0, second, apart);
  return search.gave_up() ? std::nullopt : std::optional(found);
}

std::optional<bool> repeats_bytes(const TypeLayout &layout) {
  Search search;
  const bool found = search.repeats(layout);
  return !found && search.gave_up() ? std::nullopt : std::optional(found);
}

}  // namespace cairn::objects
