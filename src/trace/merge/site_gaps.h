// SiteGaps: how long ranks were outside MPI before their calls at each call site (timing/gap_stats.h), all ranks
// together: so it takes a few bytes a site whatever the number of ranks. Only where the timing mode keeps gaps.
//
// Plain value; sites are numbers in the part's list. Merging costs the sites.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "timing/gap_stats.h"

namespace cairn::trace {

class SiteGaps {
 public:
  void add(uint32_t site, const timing::GapStats &gaps);
  /// `numbers`: of other's sites here.
  void merge(const SiteGaps &other, const std::vector<uint32_t> &numbers);

  [[nodiscard]] bool empty() const { return by_site_.empty(); }
  /// By site, ascending.
  [[nodiscard]] const std::map<uint32_t, timing::GapStats> &all() const { return by_site_; }

  /// Under these numbers; empty: under its own.
  void write(ByteWriter &out, const std::vector<uint32_t> &numbers) const;
  /// Of so many sites; nothing where it is malformed.
  static std::optional<SiteGaps> parse(ByteReader &in, uint64_t sites);

 private:
  std::map<uint32_t, timing::GapStats> by_site_;
};

}  // namespace cairn::trace
