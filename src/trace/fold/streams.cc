#include "trace/fold/streams.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "grammar/product.h"
#include "trace/model/row_merge.h"
#include "trace/values/numbering.h"

namespace cairn::trace {
namespace {

using grammar::Grammar;
using grammar::Symbol;

constexpr size_t kProductSteps = 64;  // and four a term of the longer side
constexpr size_t kMostRefined = 4;    // variants that a new one is tried against: random values have one a rank
constexpr size_t kMostAlone = 64;     // variants that the finest need not tell apart before no more are tried

uint64_t content_hash(const RowKind &kind, const std::vector<FieldHead> &heads, const std::vector<Atom> &atoms) {
  uint64_t hash =
      hash64({reinterpret_cast<const uint8_t *>(atoms.data()), atoms.size() * sizeof(Atom)}, number_of(kind));
  for (const FieldHead &head : heads) hash = hash * 0x9E3779B97F4A7C15ULL + (uint64_t{head.count} << 2 | head.kind);
  return hash;
}

/// Hash of what `same` compares, but for columns.
uint64_t content_hash(const ClassRow &row) {
  uint64_t hash = content_hash(row.kind, row.heads, row.atoms);
  for (const Bytes &text : row.texts) hash = hash64(text, hash);
  return hash;
}

/// Numbers rows that look the same alike.
class DistinctRows {
 public:
  uint32_t number(RowPointer row) {
    const uint32_t number = known_.number(content_hash(*row), [&](uint32_t other) { return rows_[other]->same(*row); });
    if (number == rows_.size()) rows_.push_back(std::move(row));
    return number;
  }
  /// Of the row after these fields have moved, which is mostly one that is known, and then is not made.
  uint32_t number_without(const ClassRow &row, const std::vector<uint32_t> &gone) {
    if (!row.is_plain()) return number(without_fields(row, gone));
    heads_ = row.heads;
    atoms_.clear();
    size_t slot = 0;
    auto next = gone.begin();
    for (uint32_t field = 0; field < heads_.size(); ++field) {
      const size_t end = slot + heads_[field].count;
      if (next != gone.end() && *next == field) {
        ++next;
        heads_[field] = {FieldHead::moved, 0};
      } else {
        atoms_.insert(atoms_.end(), row.atoms.data() + slot, row.atoms.data() + end);
      }
      slot = end;
    }
    const uint32_t number = known_.number(content_hash(row.kind, heads_, atoms_), [&](uint32_t other) {
      const ClassRow &known = *rows_[other];
      return known.function == row.function && known.site == row.site && known.depth == row.depth &&
             known.kind == row.kind && known.heads == heads_ && known.atoms == atoms_ && known.is_plain();
    });
    if (number == rows_.size()) rows_.push_back(without_fields(row, gone));
    return number;
  }
  [[nodiscard]] const std::vector<RowPointer> &rows() const { return rows_; }

 private:
  Numbering known_;
  std::vector<RowPointer> rows_;
  std::vector<FieldHead> heads_;  ///< of the row that is numbered
  std::vector<Atom> atoms_;
};

/// `grammar` over `rows` with symbols in order of first occurrence.
std::pair<Grammar, std::vector<RowPointer>> in_order(Grammar grammar, const std::vector<RowPointer> &rows) {
  std::vector<Symbol> old;
  Grammar result = renumbered(std::move(grammar), &old);
  std::vector<RowPointer> ordered;
  ordered.reserve(old.size());
  for (const Symbol symbol : old) ordered.push_back(rows[symbol]);
  return {std::move(result), std::move(ordered)};
}

/// Values that look the same, and orders, become one: calls that exchange with the same neighbours have them in common,
/// and a merge looks at each once (plain_merge.cc). Classes of more values do not travel so.
void share(std::vector<Stream> *streams) {
  constexpr size_t kMost = 1024;
  if (value_count(*streams) > kMost) return;
  DistinctRows distinct;
  Numbering known;
  std::vector<GrammarPointer> orders;
  for (Stream &stream : *streams) {
    for (StreamVariant &variant : stream.variants) {
      for (RowPointer &value : variant.values) value = distinct.rows()[distinct.number(value)];
      const uint32_t number = known.number(variant.order->sequence_hash().low,
                                           [&](uint32_t other) { return *orders[other] == *variant.order; });
      if (number == orders.size()) orders.push_back(variant.order);
      variant.order = orders[number];
    }
  }
}

Stream taken_out(const ClassPart &part, const Grammar &projected, const std::vector<uint32_t> &members, uint32_t group,
                 uint32_t field) {
  DistinctRows values;
  std::unordered_map<Symbol, Symbol> value_of;
  for (const uint32_t row : members) value_of[row] = values.number(only_field(*part.rows[row], field));
  Grammar mapped = projected.mapped([&](Symbol row) { return value_of.at(row); });
  const uint64_t most = worth_parsing(mapped);
  auto [order, ordered] = in_order(reparsed(std::move(mapped), most), values.rows());
  Stream stream{group, field, {}};
  stream.variants.push_back(
      {part.ranks, false, std::make_shared<const Grammar>(std::move(order)), std::move(ordered), {}});
  stream.variants.back().set_key();
  return stream;
}

bool before(const Stream &a, const Stream &b) { return std::pair(a.group, a.field) < std::pair(b.group, b.field); }

Result<void> merge_variant(StreamVariant *left, const StreamVariant &right) {
  const std::optional<Interleave> order = Interleave::of(left->ranks, right.ranks);
  if (!order) return fail(ErrorKind::unreadable, "a rank is in two variants of a stream");
  std::vector<RowPointer> values;
  values.reserve(left->values.size());
  RowMerge merge_rows(*order);
  for (size_t i = 0; i < left->values.size(); ++i) {
    Result<RowPointer> merged = merge_rows(std::move(left->values[i]), right.values[i]);
    if (!merged) return tl::unexpected(merged.error());
    values.push_back(*std::move(merged));
  }
  left->values = std::move(values);
  left->ranks = order->merged(std::move(left->ranks), right.ranks);
  return {};
}

bool coarser(const StreamVariant &a, const StreamVariant &b) { return a.values.size() < b.values.size(); }

/// Gives both variants one structure, if that is hardly larger than theirs.
bool refine(StreamVariant *left, StreamVariant *right) {
  const size_t terms = std::max(term_count(*left->order), term_count(*right->order));
  const auto found = product(*left->order, *right->order, kProductSteps + 4 * terms);
  if (!found) return false;
  if (found->of.size() > 8 + 2 * std::max(left->values.size(), right->values.size())) return false;
  std::vector<RowPointer> lefts;
  std::vector<RowPointer> rights;
  for (const auto &[l, r] : found->of) {
    lefts.push_back(left->values[l]);
    rights.push_back(right->values[r]);
  }
  left->values = std::move(lefts);
  right->values = std::move(rights);
  left->order = right->order = std::make_shared<const Grammar>(found->pairs);
  left->set_key();
  right->key = left->key;
  return true;
}

/// Gives `coarse` the structure of `fine`, if that tells apart all that its own does.
bool refine_to(const StreamVariant &fine, StreamVariant *coarse) {
  if (coarse->differences != fine.differences || coarse->values.size() > fine.values.size()) return false;
  const auto of = coarsening(*fine.order, *coarse->order, worth_parsing(*fine.order));
  if (!of) return false;
  std::vector<RowPointer> values;
  values.reserve(of->size());
  for (const Symbol symbol : *of) values.push_back(coarse->values[symbol]);
  coarse->values = std::move(values);
  coarse->order = fine.order;
  coarse->key = fine.key;
  return true;
}

/// What found no partner when it was merged may be told apart by the finest variant by now: then it becomes part of
/// that.
Result<void> absorb(std::vector<StreamVariant> *variants) {
  if (variants->size() < 2) return {};
  std::iter_swap(variants->begin(), std::max_element(variants->begin(), variants->end(), coarser));
  StreamVariant &finest = variants->front();
  size_t failed = 0;
  for (size_t i = 1; i < variants->size() && failed < kMostAlone;) {
    StreamVariant &variant = (*variants)[i];
    if (!refine_to(finest, &variant)) {
      ++failed;
      ++i;
      continue;
    }
    Result<void> merged = merge_variant(&finest, variant);
    if (!merged) return merged;
    if (i + 1 != variants->size()) variant = std::move(variants->back());
    variants->pop_back();
  }
  return {};
}

}  // namespace

uint64_t worth_parsing(const Grammar &grammar) { return 4096 + 32 * static_cast<uint64_t>(term_count(grammar)); }

std::vector<uint32_t> varying_fields(const ClassPart &part, const RowGroups &groups, uint32_t group) {
  std::vector<uint32_t> members;
  for (uint32_t row = groups.first_row[group]; row < part.rows.size(); ++row) {
    if (groups.of_row[row] == group) members.push_back(row);
  }
  return varying_fields(part, members);
}

std::vector<uint32_t> varying_fields(const ClassPart &part, const std::vector<uint32_t> &members) {
  const ClassRow &first = *part.rows[members[0]];
  std::vector<bool> differs(first.heads.size());
  for (const uint32_t row : members) mark_differing(first, *part.rows[row], &differs);
  std::vector<uint32_t> fields;
  for (uint32_t f = 0; f < differs.size(); ++f) {
    if (differs[f]) fields.push_back(f);
  }
  return fields;
}

std::vector<Stream> streams_of(const MovedFields &move, const RowGroups &groups, const ClassPart &part) {
  std::vector<uint32_t> members;
  for (uint32_t row = 0; row < part.rows.size(); ++row) {
    if (groups.of_row[row] == move.group) members.push_back(row);
  }
  const Grammar projected = part.calls->projected([&](Symbol row) { return groups.of_row[row] == move.group; });
  std::vector<Stream> streams;
  for (const uint32_t field : move.fields) {
    streams.push_back(taken_out(part, projected, members, move.group, field));
  }
  return streams;
}

void move_out(const std::vector<MovedFields> &moves, ClassPart *part, Parse parse) {
  const RowGroups groups(part->rows);
  std::vector<MovedFields> left;
  std::vector<Stream> streams;
  for (const MovedFields &move : moves) {
    const ClassRow &first = *part->rows[groups.first_row[move.group]];
    MovedFields staying = move;
    std::erase_if(staying.fields, [&](uint32_t field) { return first.heads[field].kind == FieldHead::moved; });
    if (staying.fields.empty()) continue;
    for (Stream &stream : streams_of(staying, groups, *part)) streams.push_back(std::move(stream));
    left.push_back(std::move(staying));
  }
  move_out(left, std::move(streams), part, parse);
}

void move_out(const std::vector<MovedFields> &moves, std::vector<Stream> streams, ClassPart *part, Parse parse) {
  const RowGroups groups(part->rows);
  std::vector<const std::vector<uint32_t> *> gone(groups.count(), nullptr);
  for (const MovedFields &move : moves) gone[move.group] = &move.fields;
  for (Stream &stream : streams) part->streams.push_back(std::move(stream));
  std::sort(part->streams.begin(), part->streams.end(), before);
  share(&part->streams);

  // Most rows of a group are the same then: they go as they come.
  DistinctRows distinct;
  std::vector<uint32_t> number;
  number.reserve(part->rows.size());
  for (uint32_t row = 0; row < part->rows.size(); ++row) {
    const std::vector<uint32_t> *fields = gone[groups.of_row[row]];
    const RowPointer &whole = part->rows[row];
    number.push_back(fields == nullptr ? distinct.number(whole) : distinct.number_without(*whole, *fields));
  }
  Grammar calls = part->calls->mapped([&number](Symbol row) { return number[row]; });
  const uint64_t most = worth_parsing(calls);
  if (parse == Parse::now) calls = reparsed(std::move(calls), most);
  std::vector<Symbol> old;
  part->calls = std::make_shared<const Grammar>(renumbered(std::move(calls), &old));
  std::vector<uint32_t> place(distinct.rows().size(), grammar::kNoSymbol);
  std::vector<RowPointer> rows;  // not in the old ones' memory: a root that talks to everyone had a row for each rank
  rows.reserve(old.size());
  for (const Symbol symbol : old) {
    place[symbol] = static_cast<uint32_t>(rows.size());
    rows.push_back(distinct.rows()[symbol]);
  }
  part->rows = std::move(rows);
  SlotRows rows_of_old;
  rows_of_old.reserve(number.size());
  for (const uint32_t n : number) {
    const bool stands = place[n] != grammar::kNoSymbol;
    rows_of_old.add(stands ? std::span<const uint32_t>(&place[n], 1) : std::span<const uint32_t>());
  }
  for (StatsBlock &block : part->stats) block.remap(rows_of_old, part->rows.size());
}

Result<void> merge_stream(Stream *left, Stream right) {
  // Those that tell most values apart first: others are likely to become one with them.
  const auto finer = [](const StreamVariant &a, const StreamVariant &b) { return coarser(b, a); };
  std::stable_sort(left->variants.begin(), left->variants.end(), finer);
  std::stable_sort(right.variants.begin(), right.variants.end(), finer);
  std::unordered_map<Hash128, size_t, HashOf128> known;
  for (size_t i = 0; i < left->variants.size(); ++i) known.emplace(left->variants[i].key, i);
  for (StreamVariant &variant : right.variants) {
    if (!left->variants.empty() && !known.contains(variant.key)) refine_to(left->variants[0], &variant);
    auto found = known.find(variant.key);
    for (size_t i = 0; found == known.end() && i < left->variants.size() && i < kMostRefined; ++i) {
      StreamVariant &other = left->variants[i];
      if (other.differences != variant.differences) continue;
      const Hash128 old = other.key;
      if (!refine(&other, &variant)) continue;
      known.erase(old);
      found = known.emplace(other.key, i).first;
    }
    if (found == known.end()) {
      known.emplace(variant.key, left->variants.size());
      left->variants.push_back(std::move(variant));
      continue;
    }
    Result<void> merged = merge_variant(&left->variants[found->second], variant);
    if (!merged) return merged;
  }
  Result<void> absorbed = absorb(&left->variants);
  if (!absorbed) return absorbed;
  std::sort(left->variants.begin(), left->variants.end(),
            [](const StreamVariant &a, const StreamVariant &b) { return a.ranks.front() < b.ranks.front(); });
  return {};
}

}  // namespace cairn::trace
