// The modules and call sites of two parts as one list. Modules are the same by build-id, or by path where there is
// none; sites by module, offset and caller. Plain functions; cost: the lists'.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "trace/model/record.h"

namespace cairn::trace {

/// What makes modules the same ones, told apart where one process has the same thing twice (a library loaded under two
/// names).
std::vector<std::string> module_identities(const std::vector<Module> &modules);

using SiteNumbers = std::map<std::tuple<uint32_t, uint64_t, uint32_t>, uint32_t>;
/// Adds a site whose module and caller are numbered as in `sites`; its number.
uint32_t add_site(const Site &site, std::vector<Site> *sites, SiteNumbers *known);

/// Adds right's modules to left's; number of each of right's in left.
std::vector<uint32_t> merge_modules(std::vector<Module> *left, const std::vector<Module> &right);
/// The same for sites; `module_number` is what that gave.
std::vector<uint32_t> merge_sites(std::vector<Site> *left, const std::vector<Site> &right,
                                  const std::vector<uint32_t> &module_number);

/// Every number stands for itself.
bool is_identity(const std::vector<uint32_t> &map);

}  // namespace cairn::trace
