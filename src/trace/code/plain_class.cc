#include "trace/code/plain_class.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "trace/code/class_reader.h"
#include "trace/code/class_writer.h"
#include "trace/model/class_checks.h"
#include "trace/model/class_heap.h"

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
    block.rows.write(out);
    for (const timing::RankStats &slot : block.slots) slot.write(out, 0);
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
    for (size_t slots_with_rows = in.count(); slots_with_rows != 0; --slots_with_rows) {
      if (!block.rows.read(in, rows)) return false;
    }
    const size_t slots = block.rows.empty() ? rows : block.rows.size();
    if (slots > in.remaining()) return false;
    block.slots.reserve(slots);
    for (size_t slot = 0; slot < slots && !in.failed(); ++slot) block.slots.push_back(timing::RankStats::parse(in, 0));
  }
  return !in.failed() && (ranks.size() < 2 || is_partition(members, ranks));
}

std::vector<RowPointer> taken(std::vector<RowPointer> *all, PlainRows::Range range) {
  const auto first = all->begin() + range.first;
  return {std::make_move_iterator(first), std::make_move_iterator(first + range.count)};
}

}  // namespace

void write_plain(const ClassPart &part, ByteWriter &out) {
  ByteWriter scratch(kGrammar);
  write_grammar(*part.calls, &scratch, out);
  PlainRowsWriter rows(part.rows.size() + value_count(part.streams) + value_count({&part.heap, 1}), &out);
  rows.write(part.rows);
  PointerNumbering orders;
  const auto write_variants = [&](const Stream &stream) {
    out.varint(stream.variants.size());
    for (const StreamVariant &variant : stream.variants) {
      if (stream.variants.size() > 1) variant.ranks.column().write(out);
      out.byte(variant.differences ? 1 : 0);
      uint32_t number = 0;
      const bool fresh = orders.add(variant.order.get(), &number);
      out.varint(fresh ? 0 : number + 1);
      if (fresh) write_grammar(*variant.order, &scratch, out);
      rows.write_values(variant.values);
    }
  };
  out.varint(part.streams.size());
  for (const Stream &stream : part.streams) {
    out.varint(stream.group);
    out.varint(stream.field);
    write_variants(stream);
  }
  write_variants(part.heap);
  write_stats(part.stats, out);
  part.begin_ns.write(out);
  scratch.clear();
  if (!has_no_order(part)) write_order(part, scratch);
  out.blob(scratch.view());
}

bool PlainClass::read_stream(ByteReader &in, const RankSet &members, PlainStream *out) {
  out->variant = variants.size();
  out->variants = in.count(3);
  for (size_t i = 0; i < out->variants; ++i) {
    if (!read_variant(in, members, out->variants == 1)) return false;
  }
  return true;
}

bool PlainClass::read_variant(ByteReader &in, const RankSet &members, bool alone) {
  PlainVariant &variant = variants.emplace_back();
  if (!alone && !read_ranks(in, &variant.ranks)) return false;
  variant.differences = in.byte() != 0;
  const uint64_t again = in.varint();
  if (again > orders.size()) return false;
  if (again == 0) orders.push_back(in.blob());
  variant.order = static_cast<uint32_t>(again == 0 ? orders.size() - 1 : again - 1);
  return all_rows.read_values(in, alone ? members.size() : variant.ranks.size(), &variant.values);
}

bool PlainClass::read(ByteView bytes, const ClassHead &head) {
  ByteReader in(bytes);
  const uint64_t members = head.ranks.size();
  calls = in.blob();
  all_rows.begin(in);
  if (!all_rows.read(in, members, head.sites.size(), &rows)) return false;
  streams.resize(in.count(4));
  variants.reserve(streams.size());
  for (PlainStream &stream : streams) {
    const uint64_t group = in.varint();
    const uint64_t field = in.varint();
    if (std::max(group, field) > UINT32_MAX) return false;
    stream.group = static_cast<uint32_t>(group);
    stream.field = static_cast<uint32_t>(field);
    if (!read_stream(in, head.ranks, &stream)) return false;
  }
  heap.group = kHeapGroup;
  if (!read_stream(in, head.ranks, &heap)) return false;
  if (!read_stats(in, head.ranks, rows.count, &stats)) return false;
  begin_ns = FoldColumn::parse(in, FoldColumn::Domain::atoms);
  interleaving = in.blob();
  return !in.failed() && in.at_end() && begin_ns.size() == members;
}

const char *PlainClass::made(ClassHead head, ClassPart *part) {
  static_cast<ClassHead &>(*part) = std::move(head);
  std::vector<RowPointer> all = all_rows.made();
  part->rows = taken(&all, rows);
  part->calls = grammar_of(calls, part->rows.size());
  if (part->calls == nullptr) return "has a malformed grammar";
  std::vector<GrammarPointer> known(orders.size());
  const auto made_of = [&](const PlainStream &plain, Stream *stream) {
    *stream = {plain.group, plain.field, {}};
    for (size_t i = 0; i < plain.variants; ++i) {
      PlainVariant &variant = variants[plain.variant + i];
      std::vector<RowPointer> values = taken(&all, variant.values);
      GrammarPointer &order = known[variant.order];
      if (order == nullptr) order = grammar_of(orders[variant.order], values.size());
      if (order == nullptr || symbols_of(*order) != values.size()) return false;
      stream->variants.push_back({variant.ranks.empty() ? part->ranks : std::move(variant.ranks),
                                  variant.differences,
                                  order,
                                  std::move(values),
                                  {}});
      stream->variants.back().set_key();
    }
    return true;
  };
  std::vector<Stream> made(streams.size());
  for (size_t i = 0; i < made.size(); ++i) {
    if (!made_of(streams[i], &made[i])) return "has a stream with a malformed grammar";
  }
  if (!made_of(heap, &part->heap)) return "has a malformed grammar of heap segments";
  if (!made.empty()) {
    const StreamCheck check(*part);
    for (size_t i = 0; i < made.size(); ++i) {
      if (const char *wrong = check.wrong(made[i], i == 0 ? nullptr : &made[i - 1]); wrong != nullptr) return wrong;
    }
  }
  part->streams = std::move(made);
  if (!has_what_moved(*part)) return "does not hold the fields that have moved out of its rows";
  if (const char *wrong = what_is_wrong_with_heap(*part); wrong != nullptr) return wrong;
  part->stats = std::move(stats);
  part->begin_ns = std::move(begin_ns);
  ClassReader::no_order(part);
  ByteReader in(interleaving);
  ClassReader reader;
  const bool sound = interleaving.empty() || (reader.order(in, part) && !in.failed() && in.at_end());
  return sound ? nullptr : "has a malformed order";
}

}  // namespace cairn::trace
