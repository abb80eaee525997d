#include "trace/merge/class_merge.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <set>
#include <utility>

#include "grammar/product.h"
#include "trace/fold/streams.h"
#include "trace/model/class_checks.h"
#include "trace/model/class_heap.h"
#include "trace/model/row_merge.h"

namespace cairn::trace {
namespace {

using grammar::Grammar;
using grammar::Symbol;

constexpr size_t kProductSteps = 256;  // and four a term of the longer side

Result<void> merge_stats(ClassPart *left, std::vector<StatsBlock> right) {
  for (StatsBlock &block : right) {
    const auto alike = std::find_if(left->stats.begin(), left->stats.end(), [&](const StatsBlock &other) {
      return other.slots.size() == block.slots.size() && other.rows == block.rows;
    });
    if (alike == left->stats.end()) {
      left->stats.push_back(std::move(block));
      continue;
    }
    const std::optional<Interleave> order = Interleave::of(alike->ranks, block.ranks);
    if (!order) return fail(ErrorKind::unreadable, "a rank has statistics twice");
    for (size_t i = 0; i < block.slots.size(); ++i) alike->slots[i].merge(block.slots[i]);
    alike->ranks = order->merged(std::move(alike->ranks), block.ranks);
  }
  std::sort(left->stats.begin(), left->stats.end(),
            [](const StatsBlock &a, const StatsBlock &b) { return a.ranks.front() < b.ranks.front(); });
  return {};
}

Result<void> merge_heap(ClassPart *left, ClassPart *right) {
  if (left->heap.variants.empty() && right->heap.variants.empty()) return {};
  tell_no_heap(left->ranks, &left->heap);
  tell_no_heap(right->ranks, &right->heap);
  return merge_stream(&left->heap, std::move(right->heap));
}

/// Group and field of all streams.
std::map<uint32_t, std::set<uint32_t>> moved_fields(const ClassPart &part) {
  std::map<uint32_t, std::set<uint32_t>> moved;
  for (const Stream &stream : part.streams) moved[stream.group].insert(stream.field);
  return moved;
}

std::vector<MovedFields> as_moves(const std::map<uint32_t, std::set<uint32_t>> &fields) {
  std::vector<MovedFields> moves;
  moves.reserve(fields.size());
  for (const auto &[group, set] : fields) moves.push_back({group, {set.begin(), set.end()}});
  return moves;
}

bool have_same_streams(const ClassPart &left, const ClassPart &right) {
  return std::equal(left.streams.begin(), left.streams.end(), right.streams.begin(), right.streams.end(),
                    [](const Stream &a, const Stream &b) { return a.group == b.group && a.field == b.field; });
}

bool alike(const ClassPart &left, const ClassPart &right) {
  return left.rows.size() == right.rows.size() && left.calls->sequence_hash() == right.calls->sequence_hash();
}

/// Replaces the rows by those that `of` names for each symbol of `calls`.
void take_rows(const GrammarPointer &calls, const std::vector<Symbol> &of, ClassPart *part) {
  std::vector<std::vector<uint32_t>> became(part->rows.size());
  std::vector<RowPointer> rows;
  rows.reserve(of.size());
  for (uint32_t i = 0; i < of.size(); ++i) {
    rows.push_back(part->rows[of[i]]);
    became[of[i]].push_back(i);
  }
  const SlotRows rows_of_old = SlotRows::of(became);
  for (StatsBlock &block : part->stats) block.remap(rows_of_old, rows.size());
  part->rows = std::move(rows);
  part->calls = calls;
}

bool refine(ClassPart *left, ClassPart *right) {
  const size_t terms = std::max(term_count(*left->calls), term_count(*right->calls));
  const auto found = product(*left->calls, *right->calls, kProductSteps + 4 * terms);
  if (!found || found->of.size() > 16 + 2 * std::max(left->rows.size(), right->rows.size())) return false;
  const auto calls = std::make_shared<const Grammar>(found->pairs);
  std::vector<Symbol> lefts;
  std::vector<Symbol> rights;
  for (const auto &[l, r] : found->of) {
    lefts.push_back(l);
    rights.push_back(r);
  }
  take_rows(calls, lefts, left);
  take_rows(calls, rights, right);
  return true;
}

/// All fields that vary, of the groups whose rows do not stand at the same places on both sides.
std::vector<MovedFields> fields_that_differ(const ClassPart &left, const ClassPart &right) {
  const RowGroups left_groups(left.rows);
  const RowGroups right_groups(right.rows);
  std::map<uint32_t, std::set<uint32_t>> fields;
  for (uint32_t group = 0; group < left_groups.count(); ++group) {
    const auto order = [group](const ClassPart &part, const RowGroups &groups) {
      std::vector<Symbol> old;
      return renumbered(part.calls->projected([&](Symbol row) { return groups.of_row[row] == group; }), &old)
          .sequence_hash();
    };
    if (order(left, left_groups) == order(right, right_groups)) continue;
    std::set<uint32_t> &set = fields[group];
    for (const uint32_t field : varying_fields(left, left_groups, group)) set.insert(field);
    for (const uint32_t field : varying_fields(right, right_groups, group)) set.insert(field);
  }
  return as_moves(fields);
}

}  // namespace

Result<void> merge_class(ClassPart *left, ClassPart right) {
  const std::optional<Interleave> order = Interleave::of(left->ranks, right.ranks);
  if (!order) return fail(ErrorKind::unreadable, "the same rank and thread is in both of two parts");
  if (left->rows.size() != right.rows.size() || left->stats.empty() != right.stats.empty() ||
      !have_same_streams(*left, right)) {
    return fail(ErrorKind::unreadable, "two parts disagree on the rows of a class");
  }
  std::vector<RowPointer> rows;
  rows.reserve(left->rows.size());
  RowMerge merge_rows(*order);
  for (size_t i = 0; i < left->rows.size(); ++i) {
    Result<RowPointer> row = merge_rows(std::move(left->rows[i]), right.rows[i]);
    if (!row) return tl::unexpected(row.error());
    rows.push_back(*std::move(row));
  }
  left->rows = std::move(rows);
  Result<void> merged;
  for (size_t i = 0; i < left->streams.size(); ++i) {
    merged = merge_stream(&left->streams[i], std::move(right.streams[i]));
    if (!merged) return merged;
  }
  if (merged = merge_heap(left, &right); !merged) return merged;
  merged = merge_what_is_of_each(
      left, &right,
      {std::move(right.stats), std::move(right.begin_ns), std::move(right.first_ticket), std::move(right.order)},
      *order);
  assert(!merged || is_sound(*left));
  return merged;
}

Result<void> merge_what_is_of_each(ClassPart *left, ClassHead *head, OfEach right, const Interleave &order) {
  Result<void> merged = merge_stats(left, std::move(right.stats));
  if (!merged) return merged;
  timing::merge(&left->times, std::move(head->times));
  left->begin_ns = order.merged(std::move(left->begin_ns), right.begin_ns);
  left->first_ticket = order.merged(std::move(left->first_ticket), right.first_ticket);
  left->order = ValuesColumn::merged(std::move(left->order), std::move(right.order), order);
  left->ranks = order.merged(std::move(left->ranks), head->ranks);
  assert(left->begin_ns.size() == left->ranks.size() && left->first_ticket.size() == left->ranks.size());
  return {};
}

bool unify(ClassPart *left, ClassPart *right) {
  if (!have_same_streams(*left, *right)) {
    const auto left_moved = moved_fields(*left);
    const auto right_moved = moved_fields(*right);
    move_out(as_moves(right_moved), left);
    move_out(as_moves(left_moved), right);
  }
  if (alike(*left, *right) || refine(left, right)) return true;
  const std::vector<MovedFields> moves = fields_that_differ(*left, *right);
  move_out(moves, left);
  move_out(moves, right);
  assert(is_sound(*left) && is_sound(*right));
  return alike(*left, *right);
}

}  // namespace cairn::trace
