#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <string>

#include "codec/codec.h"
#include "trace/row_code.h"
#include "trace/sections.h"
#include "trace/site_atoms.h"

namespace cairn::trace {
namespace {

class Encoder {
 public:
  /// `moving`: what is told by call sites; nullptr: nothing.
  Encoder(const Part::Body &body, bool to_stay, const SiteAtoms *moving)
      : body_(body), to_stay_(to_stay), sites_(body.sites), site_numbers_(body.sites.size()), pool_(to_stay) {
    std::iota(site_numbers_.begin(), site_numbers_.end(), 0U);
    for (const ClassPart &part : body.classes) classes_.push_back(&part);
    if (!to_stay) return;
    row_writer_.tell_by(moving);
    // Those of most ranks first: they have nearly all that others have, who are told against them.
    std::stable_sort(classes_.begin(), classes_.end(),
                     [](const ClassPart *a, const ClassPart *b) { return a->ranks.size() > b->ranks.size(); });
    if (!has_callers()) order_sites();
  }

  std::vector<Section> run(const RunInfo &run, bool with_blocks) {
    std::vector<Section> sections;
    // These name grammars and columns, which are written afterwards.
    Section rows{SectionKind::rows, rows_section()};
    Section streams{SectionKind::streams, streams_section()};
    Bytes times = timing();
    sections.push_back({SectionKind::meta, meta(run)});
    sections.push_back({SectionKind::sites, sites()});
    if (Bytes bytes = callers(); !bytes.empty()) sections.push_back({SectionKind::callers, std::move(bytes)});
    sections.push_back({SectionKind::grammars, grammars()});
    ByteWriter columns;
    pool_.write(columns);
    sections.push_back({SectionKind::columns, columns.take()});
    sections.push_back(std::move(rows));
    if (!streams.bytes.empty()) sections.push_back(std::move(streams));
    if (Bytes bytes = order(); !bytes.empty()) sections.push_back({SectionKind::order, std::move(bytes)});
    if (!times.empty()) {
      const bool lossless = std::any_of(body_.classes.begin(), body_.classes.end(),
                                        [](const ClassPart &part) { return !part.lossless.empty(); });
      sections.push_back({SectionKind::timing, std::move(times), lossless});
    }
    if (with_blocks && body_.offset.constant_value() != kNoBlock) {
      ByteWriter offsets;
      body_.offset.write(offsets);
      sections.push_back({SectionKind::offsets, offsets.take()});
    }
    if (run.merge.ranks != 0) sections.push_back(cost_section(run.merge));
    return sections;
  }

 private:
  [[nodiscard]] bool has_callers() const {
    return std::any_of(body_.sites.begin(), body_.sites.end(), [](const Site &site) { return site.caller != 0; });
  }

  /// As the first class numbers them, so that its list is one run. Not where there are callers, who come first.
  void order_sites() {
    std::vector<bool> known(sites_.size());
    std::vector<Site> ordered;
    const auto add = [&](uint32_t site) {
      if (known[site]) return;
      known[site] = true;
      site_numbers_[site] = static_cast<uint32_t>(ordered.size());
      ordered.push_back(body_.sites[site]);
    };
    for (const ClassPart *part : classes_) std::for_each(part->sites.begin(), part->sites.end(), add);
    for (uint32_t site = 0; site < body_.sites.size(); ++site) add(site);
    sites_ = std::move(ordered);
  }

  void class_rows(const ClassPart &part, ByteWriter *out) {
    // Only a file tells columns by ranks: on the way up the tree nobody lists them.
    std::optional<RankColumns> ranks;
    if (to_stay_) ranks.emplace(part.ranks);
    const SitesOfClass sites(part.sites);
    out->varint(part.rows.size());
    if (part.rows.empty()) return;
    // New rows and known ones take turns.
    ByteWriter fresh;
    uint64_t fresh_count = 0;
    std::vector<uint32_t> known;
    uint32_t next_known = 0;
    const auto flush_fresh = [&] {
      out->varint(fresh_count);
      out->raw(fresh.view());
      fresh = {};
      fresh_count = 0;
    };
    const auto flush_known = [&] {
      // Runs of successive numbers, each told against the end of the one before.
      out->varint(known.size());
      for (size_t i = 0; i < known.size();) {
        size_t end = i + 1;
        while (end < known.size() && known[end] == known[end - 1] + 1) ++end;
        const auto step = static_cast<int64_t>(known[i]) - static_cast<int64_t>(next_known);
        out->varint(zigzag(step) << 1 | (end - i > 1 ? 1U : 0U));
        if (end - i > 1) out->varint(end - i - 2);
        next_known = known[end - 1] + 1;
        i = end;
      }
      known.clear();
    };
    bool in_known = false;
    for (const RowPointer &pointer : part.rows) {
      const uint32_t site = site_in_trace(pointer->site, part.sites);
      const RowWriter::Coded coded = row_writer_.code(*pointer, ranks ? &*ranks : nullptr, site);
      const size_t rows_before = rows_.list().size();
      // A site that the class has twice could be found again as its other number.
      Bytes identity = coded.identity(site);
      for (size_t i = rows_before; sites.number(site) != pointer->site; i >>= 8) {
        identity.push_back(static_cast<uint8_t>(i));
        if (i == 0) break;
      }
      const uint32_t number = rows_.number(std::move(identity));
      if (number < rows_before) {
        if (!in_known) flush_fresh();
        in_known = true;
        known.push_back(number);
      } else {
        if (in_known) flush_known();
        in_known = false;
        row_writer_.write(coded, site, fresh);
        ++fresh_count;
      }
    }
    if (in_known) flush_known();
    if (!in_known) flush_fresh();
  }

  Bytes rows_section() {
    ByteWriter classes;
    classes.varint(pool_.column(body_.ranks.column()));
    classes.varint(body_.classes.size());
    for (const ClassPart *each : classes_) {
      const ClassPart &part = *each;
      classes.varint(part.thread);
      classes.varint(static_cast<uint32_t>(part.segment + 1));  // the epilogue is 0
      classes.varint(grammar_number(*part.calls));
      classes.varint(pool_.column(part.ranks.column()));
      site_list(part.sites, &classes);
      class_rows(part, &classes);
    }
    ByteWriter out;
    row_writer_.write_shapes(out);
    out.raw(classes.view());
    return out.take();
  }

  uint32_t grammar_number(const grammar::Grammar &grammar) {
    ByteWriter out;
    grammar.write(out);
    return grammars_.number(out.take());
  }

  Bytes streams_section() {
    RowWriter writer(pool_);
    ByteWriter classes;
    bool any = false;
    for (const ClassPart *each : classes_) {
      const ClassPart &part = *each;
      classes.varint(part.streams.size());
      for (const Stream &stream : part.streams) {
        any = true;
        classes.varint(stream.group);
        classes.varint(stream.field);
        classes.varint(stream.variants.size());
        for (const StreamVariant &variant : stream.variants) {
          if (stream.variants.size() > 1) classes.varint(pool_.column(variant.ranks.column()));
          write_variant(variant, &writer, &classes);
        }
      }
    }
    if (!any) return {};
    ByteWriter out;
    writer.write_shapes(out);
    out.raw(classes.view());
    return out.take();
  }

  void write_variant(const StreamVariant &variant, RowWriter *writer, ByteWriter *out) {
    out->varint(static_cast<uint64_t>(grammar_number(*variant.order)) << 1 | (variant.differences ? 1U : 0U));
    // Single atoms that all members share are a column themselves, along the table.
    const bool flat = std::all_of(variant.values.begin(), variant.values.end(), [](const RowPointer &row) {
      return row->heads[0] == FieldHead{FieldHead::atoms, 1} && row->varied.empty();
    });
    if (flat) {
      FoldColumn column;
      for (const RowPointer &row : variant.values) column.append(row->atoms[0]);
      out->varint(0);
      out->varint(pool_.column(column));
      return;
    }
    out->varint(variant.values.size());
    for (const RowPointer &row : variant.values) writer->write(writer->code(*row, nullptr, 0), 0, *out);
  }

  // Runs of successive numbers.
  void site_list(const std::vector<uint32_t> &sites, ByteWriter *out) const {
    std::vector<std::pair<uint32_t, uint64_t>> runs;
    for (const uint32_t in_body : sites) {
      const uint32_t site = site_numbers_[in_body];
      if (!runs.empty() && site == runs.back().first + runs.back().second) {
        ++runs.back().second;
      } else {
        runs.emplace_back(site, 1);
      }
    }
    out->varint(runs.size());
    for (const auto &[first, length] : runs) {
      out->varint(first);
      out->varint(length);
    }
  }

  /// Nothing where no stacks were kept.
  [[nodiscard]] Bytes callers() const {
    if (!has_callers()) return {};
    ByteWriter out;
    for (const Site &site : body_.sites) out.varint(site.caller);
    return out.take();
  }

  [[nodiscard]] Bytes sites() const {
    ByteWriter out;
    out.varint(body_.modules.size());
    for (const Module &module : body_.modules) {
      out.blob(module.build_id);
      out.text(module.path);
    }
    out.varint(sites_.size());
    // Runs of sites in one module, as differences from the last one there.
    std::vector<uint64_t> last(body_.modules.size());
    for (size_t i = 0; i < sites_.size();) {
      const uint32_t module = sites_[i].module;
      size_t end = i;
      while (end < sites_.size() && sites_[end].module == module) ++end;
      out.varint(module);
      out.varint(end - i);
      for (; i < end; ++i) {
        out.signed_varint(static_cast<int64_t>(sites_[i].offset - last[module]));
        last[module] = sites_[i].offset;
      }
    }
    const std::vector<Bytes> &maps = body_.module_maps.values();
    const bool plain = maps.size() <= 1 && (maps.empty() || maps[0].empty());
    out.byte(plain ? 0 : 1);
    if (!plain) body_.module_maps.write(out);
    return out.take();
  }

  [[nodiscard]] Bytes grammars() const {
    ByteWriter out;
    out.varint(grammars_.list().size());
    for (const Bytes &bytes : grammars_.list()) out.raw(bytes);
    return out.take();
  }

  [[nodiscard]] Bytes order() const {
    ByteWriter out;
    bool any = false;
    for (const ClassPart *each : classes_) {
      const ClassPart &part = *each;
      const bool plain =
          part.first_ticket.constant_value() == 0 && part.order.values().size() == 1 && part.order.values()[0].empty();
      out.byte(plain ? 0 : 1);
      if (plain) continue;
      any = true;
      part.order.write(out);
      part.first_ticket.write(out);
    }
    return any ? out.take() : Bytes();
  }

  void write_stats(const ClassPart &part, ByteWriter *out) {
    std::vector<uint64_t> calls = part.calls->multiplicities();
    calls.resize(part.rows.size());
    const bool plain = part.stats.size() == 1 && part.stats[0].rows.empty();
    if (!plain) out->varint(part.stats.size());
    for (const StatsBlock &block : part.stats) {
      if (!plain) {
        out->varint(pool_.column(block.ranks.column()));
        out->varint(block.rows.empty() ? 0 : block.slots.size());
      }
      for (const std::vector<uint32_t> &rows : block.rows) {
        out->varint(rows.size());
        uint32_t next = 0;
        for (const uint32_t row : rows) {
          out->varint(row - next);
          next = row + 1;
        }
      }
      for (size_t slot = 0; slot < block.slots.size(); ++slot) {
        block.slots[slot].write(*out, block.calls_of(slot, calls));
      }
    }
  }

  [[nodiscard]] Bytes timing() {
    ByteWriter out;
    bool any = false;
    for (const ClassPart *each : classes_) {
      const ClassPart &part = *each;
      any = any || !part.stats.empty() || !part.lossless.empty();
      const bool plain = part.stats.size() == 1 && part.stats[0].rows.empty();
      out.byte(static_cast<uint8_t>((part.stats.empty() ? 0U : plain ? 1U : 4U) | (part.lossless.empty() ? 0U : 2U)));
      if (!part.stats.empty()) write_stats(part, &out);
      if (part.lossless.empty()) continue;
      out.varint(part.lossless.size());
      uint32_t next = 0;
      for (const auto &[rank, bytes] : part.lossless) {
        out.varint(rank - next);
        out.blob(bytes);
        next = rank + 1;
      }
    }
    return any ? out.take() : Bytes();
  }

  [[nodiscard]] Bytes meta(const RunInfo &run) const {
    ByteWriter out;
    out.text(run.command);
    out.text(run.mpi);
    out.text(run.recorder);
    out.text(run.timing);
    out.text(run.status);
    out.signed_varint(run.start_unix_ns);
    out.varint(run.wall_ns);
    out.varint(body_.world);
    out.varint(body_.size);
    body_.hosts.write(out);
    body_.degraded.write(out);
    body_.complete.write(out);
    body_.wall_ns.write(out);
    body_.mpi_ns.write(out);
    body_.peak_memory.write(out);
    for (const ClassPart *part : classes_) part->begin_ns.write(out);
    return out.take();
  }

  const Part::Body &body_;
  bool to_stay_;
  std::vector<const ClassPart *> classes_;  ///< as they are written
  std::vector<Site> sites_;                 ///< the same
  std::vector<uint32_t> site_numbers_;      ///< of the body's sites among these
  PoolWriter pool_;
  RowWriter row_writer_{pool_};
  Interned grammars_;
  Interned rows_;
};

/// What the sections that depend on how rows are told take together.
size_t packed_bytes(const std::vector<Section> &sections) {
  constexpr std::array<uint8_t, 1> kCodecs = {codec::kBareZstd};
  size_t bytes = 0;
  for (const Section &section : sections) {
    if (section.kind == SectionKind::rows || section.kind == SectionKind::columns) {
      bytes += codec::smallest(section.bytes, kCodecs).bytes.size();
    }
  }
  return bytes;
}

}  // namespace

std::vector<Section> encode(const Part::Body &body, const RunInfo &run, bool to_stay, bool with_blocks) {
  std::vector<Section> plain = Encoder(body, to_stay, nullptr).run(run, with_blocks);
  SiteAtoms moving;
  for (size_t i = 0; to_stay && i < body.classes.size(); ++i) moving.add(body.classes[i].rows, body.classes[i].sites);
  if (moving.empty()) return plain;
  // Nothing tells beforehand whether it is worth it: where waits at many sites name one request it is not.
  std::vector<Section> told = Encoder(body, to_stay, &moving).run(run, with_blocks);
  return packed_bytes(told) < packed_bytes(plain) ? told : plain;
}

Section cost_section(const MergeCost &cost) {
  ByteWriter out;
  out.varint(cost.ranks);
  out.varint(cost.sum_ns);
  out.varint(cost.most_ns);
  return {SectionKind::cost, out.take()};
}

std::string section_name(uint8_t kind) {
  switch (static_cast<SectionKind>(kind)) {
    case SectionKind::meta:
      return "meta";
    case SectionKind::sites:
      return "sites";
    case SectionKind::grammars:
      return "grammars";
    case SectionKind::columns:
      return "columns";
    case SectionKind::rows_1:
    case SectionKind::rows:
      return "rows";
    case SectionKind::order:
      return "order";
    case SectionKind::timing:
      return "timing";
    case SectionKind::source_1:
    case SectionKind::source:
      return "source";
    case SectionKind::streams:
      return "streams";
    case SectionKind::callers:
      return "callers";
    case SectionKind::cost:
      return "cost";
    case SectionKind::offsets:
      return "offsets";
    case SectionKind::gpu:
      return "gpu";
    case SectionKind::warps:
      return "warps";
    case SectionKind::blocks:
      return "blocks";
  }
  return "section " + std::to_string(kind);
}

}  // namespace cairn::trace
