#include "trace/model/site_lists.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace cairn::trace {
namespace {

std::string module_identity(const Module &module) {
  if (module.build_id.empty()) return "path " + module.path;
  return "id " + std::string(module.build_id.begin(), module.build_id.end());
}

}  // namespace

std::vector<std::string> module_identities(const std::vector<Module> &modules) {
  std::map<std::string, uint32_t> seen;
  std::vector<std::string> result;
  for (const Module &module : modules) {
    std::string identity = module_identity(module);
    const uint32_t times = seen[identity]++;
    if (times != 0) identity += " again " + std::to_string(times);
    result.push_back(std::move(identity));
  }
  return result;
}

uint32_t add_site(const Site &site, std::vector<Site> *sites, SiteNumbers *known) {
  const auto [entry, added] =
      known->emplace(std::tuple(site.module, site.offset, site.caller), static_cast<uint32_t>(sites->size()));
  if (added) sites->push_back(site);
  return entry->second;
}

std::vector<uint32_t> merge_modules(std::vector<Module> *left, const std::vector<Module> &right) {
  // Nearly always both have the same.
  if (*left == right) {
    std::vector<uint32_t> same(right.size());
    std::iota(same.begin(), same.end(), 0U);
    return same;
  }
  std::unordered_map<std::string, uint32_t> known;
  const std::vector<std::string> left_names = module_identities(*left);
  for (size_t i = 0; i < left_names.size(); ++i) known.emplace(left_names[i], static_cast<uint32_t>(i));
  const std::vector<std::string> right_names = module_identities(right);
  std::vector<uint32_t> number;
  for (size_t i = 0; i < right.size(); ++i) {
    const auto [entry, added] = known.emplace(right_names[i], static_cast<uint32_t>(left->size()));
    if (added) {
      left->push_back(right[i]);
    } else {
      // One of several paths, whatever the shape of the tree.
      std::string &path = (*left)[entry->second].path;
      path = std::min(path, right[i].path);
    }
    number.push_back(entry->second);
  }
  return number;
}

bool is_identity(const std::vector<uint32_t> &map) {
  for (size_t i = 0; i < map.size(); ++i) {
    if (map[i] != i) return false;
  }
  return true;
}

std::vector<uint32_t> merge_sites(std::vector<Site> *left, const std::vector<Site> &right,
                                  const std::vector<uint32_t> &module_number) {
  // Nearly always both have the same.
  if (is_identity(module_number) && left->size() >= right.size() &&
      std::equal(right.begin(), right.end(), left->begin())) {
    std::vector<uint32_t> same(right.size());
    std::iota(same.begin(), same.end(), 0U);
    return same;
  }
  SiteNumbers known;
  for (size_t i = 0; i < left->size(); ++i) {
    known.emplace(std::tuple((*left)[i].module, (*left)[i].offset, (*left)[i].caller), static_cast<uint32_t>(i));
  }
  std::vector<uint32_t> number;
  for (const Site &site : right) {
    const uint32_t caller = site.caller == 0 ? 0 : number[site.caller - 1] + 1;  // callers come first
    number.push_back(add_site({module_number[site.module], site.offset, caller}, left, &known));
  }
  return number;
}

}  // namespace cairn::trace
