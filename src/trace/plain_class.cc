#include "trace/plain_class.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "trace/class_checks.h"
#include "trace/class_merge.h"
#include "trace/class_reader.h"
#include "trace/row_merge.h"

namespace cairn::trace {
namespace {

using grammar::Grammar;

constexpr size_t kGrammar = 256;  // bytes that most take

void write_grammar(const Grammar &grammar, ByteWriter *scratch, ByteWriter &out) {
  scratch->clear();
  grammar.write(*scratch);
  out.blob(scratch->view());
}

bool read_ranks(ByteReader &in, RankSet *out) {
  std::optional<RankSet> set = RankSet::of(FoldColumn::parse(in, FoldColumn::Domain::atoms));
  if (in.failed() || !set || set->empty()) return false;
  *out = *std::move(set);
  return true;
}

GrammarPointer grammar_of(ByteView bytes, uint64_t symbols) {
  ByteReader in(bytes);
  Result<Grammar> grammar = Grammar::parse(in, symbols);
  if (!grammar || !in.at_end()) return nullptr;
  return std::make_shared<const Grammar>(*std::move(grammar));
}

void write_stats(const std::vector<StatsBlock> &stats, ByteWriter &out) {
  out.varint(stats.size());
  for (const StatsBlock &block : stats) {
    if (stats.size() > 1) block.ranks.column().write(out);
    out.varint(block.rows.size());
    for (const std::vector<uint32_t> &rows : block.rows) write_rows_of_slot(rows, out);
    for (const RankStats &slot : block.slots) slot.write(out, 0);
  }
}

bool read_stats(ByteReader &in, const RankSet &members, size_t rows, std::vector<StatsBlock> *out) {
  out->resize(in.count(2));
  std::vector<const RankSet *> ranks;
  for (StatsBlock &block : *out) {
    if (out->size() == 1) {
      block.ranks = members;
    } else if (!read_ranks(in, &block.ranks)) {
      return false;
    }
    ranks.push_back(&block.ranks);
    block.rows.resize(in.count());
    for (std::vector<uint32_t> &each : block.rows) {
      if (!read_rows_of_slot(in, rows, &each)) return false;
    }
    const size_t slots = block.rows.empty() ? rows : block.rows.size();
    if (slots > in.remaining()) return false;
    block.slots.reserve(slots);
    for (size_t slot = 0; slot < slots && !in.failed(); ++slot) block.slots.push_back(RankStats::parse(in, 0));
  }
  return !in.failed() && (ranks.size() < 2 || is_partition(members, ranks));
}

bool all_alike(const std::vector<RowPointer> &left, const PlainRows &right) {
  if (left.size() != right.size()) return false;
  for (size_t i = 0; i < left.size(); ++i) {
    if (!RowMerge::alike(*left[i], right.at(i))) return false;
  }
  return true;
}

bool is_written_so(const Grammar &grammar, ByteView bytes, ByteWriter *scratch) {
  scratch->clear();
  grammar.write(*scratch);
  return std::ranges::equal(scratch->view(), bytes);
}

bool alike(const Stream &left, const PlainStream &right, ByteWriter *scratch) {
  if (left.group != right.group || left.field != right.field || left.variants.size() != 1 ||
      right.variants.size() != 1) {
    return false;
  }
  const StreamVariant &l = left.variants[0];
  const PlainVariant &r = right.variants[0];
  return l.differences == r.differences && is_written_so(*l.order, r.order, scratch) && all_alike(l.values, r.values);
}

/// All that keys are made of is the same, and all shapes of values.
bool alike(const ClassPart &left, const ClassHead &head, const PlainClass &right) {
  if (left.thread != head.thread || left.segment != head.segment || left.skeleton != head.skeleton ||
      left.sites != head.sites || left.stats.empty() != right.stats.empty() ||
      left.streams.size() != right.streams.size()) {
    return false;
  }
  ByteWriter scratch(kGrammar);
  if (!all_alike(left.rows, right.rows) || !is_written_so(*left.calls, right.calls, &scratch)) return false;
  for (size_t i = 0; i < left.streams.size(); ++i) {
    if (!alike(left.streams[i], right.streams[i], &scratch)) return false;
  }
  return true;
}

void merge_rows(const Interleave &order, const PlainRows &right, std::vector<RowPointer> *left) {
  RowMerge merge(order);
  for (size_t i = 0; i < left->size(); ++i) (*left)[i] = merge(std::move((*left)[i]), right.at(i));
}

}  // namespace

bool can_be_plain(const ClassPart &part) {
  return part.first_ticket.constant_value() == 0 && part.order.values().size() == 1 && part.order.values()[0].empty();
}

void write_plain(const ClassPart &part, ByteWriter &out) {
  ByteWriter scratch(kGrammar);
  write_grammar(*part.calls, &scratch, out);
  write_plain(part.rows, out);
  out.varint(part.streams.size());
  for (const Stream &stream : part.streams) {
    out.varint(stream.group);
    out.varint(stream.field);
    out.varint(stream.variants.size());
    for (const StreamVariant &variant : stream.variants) {
      if (stream.variants.size() > 1) variant.ranks.column().write(out);
      out.byte(variant.differences ? 1 : 0);
      write_grammar(*variant.order, &scratch, out);
      write_plain(variant.values, out);
    }
  }
  write_stats(part.stats, out);
  part.begin_ns.write(out);
}

bool PlainClass::read(ByteView bytes, const ClassHead &head) {
  ByteReader in(bytes);
  const uint64_t members = head.ranks.size();
  calls = in.blob();
  if (!rows.read(in, members, head.sites.size())) return false;
  streams.resize(in.count(4));
  for (PlainStream &stream : streams) {
    const uint64_t group = in.varint();
    const uint64_t field = in.varint();
    if (std::max(group, field) > UINT32_MAX) return false;
    stream.group = static_cast<uint32_t>(group);
    stream.field = static_cast<uint32_t>(field);
    stream.variants.resize(in.count(3));
    for (PlainVariant &variant : stream.variants) {
      if (stream.variants.size() == 1) {
        variant.ranks = head.ranks;
      } else if (!read_ranks(in, &variant.ranks)) {
        return false;
      }
      variant.differences = in.byte() != 0;
      variant.order = in.blob();
      if (!variant.values.read(in, variant.ranks.size(), 0)) return false;
    }
  }
  if (!read_stats(in, head.ranks, rows.size(), &stats)) return false;
  begin_ns = FoldColumn::parse(in, FoldColumn::Domain::atoms);
  return !in.failed() && in.at_end() && begin_ns.size() == members;
}

const char *PlainClass::made(ClassHead head, ClassPart *part) {
  static_cast<ClassHead &>(*part) = std::move(head);
  part->rows = rows.made();
  part->calls = grammar_of(calls, part->rows.size());
  if (part->calls == nullptr) return "has a malformed grammar";
  std::vector<Stream> made;
  for (PlainStream &plain : streams) {
    Stream &stream = made.emplace_back(Stream{plain.group, plain.field, {}});
    for (PlainVariant &variant : plain.variants) {
      std::vector<RowPointer> values = variant.values.made();
      GrammarPointer order = grammar_of(variant.order, values.size());
      if (order == nullptr || symbols_of(*order) != values.size()) return "has a stream with a malformed grammar";
      stream.variants.push_back(
          {std::move(variant.ranks), variant.differences, std::move(order), std::move(values), {}});
      stream.variants.back().set_key();
    }
  }
  if (!made.empty()) {
    const StreamCheck check(*part);
    for (size_t i = 0; i < made.size(); ++i) {
      if (const char *wrong = check.wrong(made[i], i == 0 ? nullptr : &made[i - 1]); wrong != nullptr) return wrong;
    }
  }
  part->streams = std::move(made);
  if (!has_what_moved(*part)) return "does not hold the fields that have moved out of its rows";
  part->stats = std::move(stats);
  part->begin_ns = std::move(begin_ns);
  ClassReader::no_order(part);
  return nullptr;
}

Result<bool> merge_plain(ClassPart *left, ClassHead *head, PlainClass *right) {
  if (!alike(*left, *head, *right)) return false;
  const std::optional<Interleave> order = Interleave::of(left->ranks, head->ranks);
  if (!order) return fail(ErrorKind::unreadable, "the same rank and thread is in both of two parts");
  merge_rows(*order, right->rows, &left->rows);
  for (size_t i = 0; i < left->streams.size(); ++i) {
    StreamVariant &variant = left->streams[i].variants[0];
    merge_rows(*order, right->streams[i].variants[0].values, &variant.values);
    variant.ranks = order->merged(std::move(variant.ranks), head->ranks);
  }
  const uint64_t members = head->ranks.size();
  Result<void> merged = merge_what_is_of_each(left, head,
                                              {std::move(right->stats), std::move(right->begin_ns),
                                               FoldColumn::constant(0, members), ValuesColumn::constant({}, members)},
                                              *order);
  if (!merged) return tl::unexpected(merged.error());
  return true;
}

}  // namespace cairn::trace
