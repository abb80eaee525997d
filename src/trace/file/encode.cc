#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>

#include "codec/codec.h"
#include "trace/code/class_writer.h"
#include "trace/code/site_atoms.h"
#include "trace/file/sections.h"

namespace cairn::trace {
namespace {

class Encoder {
 public:
  Encoder(const Part::Body &body, bool to_stay) : body_(body) {
    classes_.reserve(body.classes.size() + body.packed.size());
    for (const ClassPart &part : body.classes) classes_.push_back({&part, &part, nullptr});
    for (const PackedClass &part : body.packed) classes_.push_back({&part, nullptr, &part});
    const auto in_order = [](const Ref &a, const Ref &b) { return stands_before(*a.head, *b.head); };
    if (!std::is_sorted(classes_.begin(), classes_.end(), in_order)) {
      std::stable_sort(classes_.begin(), classes_.end(), in_order);
    }
    if (!to_stay) return;
    site_numbers_.resize(body.sites.size());
    std::iota(site_numbers_.begin(), site_numbers_.end(), 0U);
    // Those of most ranks first: they have nearly all that others have, who are told against them.
    std::stable_sort(classes_.begin(), classes_.end(),
                     [](const Ref &a, const Ref &b) { return a.head->ranks.size() > b.head->ranks.size(); });
    if (!has_callers()) order_sites();
  }

  /// `moving`: what is told by call sites; nullptr: nothing. `found`: is told all rows; nullptr: it is not.
  Result<std::vector<Section>> file(const RunInfo &run, bool with_blocks, const SiteAtoms *moving,
                                    SiteAtoms *found) const {
    ClassWriter writer(moving, body_.ranks, site_numbers_);
    bool tells_job = !run.spawned_by.empty() || run.spawning.empty();
    const auto spawns = [&](const RowPointer &row) {
      return std::find(run.spawning.begin(), run.spawning.end(), row->function) != run.spawning.end();
    };
    for (const Ref &each : classes_) {
      const auto add = [&](const ClassPart &part) {
        writer.add(part);
        tells_job = tells_job || std::any_of(part.rows.begin(), part.rows.end(), spawns);
        if (found != nullptr) found->add(part.rows, part.sites);
      };
      if (each.open != nullptr) {
        add(*each.open);
        continue;
      }
      const Result<ClassPart> part = unpack(*each.packed);
      if (!part) return tl::unexpected(part.error());
      add(*part);
    }
    std::vector<Section> sections;
    ByteWriter meta;
    meta.raw(rank_columns(run));
    meta.raw(writer.begin());
    sections.push_back({SectionKind::meta, meta.take()});
    add_sites(&sections);
    sections.push_back({SectionKind::grammars, writer.grammars()});
    sections.push_back({SectionKind::columns, writer.columns()});
    sections.push_back({SectionKind::rows, writer.rows()});
    const auto add_if_any = [&sections](SectionKind kind, Bytes bytes, bool packed) {
      if (!bytes.empty()) sections.push_back({kind, std::move(bytes), packed});
    };
    add_if_any(SectionKind::streams, writer.streams(), false);
    add_if_any(SectionKind::heap, writer.heap(), false);
    add_if_any(SectionKind::order, writer.order(), false);
    add_if_any(SectionKind::timing, writer.timing(), writer.has_times());
    add_clocks(&sections);
    ByteWriter sums;
    // Of one rank, the statistics say it.
    if (!body_.sums.empty() && body_.ranks.size() > 1) body_.sums.write_rounded(sums, body_.ranks.size());
    add_if_any(SectionKind::sums, sums.take(), false);
    add_gaps(site_numbers_, &sections);
    add_offsets(with_blocks, &sections);
    if (run.merge.ranks != 0) add_cost(run.merge, &sections);
    if (tells_job && !run.job.empty()) {
      ByteWriter job;
      job.text(run.job);
      job.text(run.spawned_by);
      sections.push_back({SectionKind::job, job.take()});
    }
    if (!run.jobs.empty()) {
      ByteWriter jobs;
      jobs.varint(run.jobs.size());
      for (const Job &job : run.jobs) {
        jobs.varint(job.first);
        jobs.text(job.command);
        jobs.varint(job.spawned_by ? uint64_t{*job.spawned_by} + 1 : 0);
        jobs.text(job.parent);
      }
      sections.push_back({SectionKind::jobs, jobs.take()});
    }
    return sections;
  }

  [[nodiscard]] std::vector<Section> packed() const {
    constexpr size_t kBytes = 1200;  // of a class, mostly
    size_t bytes = kBytes;
    for (const PackedClass &part : body_.packed) bytes += part.bytes.size() + part.bytes.size() / 16;
    ByteWriter classes(bytes);
    body_.ranks.column().write(classes);
    classes.varint(classes_.size());
    for (const Ref &each : classes_) {
      if (each.packed != nullptr) {
        write_packed(*each.packed, classes);
      } else {
        write_packed(*each.open, classes);
      }
    }
    std::vector<Section> sections;
    sections.reserve(6);
    add_sites(&sections);
    sections.push_back({SectionKind::packed_classes, classes.take()});
    sections.push_back({SectionKind::meta, rank_columns({})});
    add_clocks(&sections);
    if (!body_.sums.empty()) {
      ByteWriter sums;
      body_.sums.write(sums);
      sections.push_back({SectionKind::sums, sums.take()});
    }
    add_gaps({}, &sections);
    add_offsets(true, &sections);
    return sections;
  }

 private:
  /// A class that is open or packed.
  struct Ref {
    const ClassHead *head;
    const ClassPart *open;
    const PackedClass *packed;
  };

  void add_sites(std::vector<Section> *sections) const {
    sections->push_back({SectionKind::sites, sites()});
    if (Bytes bytes = callers(); !bytes.empty()) sections->push_back({SectionKind::callers, std::move(bytes)});
  }

  void add_clocks(std::vector<Section> *sections) const {
    if (body_.clock_uncertainty.constant_value() == RankClock::kNone) return;
    ByteWriter clocks;
    body_.clock_begin.write(clocks);
    body_.clock_drift.write(clocks);
    body_.clock_uncertainty.write(clocks);
    sections->push_back({SectionKind::clocks, clocks.take()});
  }

  void add_gaps(const std::vector<uint32_t> &numbers, std::vector<Section> *sections) const {
    if (body_.gaps.empty()) return;
    ByteWriter gaps;
    body_.gaps.write(gaps, numbers);
    sections->push_back({SectionKind::gaps, gaps.take()});
  }

  void add_offsets(bool with_blocks, std::vector<Section> *sections) const {
    if (!with_blocks || body_.offset.constant_value() == kNoBlock) return;
    ByteWriter offsets;
    body_.offset.write(offsets);
    sections->push_back({SectionKind::offsets, offsets.take()});
  }

  [[nodiscard]] bool has_callers() const {
    return std::any_of(body_.sites.begin(), body_.sites.end(), [](const Site &site) { return site.caller != 0; });
  }

  /// As the first class numbers them, so that its list is one run. Not where there are callers, who come first.
  void order_sites() {
    std::vector<bool> known(body_.sites.size());
    std::vector<Site> ordered;
    const auto add = [&](uint32_t site) {
      if (known[site]) return;
      known[site] = true;
      site_numbers_[site] = static_cast<uint32_t>(ordered.size());
      ordered.push_back(body_.sites[site]);
    };
    for (const Ref &part : classes_) std::for_each(part.head->sites.begin(), part.head->sites.end(), add);
    for (uint32_t site = 0; site < body_.sites.size(); ++site) add(site);
    ordered_sites_ = std::move(ordered);
  }

  /// Nothing where no stacks were kept.
  [[nodiscard]] Bytes callers() const {
    if (!has_callers()) return {};
    ByteWriter out;
    for (const Site &site : body_.sites) out.varint(site.caller);
    return out.take();
  }

  [[nodiscard]] Bytes sites() const {
    const std::vector<Site> &sites = ordered_sites_.empty() ? body_.sites : ordered_sites_;
    ByteWriter out(64 + 2 * sites.size());
    out.varint(body_.modules.size());
    for (const Module &module : body_.modules) {
      out.blob(module.build_id);
      out.text(module.path);
    }
    out.varint(sites.size());
    // Runs of sites in one module, as differences from the last one there.
    std::vector<uint64_t> last(body_.modules.size());
    for (size_t i = 0; i < sites.size();) {
      const uint32_t module = sites[i].module;
      size_t end = i;
      while (end < sites.size() && sites[end].module == module) ++end;
      out.varint(module);
      out.varint(end - i);
      for (; i < end; ++i) {
        out.signed_varint(static_cast<int64_t>(sites[i].offset - last[module]));
        last[module] = sites[i].offset;
      }
    }
    const std::vector<Bytes> &maps = body_.module_maps.values();
    const bool plain = maps.size() <= 1 && (maps.empty() || maps[0].empty());
    out.byte(plain ? 0 : 1);
    if (!plain) body_.module_maps.write(out);
    return out.take();
  }

  /// The section `meta` but for what each class adds.
  [[nodiscard]] Bytes rank_columns(const RunInfo &run) const {
    ByteWriter out(128);
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
    return out.take();
  }

  const Part::Body &body_;
  std::vector<Ref> classes_;            ///< as they are written
  std::vector<Site> ordered_sites_;     ///< the same; empty: as the body has them
  std::vector<uint32_t> site_numbers_;  ///< of the body's sites among these
};

bool depends_on_telling(const Section &section) {
  return section.kind == SectionKind::rows || section.kind == SectionKind::columns;
}

/// What the sections that depend on how rows are told take together.
size_t packed_bytes(const std::vector<Section> &sections) {
  constexpr std::array<uint8_t, 1> kCodecs = {codec::kZstd};
  size_t bytes = 0;
  for (const Section &section : sections) {
    if (depends_on_telling(section)) bytes += codec::smallest(section.bytes, kCodecs).bytes.size();
  }
  return bytes;
}

/// Whether telling rows in another way may be worth writing all classes again: a large trace is mostly grammars, and
/// all ranks wait for it (of xdsep's 406 KB it would save 300 bytes).
bool may_pay(const std::vector<Section> &sections, uint64_t ranks) {
  constexpr size_t kSmall = 128 << 10;
  constexpr size_t kShare = 4;
  constexpr size_t kWorth = 64;
  size_t telling = 0;
  size_t rows = 0;
  size_t all = 0;
  for (const Section &section : sections) {
    all += section.bytes.size();
    if (depends_on_telling(section)) telling += section.bytes.size();
    if (section.kind == SectionKind::rows) rows += section.bytes.size();
  }
  // A row names a column by a byte at least, and a column has a value a rank at most: no more than that can be saved.
  // Where calls hardly repeat, columns are the values of streams, which are told in one way.
  if (rows <= all / kWorth && rows * (1 + ranks) < all / kWorth) return false;
  return all <= kSmall || telling * kShare >= all;
}

}  // namespace

Result<std::vector<Section>> encode(const Part::Body &body, const RunInfo &run, bool with_blocks) {
  const Encoder encoder(body, true);
  SiteAtoms moving;
  Result<std::vector<Section>> plain = encoder.file(run, with_blocks, nullptr, &moving);
  if (!plain || moving.empty() || !may_pay(*plain, body.ranks.size())) return plain;
  // Nothing tells beforehand whether it is worth it: where waits at many sites name one request it is not.
  Result<std::vector<Section>> told = encoder.file(run, with_blocks, &moving, nullptr);
  if (!told) return told;
  return packed_bytes(*told) < packed_bytes(*plain) ? told : plain;
}

std::vector<Section> encode_packed(const Part::Body &body) { return Encoder(body, false).packed(); }

void add_cost(const MergeCost &cost, std::vector<Section> *sections) {
  ByteWriter out;
  out.varint(cost.ranks);
  out.varint(cost.sum_ns);
  out.varint(cost.most_ns);
  if (const timing::TimesCost &times = cost.times; times.size.calls != 0) {
    out.varint(times.size.calls);
    out.varint(times.size.bytes);
    out.varint(times.size.clock_error_ns);
    out.varint(times.coding_ns);
    out.varint(times.writing_ns);
  }
  sections->push_back({SectionKind::cost, out.take()});
  if (!cost.memory.worth_telling()) return;
  ByteWriter memory;
  memory.varint(cost.memory.recorded);
  memory.varint(cost.memory.making);
  memory.varint(cost.memory.merging);
  memory.varint(cost.memory.together);
  sections->push_back({SectionKind::memory, memory.take()});
}

Section bundles_section(uint64_t begin) {
  ByteWriter out;
  out.varint(begin);
  return {SectionKind::bundles, out.take()};
}

}  // namespace cairn::trace
