#include "trace/merge/site_gaps.h"

#include <utility>

namespace cairn::trace {

void SiteGaps::add(uint32_t site, const timing::GapStats &gaps) {
  if (!gaps.histogram.buckets().empty()) by_site_[site].merge(gaps);
}

void SiteGaps::merge(const SiteGaps &other, const std::vector<uint32_t> &numbers) {
  for (const auto &[site, gaps] : other.by_site_) by_site_[site < numbers.size() ? numbers[site] : site].merge(gaps);
}

void SiteGaps::write(ByteWriter &out, const std::vector<uint32_t> &numbers) const {
  std::map<uint32_t, const timing::GapStats *> ordered;
  for (const auto &[site, gaps] : by_site_) ordered[site < numbers.size() ? numbers[site] : site] = &gaps;
  out.varint(ordered.size());
  uint32_t next = 0;
  for (const auto &[site, gaps] : ordered) {
    out.varint(site - next);
    gaps->write(out);
    next = site + 1;
  }
}

std::optional<SiteGaps> SiteGaps::parse(ByteReader &in, uint64_t sites) {
  SiteGaps result;
  const size_t count = in.count(3);
  uint64_t next = 0;
  constexpr size_t kNode = 64;  // of a map
  for (size_t i = 0; i < count && !in.failed(); ++i) {
    const uint64_t site = next + in.varint();
    if (site < next || site >= sites || !in.take(sizeof(timing::GapStats) + kNode)) return std::nullopt;
    timing::GapStats gaps = timing::GapStats::parse(in);
    if (in.failed()) return std::nullopt;
    result.by_site_.emplace(static_cast<uint32_t>(site), std::move(gaps));
    next = site + 1;
  }
  return result;
}

}  // namespace cairn::trace
