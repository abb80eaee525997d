#include "gpu/analyze/loops.h"

#include <algorithm>
#include <set>
#include <string>

namespace cairn::analyze {
namespace {

using Edges = std::multimap<uint16_t, uint16_t>;

/// All that can be reached without going through `wall`, `from` included.
std::set<uint16_t> reached(const Edges &edges, std::vector<uint16_t> from, uint16_t wall) {
  std::set<uint16_t> found;
  while (!from.empty()) {
    const uint16_t at = from.back();
    from.pop_back();
    if (at == wall || !found.insert(at).second) continue;
    const auto [begin, end] = edges.equal_range(at);
    for (auto next = begin; next != end; ++next) from.push_back(next->second);
  }
  return found;
}

}  // namespace

GpuLoops::GpuLoops(const gpu::ProgramRecord &program) {
  struct Function {
    Edges next;
    Edges before;
    std::vector<uint16_t> entries;
    std::vector<uint16_t> loops;
  };
  std::map<std::string, Function> functions;
  for (const gpu::LocationRecord &each : program.locations) {
    Function &function = functions[each.function];
    if (each.kind == gpu::Kind::entry) function.entries.push_back(each.id);
    if (each.kind == gpu::Kind::loop) function.loops.push_back(each.id);
  }
  for (const auto &[from, to] : program.successors) {
    const gpu::LocationRecord *a = program.find(from);
    const gpu::LocationRecord *b = program.find(to);
    if (a == nullptr || b == nullptr || a->function != b->function) continue;
    functions[a->function].next.emplace(from, to);
    functions[a->function].before.emplace(to, from);
  }
  for (const auto &[name, function] : functions) {
    for (const uint16_t loop : function.loops) {
      // What leads back to the top is reached through it only.
      const std::set<uint16_t> outside = reached(function.next, function.entries, loop);
      std::vector<uint16_t> back;
      const auto [begin, end] = function.before.equal_range(loop);
      for (auto from = begin; from != end; ++from) {
        if (!outside.contains(from->second)) back.push_back(from->second);
      }
      const std::set<uint16_t> body = reached(function.before, back, loop);
      std::vector<uint16_t> &points = bodies_[loop];
      points.assign(body.begin(), body.end());
      points.insert(std::upper_bound(points.begin(), points.end(), loop), loop);
    }
  }
}

bool GpuLoops::inside(uint16_t loop, uint16_t point) const {
  const auto found = bodies_.find(loop);
  return found != bodies_.end() && std::binary_search(found->second.begin(), found->second.end(), point);
}

}  // namespace cairn::analyze
