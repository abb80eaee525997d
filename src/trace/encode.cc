#include <algorithm>
#include <string>
#include <unordered_map>

#include "trace/atom_code.h"
#include "trace/sections.h"

namespace cairn::trace {
namespace {

/// Numbers byte strings in order of first occurrence.
class Interned {
 public:
  uint32_t number(Bytes bytes) {
    const std::string key(bytes.begin(), bytes.end());
    const auto [entry, added] = numbers_.emplace(key, static_cast<uint32_t>(list_.size()));
    if (added) list_.push_back(std::move(bytes));
    return entry->second;
  }
  [[nodiscard]] const std::vector<Bytes> &list() const { return list_; }

 private:
  std::unordered_map<std::string, uint32_t> numbers_;
  std::vector<Bytes> list_;
};

class Encoder {
 public:
  explicit Encoder(const Part::Body &body) : body_(body) {}

  std::vector<Section> run(const RunInfo &run) {
    std::vector<Section> sections;
    Section rows{SectionKind::rows, rows_section()};
    sections.push_back({SectionKind::meta, meta(run)});
    sections.push_back({SectionKind::sites, sites()});
    sections.push_back({SectionKind::grammars, grammars()});
    sections.push_back({SectionKind::columns, columns()});
    sections.push_back(std::move(rows));
    if (Bytes bytes = order(); !bytes.empty()) sections.push_back({SectionKind::order, std::move(bytes)});
    if (Bytes bytes = timing(); !bytes.empty()) {
      const bool lossless = std::any_of(body_.classes.begin(), body_.classes.end(),
                                        [](const ClassPart &part) { return !part.lossless.empty(); });
      sections.push_back({SectionKind::timing, std::move(bytes), lossless});
    }
    if (run.merge.ranks != 0) sections.push_back(cost_section(run.merge));
    return sections;
  }

 private:
  uint32_t column(const FoldColumn &fold) {
    ByteWriter out;
    fold.write(out);
    return columns_.number(out.take());
  }

  uint32_t table(const ValuesColumn &values) {
    ByteWriter out;
    out.varint(values.values().size());
    for (const Bytes &value : values.values()) out.varint(values_.number(value));
    values.index().write(out);
    return tables_.number(out.take());
  }

  // Function, depth and what the fields are; then one code for each atom, text or table.
  uint32_t shape(const ClassRow &row, std::vector<uint64_t> *codes) {
    ByteWriter out;
    out.varint(row.function);
    out.varint(row.depth);
    out.varint(row.heads.size());
    uint32_t slot = 0;
    size_t varied = 0;
    size_t text = 0;
    size_t table_index = 0;
    for (const FieldHead &head : row.heads) {
      if (head.kind == FieldHead::text) {
        out.varint(2);
        codes->push_back(values_.number(row.texts[text++]));
        continue;
      }
      if (head.kind == FieldHead::table) {
        out.varint(3);
        codes->push_back(table(*row.tables[table_index++]));
        continue;
      }
      Bytes mask((head.count + 7) / 8);
      bool any = false;
      for (uint32_t i = 0; i < head.count; ++i, ++slot) {
        if (varied < row.varied.size() && row.varied[varied].slot == slot) {
          any = true;
          mask[i / 8] = static_cast<uint8_t>(mask[i / 8] | 1U << (i % 8));
          codes->push_back(column(*row.varied[varied++].column));
        } else {
          codes->push_back(atom_code(row.atoms[slot]));
        }
      }
      out.varint(static_cast<uint64_t>(head.count) << 2 | (any ? 1U : 0U));
      if (any) out.raw(mask);
    }
    return shapes_.number(out.take());
  }

  // Against the last row of that shape: one bit for each code, and the codes that differ.
  void row(const ClassRow &row, uint32_t shape_number, const std::vector<uint64_t> &codes, ByteWriter *out) {
    out->varint(shape_number);
    out->varint(row.site);
    if (shape_number >= last_codes_.size()) last_codes_.resize(shape_number + 1U);
    std::vector<uint64_t> &last = last_codes_[shape_number];
    if (last.size() != codes.size()) {
      for (const uint64_t code : codes) out->varint(code);
    } else {
      Bytes mask((codes.size() + 7) / 8);
      for (size_t i = 0; i < codes.size(); ++i) {
        if (codes[i] != last[i]) mask[i / 8] = static_cast<uint8_t>(mask[i / 8] | 1U << (i % 8));
      }
      out->raw(mask);
      for (size_t i = 0; i < codes.size(); ++i) {
        if (codes[i] != last[i]) out->varint(codes[i]);
      }
    }
    last = codes;
  }

  void class_rows(const ClassPart &part, ByteWriter *out) {
    out->varint(part.rows.size());
    if (part.rows.empty()) return;
    // New rows and known ones take turns.
    ByteWriter fresh;
    uint64_t fresh_count = 0;
    std::vector<uint32_t> known;
    const auto flush_fresh = [&] {
      out->varint(fresh_count);
      out->raw(fresh.view());
      fresh = {};
      fresh_count = 0;
    };
    const auto flush_known = [&] {
      out->varint(known.size());
      for (const uint32_t number : known) out->varint(number);
      known.clear();
    };
    bool in_known = false;
    for (const RowPointer &pointer : part.rows) {
      std::vector<uint64_t> codes;
      const uint32_t shape_number = shape(*pointer, &codes);
      ByteWriter identity;
      identity.varint(shape_number);
      identity.varint(pointer->site);
      for (const uint64_t code : codes) identity.varint(code);
      const size_t rows_before = rows_.list().size();
      const uint32_t number = rows_.number(identity.take());
      if (number < rows_before) {
        if (!in_known) flush_fresh();
        in_known = true;
        known.push_back(number);
      } else {
        if (in_known) flush_known();
        in_known = false;
        row(*pointer, shape_number, codes, &fresh);
        ++fresh_count;
      }
    }
    if (in_known) flush_known();
    if (!in_known) flush_fresh();
  }

  Bytes rows_section() {
    ByteWriter classes;
    classes.varint(column(body_.ranks.column()));
    classes.varint(body_.classes.size());
    for (const ClassPart &part : body_.classes) {
      classes.varint(part.thread);
      classes.varint(static_cast<uint32_t>(part.segment + 1));  // the epilogue is 0
      ByteWriter grammar;
      part.calls->write(grammar);
      classes.varint(grammars_.number(grammar.take()));
      classes.varint(column(part.ranks.column()));
      site_list(part.sites, &classes);
      class_rows(part, &classes);
    }
    ByteWriter out;
    out.varint(shapes_.list().size());
    for (const Bytes &bytes : shapes_.list()) out.raw(bytes);
    out.raw(classes.view());
    return out.take();
  }

  // Runs of successive numbers.
  static void site_list(const std::vector<uint32_t> &sites, ByteWriter *out) {
    std::vector<std::pair<uint32_t, uint64_t>> runs;
    for (const uint32_t site : sites) {
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

  [[nodiscard]] Bytes sites() const {
    ByteWriter out;
    out.varint(body_.modules.size());
    for (const Module &module : body_.modules) {
      out.blob(module.build_id);
      out.text(module.path);
    }
    out.varint(body_.sites.size());
    // Runs of sites in one module, as differences from the last one there.
    std::vector<uint64_t> last(body_.modules.size());
    for (size_t i = 0; i < body_.sites.size();) {
      const uint32_t module = body_.sites[i].module;
      size_t end = i;
      while (end < body_.sites.size() && body_.sites[end].module == module) ++end;
      out.varint(module);
      out.varint(end - i);
      for (; i < end; ++i) {
        out.signed_varint(static_cast<int64_t>(body_.sites[i].offset - last[module]));
        last[module] = body_.sites[i].offset;
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

  [[nodiscard]] Bytes columns() const {
    ByteWriter out;
    out.varint(values_.list().size());
    for (const Bytes &bytes : values_.list()) out.blob(bytes);
    out.varint(columns_.list().size());
    for (const Bytes &bytes : columns_.list()) out.raw(bytes);
    out.varint(tables_.list().size());
    for (const Bytes &bytes : tables_.list()) out.raw(bytes);
    return out.take();
  }

  [[nodiscard]] Bytes order() const {
    ByteWriter out;
    bool any = false;
    for (const ClassPart &part : body_.classes) {
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

  [[nodiscard]] Bytes timing() const {
    ByteWriter out;
    bool any = false;
    for (const ClassPart &part : body_.classes) {
      any = any || !part.stats.empty() || !part.lossless.empty();
      out.byte(static_cast<uint8_t>((part.stats.empty() ? 0U : 1U) | (part.lossless.empty() ? 0U : 2U)));
      if (!part.stats.empty()) {
        std::vector<uint64_t> calls = part.calls->multiplicities();
        calls.resize(part.stats.size());
        for (size_t i = 0; i < part.stats.size(); ++i) part.stats[i].write(out, calls[i] * part.ranks.size());
      }
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
    for (const ClassPart &part : body_.classes) part.begin_ns.write(out);
    return out.take();
  }

  const Part::Body &body_;
  Interned values_;
  Interned columns_;
  Interned tables_;
  Interned grammars_;
  Interned shapes_;
  Interned rows_;
  std::vector<std::vector<uint64_t>> last_codes_;  // by shape
};

}  // namespace

std::vector<Section> encode(const Part::Body &body, const RunInfo &run) { return Encoder(body).run(run); }

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
    case SectionKind::rows:
      return "rows";
    case SectionKind::order:
      return "order";
    case SectionKind::timing:
      return "timing";
    case SectionKind::source:
      return "source";
    case SectionKind::cost:
      return "cost";
  }
  return "section " + std::to_string(kind);
}

}  // namespace cairn::trace
