#include "trace/code/class_writer.h"

#include <algorithm>
#include <utility>

namespace cairn::trace {

ClassWriter::ClassWriter(const SiteAtoms *moving, const RankSet &ranks, const std::vector<uint32_t> &site_numbers)
    : site_numbers_(site_numbers), ranks_(pool_.column(ranks.column())) {
  row_writer_.tell_by(moving);
}

void ClassWriter::add(const ClassPart &part) {
  ++classes_;
  rows_.varint(part.thread);
  rows_.varint(static_cast<uint32_t>(part.segment + 1));  // the epilogue is 0
  rows_.varint(grammar_number(*part.calls));
  rows_.varint(pool_.column(part.ranks.column()));
  std::vector<uint32_t> in_trace;
  in_trace.reserve(part.sites.size());
  for (const uint32_t site : part.sites) in_trace.push_back(site_numbers_[site]);
  write_sites(in_trace, rows_);
  rows_of(part);
  streams_of(part);
  heap_of(part);
  order_of(part);
  timing_of(part);
  part.begin_ns.write(begins_);
  pool_.forget_columns();
}

void ClassWriter::rows_of(const ClassPart &part) {
  rows_.varint(part.rows.size());
  if (part.rows.empty()) return;
  RankColumns ranks(part.ranks);
  const SitesOfClass sites(part.sites);
  // New rows and known ones take turns.
  ByteWriter fresh;
  uint64_t fresh_count = 0;
  std::vector<uint32_t> known;
  uint32_t next_known = 0;
  const auto flush_fresh = [&] {
    rows_.varint(fresh_count);
    rows_.raw(fresh.view());
    fresh = {};
    fresh_count = 0;
  };
  const auto flush_known = [&] {
    // Runs of successive numbers, each told against the end of the one before.
    rows_.varint(known.size());
    for (size_t i = 0; i < known.size();) {
      size_t end = i + 1;
      while (end < known.size() && known[end] == known[end - 1] + 1) ++end;
      const auto step = static_cast<int64_t>(known[i]) - static_cast<int64_t>(next_known);
      rows_.varint(zigzag(step) << 1 | (end - i > 1 ? 1U : 0U));
      if (end - i > 1) rows_.varint(end - i - 2);
      next_known = known[end - 1] + 1;
      i = end;
    }
    known.clear();
  };
  bool in_known = false;
  for (const RowPointer &pointer : part.rows) {
    const uint32_t site = site_in_trace(pointer->site, part.sites);
    const size_t position = rows_.size() + fresh.size();
    const RowWriter::Coded coded = row_writer_.code(*pointer, &ranks, site, position);
    const size_t rows_before = known_rows_.size();
    // A site that the class has twice could be found again as its other number.
    Bytes identity = coded.identity(site);
    for (size_t i = rows_before; sites.number(site) != pointer->site; i >>= 8) {
      identity.push_back(static_cast<uint8_t>(i));
      if (i == 0) break;
    }
    const uint32_t number = row_number(coded, *pointer, std::move(identity), position);
    if (number < rows_before) {
      if (!in_known) flush_fresh();
      in_known = true;
      known.push_back(number);
    } else {
      if (in_known) flush_known();
      in_known = false;
      row_writer_.count(coded, position);
      row_writer_.write(coded, site, fresh);
      ++fresh_count;
    }
  }
  if (in_known) flush_known();
  if (!in_known) flush_fresh();
}

uint32_t ClassWriter::row_number(const RowWriter::Coded &coded, const ClassRow &row, Bytes identity, size_t position) {
  constexpr uint8_t kOnceMore = 0xff;
  const uint64_t atoms = row.atoms.size() + row.heads.size();
  for (;; identity.push_back(kOnceMore)) {
    const uint32_t number = known_rows_.number(identity);
    if (number == sites_of_known_.size()) {
      sites_of_known_.push_back(coded.site);
      return number;
    }
    if (sites_of_known_[number] == coded.site || copied_atoms_.add(atoms, position)) return number;
  }
}

uint32_t ClassWriter::grammar_number(const grammar::Grammar &grammar) {
  ByteWriter out;
  grammar.write(out);
  return grammars_.number(out.view());
}

void ClassWriter::streams_of(const ClassPart &part) {
  streams_.varint(part.streams.size());
  for (const Stream &stream : part.streams) {
    any_streams_ = true;
    streams_.varint(stream.group);
    streams_.varint(stream.field);
    streams_.varint(stream.variants.size());
    for (const StreamVariant &each : stream.variants) {
      if (stream.variants.size() > 1) streams_.varint(pool_.column(each.ranks.column()));
      variant(each);
    }
  }
}

void ClassWriter::variant(const StreamVariant &variant) {
  streams_.varint(static_cast<uint64_t>(grammar_number(*variant.order)) << 1 | (variant.differences ? 1U : 0U));
  // Single atoms that all members share are a column themselves, along the table.
  const bool flat = std::all_of(variant.values.begin(), variant.values.end(), [](const RowPointer &row) {
    return row->heads[0] == FieldHead{FieldHead::atoms, 1} && row->varied.empty();
  });
  if (flat) {
    FoldColumn column;
    for (const RowPointer &row : variant.values) column.append(row->atoms[0]);
    streams_.varint(0);
    streams_.varint(pool_.column(column));
    return;
  }
  write_values(variant.values, &stream_writer_, &streams_);
}

void ClassWriter::write_values(const std::vector<RowPointer> &values, RowWriter *writer, ByteWriter *out) {
  out->varint(values.size());
  std::vector<RowWriter::Coded> coded;
  coded.reserve(values.size());
  const size_t position = out->size();
  for (const RowPointer &row : values) {
    coded.push_back(writer->code(*row, nullptr, 0, position));
    writer->count(coded.back(), position);
  }
  for (size_t i = 0; i < coded.size();) {
    writer->write(coded[i], 0, *out);
    size_t end = i + 1;
    while (end < coded.size() && coded[end].follows(coded[end - 1])) ++end;
    // Fewer stay rows.
    if (end - i > 3) {
      writer->write_following(coded[end - 1], end - i - 1, *out);
      i = end;
    } else {
      ++i;
    }
  }
}

void ClassWriter::heap_of(const ClassPart &part) {
  const std::vector<StreamVariant> &variants = part.heap.variants;
  any_heap_ = any_heap_ || !variants.empty();
  heap_.varint(variants.size());
  for (const StreamVariant &variant : variants) {
    if (variants.size() > 1) heap_.varint(pool_.column(variant.ranks.column()));
    write_values(variant.values, &heap_writer_, &heap_);
    if (!variant.values.empty()) heap_.varint(grammar_number(*variant.order));
  }
}

bool has_no_order(const ClassPart &part) {
  return part.first_ticket.constant_value() == 0 && part.order.values().size() == 1 && part.order.values()[0].empty();
}

void write_order(const ClassPart &part, ByteWriter &out) {
  out.byte(has_no_order(part) ? 0 : 1);
  if (has_no_order(part)) return;
  part.order.write(out);
  part.first_ticket.write(out);
}

void ClassWriter::order_of(const ClassPart &part) {
  any_order_ = any_order_ || !has_no_order(part);
  write_order(part, order_);
}

void ClassWriter::stats_of(const ClassPart &part) {
  std::vector<uint64_t> calls = part.calls->multiplicities();
  calls.resize(part.rows.size());
  const bool plain = part.stats.size() == 1 && part.stats[0].rows.empty();
  if (!plain) timing_.varint(part.stats.size());
  for (const StatsBlock &block : part.stats) {
    if (!plain) {
      timing_.varint(pool_.column(block.ranks.column()));
      timing_.varint(block.rows.empty() ? 0 : block.slots.size());
    }
    block.rows.write(timing_);
    for (size_t slot = 0; slot < block.slots.size(); ++slot) {
      block.slots[slot].write(timing_, block.calls_of(slot, calls));
    }
  }
}

void ClassWriter::timing_of(const ClassPart &part) {
  any_timing_ = any_timing_ || !part.stats.empty() || !part.times.empty();
  any_times_ = any_times_ || !part.times.empty();
  const bool plain = part.stats.size() == 1 && part.stats[0].rows.empty();
  timing_.byte(static_cast<uint8_t>((part.stats.empty() ? 0U : plain ? 1U : 4U) | (part.times.empty() ? 0U : 2U)));
  if (!part.stats.empty()) stats_of(part);
  if (!part.times.empty()) timing::write(part.times, timing_);
}

void write_sites(const std::vector<uint32_t> &sites, ByteWriter &out) {
  std::vector<std::pair<uint32_t, uint64_t>> runs;
  for (const uint32_t site : sites) {
    if (!runs.empty() && site == runs.back().first + runs.back().second) {
      ++runs.back().second;
    } else {
      runs.emplace_back(site, 1);
    }
  }
  out.varint(runs.size());
  for (const auto &[first, length] : runs) {
    out.varint(first);
    out.varint(length);
  }
}

Bytes ClassWriter::rows() {
  ByteWriter out;
  row_writer_.write_shapes(out);
  out.varint(ranks_);
  out.varint(classes_);
  out.raw(rows_.view());
  return out.take();
}

Bytes ClassWriter::streams() {
  if (!any_streams_) return {};
  ByteWriter out;
  stream_writer_.write_shapes(out);
  out.raw(streams_.view());
  return out.take();
}

Bytes ClassWriter::heap() {
  if (!any_heap_) return {};
  ByteWriter out;
  heap_writer_.write_shapes(out);
  out.raw(heap_.view());
  return out.take();
}

Bytes ClassWriter::order() { return any_order_ ? order_.take() : Bytes(); }

Bytes ClassWriter::timing() { return any_timing_ ? timing_.take() : Bytes(); }

Bytes ClassWriter::grammars() {
  ByteWriter out;
  out.varint(grammars_.size());
  for (uint32_t i = 0; i < grammars_.size(); ++i) out.raw(grammars_.at(i));
  return out.take();
}

Bytes ClassWriter::columns() {
  ByteWriter out;
  pool_.write(out);
  return out.take();
}

}  // namespace cairn::trace
