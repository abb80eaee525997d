#include "trace/read/edit.h"

#include "trace/read/trace_body.h"

namespace cairn::trace {

Bytes as_it_is(const Trace &trace) { return write_file({}, trace.body().stored); }

Bytes with_sources(const Trace &trace, const std::vector<std::pair<Site, Source>> &sources) {
  Sources all;
  for (const auto &[site, source] : sources) {
    if (site.module < trace.modules().size()) all.add(site, source);
  }
  std::vector<StoredSection> kept = trace.body().stored;
  std::erase_if(kept,
                [](const StoredSection &section) { return section.kind == static_cast<uint8_t>(SectionKind::source); });
  return write_file({{SectionKind::source, all.write(trace.body().part->sites)}}, kept);
}

Bytes with_gpu(const Trace &trace, Bytes gpu, Bytes warps) {
  constexpr int kLevel = 19;
  std::vector<StoredSection> kept = trace.body().stored;
  std::erase_if(kept, is_gpu);
  std::vector<Section> added;
  added.push_back({SectionKind::gpu, std::move(gpu), false, kLevel});
  added.push_back({SectionKind::warps, std::move(warps), false, kLevel});
  return write_file(added, kept);
}

Part Edited::part(std::unique_ptr<Part::Body> body) { return Part(std::move(body)); }

Bytes with_corrections(const Trace &trace, const Corrections &corrections) {
  std::vector<StoredSection> kept = trace.body().stored;
  std::erase_if(kept, [](const StoredSection &section) {
    return section.kind == static_cast<uint8_t>(SectionKind::corrections);
  });
  return write_file({{SectionKind::corrections, corrections.write()}}, kept);
}

Part to_part(const Trace &trace) {
  auto own = std::make_unique<Part::Body>(*trace.body().part);
  own->classes.resize(trace.body().own_classes);
  own->set_keys();
  return Edited::part(std::move(own));
}

std::optional<uint64_t> bundles_begin(const Trace &trace) { return trace.body().bundles; }

}  // namespace cairn::trace
