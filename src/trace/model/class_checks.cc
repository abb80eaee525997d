#include "trace/model/class_checks.h"

#include <algorithm>
#include <utility>

#include "trace/model/class_heap.h"

namespace cairn::trace {
namespace {

bool are_counts(const StreamVariant &variant) {
  return !variant.differences && std::all_of(variant.values.begin(), variant.values.end(), [](const RowPointer &row) {
    return row->heads[0] == FieldHead{FieldHead::atoms, 1};
  });
}

}  // namespace

uint64_t symbols_of(const grammar::Grammar &grammar) {
  uint64_t symbols = 0;
  for (const grammar::Body &rule : grammar.rules()) {
    for (const grammar::Term &term : rule) {
      if (!term.is_rule) symbols = std::max<uint64_t>(symbols, uint64_t{term.id} + 1);
    }
  }
  return symbols;
}

bool has_columns_of(const ClassRow &row, uint64_t members) {
  return std::all_of(row.varied.begin(), row.varied.end(),
                     [members](const VariedAtom &varied) { return varied.column->size() == members; }) &&
         std::all_of(row.tables.begin(), row.tables.end(),
                     [members](const TablePointer &table) { return table->size() == members; });
}

StreamCheck::StreamCheck(const ClassPart &part) : part_(part), groups_(part.rows), calls_(groups_.count()) {
  const std::vector<uint64_t> multiplicities = part.calls->multiplicities();
  for (size_t row = 0; row < multiplicities.size(); ++row) calls_[groups_.of_row[row]] += multiplicities[row];
}

const char *StreamCheck::wrong(const Stream &stream, const Stream *before) const {
  const auto [group, field] = std::pair(stream.group, stream.field);
  if (group >= groups_.count() || field >= part_.rows[groups_.first_row[group]]->heads.size()) {
    return "has a stream of a field that does not exist";
  }
  if (before != nullptr && std::pair(before->group, before->field) >= std::pair(group, field)) {
    return "has streams out of order";
  }
  if (stream.variants.empty()) return "has a stream without values";
  std::vector<const RankSet *> ranks;
  for (const StreamVariant &variant : stream.variants) {
    const ClassRow &row = *part_.rows[groups_.first_row[group]];
    if (const char *what = wrong(variant, row, field, calls_[group]); what != nullptr) return what;
    ranks.push_back(&variant.ranks);
  }
  if (ranks.size() > 1 && !is_partition(part_.ranks, ranks)) return "has a stream of other ranks than its class";
  return nullptr;
}

const char *StreamCheck::wrong(const StreamVariant &variant, const ClassRow &row, uint32_t field,
                               uint64_t calls) const {
  // Where draining rows stand for several calls, only a reader of the rank's counts knows how many there are.
  const bool by_call = is_by_call(row, field);
  if (by_call ? variant.order->empty() : variant.order->length() != calls) {
    return "has a stream with another number of values than there are calls";
  }
  for (const RowPointer &value : variant.values) {
    if (value->heads.size() != 1 || value->heads[0].kind == FieldHead::moved) return "has a value of several fields";
    if (!has_columns_of(*value, variant.ranks.size())) return "has a value whose column has the wrong length";
  }
  const bool counts = field == count_field(row) || (by_call && field >= call_fields(row));
  if (counts && !are_counts(variant)) return "has counts that are no numbers";
  return nullptr;
}

/// What the row has is what its fields' heads say.
bool has_its_fields(const ClassRow &row) {
  uint64_t atoms = 0;
  uint64_t texts = 0;
  uint64_t tables = 0;
  for (const FieldHead &head : row.heads) {
    if (head.kind == FieldHead::atoms) atoms += head.count;
    if (head.kind == FieldHead::text) ++texts;
    if (head.kind == FieldHead::table) ++tables;
  }
  return row.atoms.size() == atoms && row.texts.size() == texts && row.tables.size() == tables &&
         fits(row.kind, row.heads);
}

bool has_what_moved(const ClassPart &part) {
  const auto moves = [](const FieldHead &head) { return head.kind == FieldHead::moved; };
  if (part.streams.empty()) {
    return std::none_of(part.rows.begin(), part.rows.end(), [&](const RowPointer &row) {
      return std::any_of(row->heads.begin(), row->heads.end(), moves);
    });
  }
  const RowGroups groups(part.rows);
  std::vector<std::vector<uint32_t>> moved(groups.count());
  for (const Stream &stream : part.streams) moved[stream.group].push_back(stream.field);
  for (size_t i = 0; i < part.rows.size(); ++i) {
    const std::vector<FieldHead> &heads = part.rows[i]->heads;
    const std::vector<uint32_t> &fields = moved[groups.of_row[i]];
    if (static_cast<size_t>(std::count_if(heads.begin(), heads.end(), moves)) != fields.size()) return false;
    if (!std::all_of(fields.begin(), fields.end(), [&](uint32_t field) { return moves(heads[field]); })) return false;
  }
  return true;
}

bool is_sound(const ClassPart &part) {
  const uint64_t members = part.ranks.size();
  for (const RowPointer &row : part.rows) {
    if (row->site > part.sites.size() || !has_its_fields(*row) || !has_columns_of(*row, members)) return false;
  }
  if (symbols_of(*part.calls) > part.rows.size()) return false;
  const StreamCheck check(part);
  const Stream *before = nullptr;
  for (const Stream &stream : part.streams) {
    for (const StreamVariant &variant : stream.variants) {
      if (symbols_of(*variant.order) > variant.values.size()) return false;
    }
    if (check.wrong(stream, std::exchange(before, &stream)) != nullptr) return false;
  }
  if (what_is_wrong_with_heap(part) != nullptr) return false;
  return has_what_moved(part) && part.begin_ns.size() == members && part.first_ticket.size() == members &&
         part.order.size() == members;
}

}  // namespace cairn::trace
