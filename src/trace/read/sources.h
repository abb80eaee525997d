// The section `source`: where call sites stand in source files, once somebody has found out (docs/format.md, "source").
//
// Plain value; concurrent const use is fine.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "trace/file/sections.h"
#include "trace/read/trace.h"

namespace cairn::trace {

class Sources {
 public:
  void add(const Site &site, Source source) { sources_[{site.module, site.offset}] = std::move(source); }
  [[nodiscard]] std::optional<Source> find(const Site &site) const;

  /// In the order of a trace's sites.
  [[nodiscard]] Bytes write(const std::vector<Site> &sites) const;
  static Result<Sources> parse(const SectionView &section, const std::vector<Site> &sites, Allowance *allowance);

 private:
  [[nodiscard]] std::vector<const Source *> in_order(const std::vector<Site> &sites) const;
  /// False if nothing is known of the site itself.
  bool add_tail_call(const Site &site, Source source);

  std::map<std::pair<uint32_t, uint64_t>, Source> sources_;
};

}  // namespace cairn::trace
