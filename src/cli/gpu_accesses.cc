#include "cli/gpu_accesses.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/kernels.h"
#include "gpu/analyze/points.h"
#include "terminal/listing.h"
#include "terminal/words.h"
#include "text/utf8.h"

namespace cairn::cli {
namespace {

using analyze::AccessUse;
using gpu::Space;

/// The most frequent ones first.
std::vector<std::pair<int64_t, uint64_t>> steps_of(const AccessUse &use) {
  std::vector<std::pair<int64_t, uint64_t>> steps(use.steps.begin(), use.steps.end());
  std::stable_sort(steps.begin(), steps.end(), [](const auto &a, const auto &b) { return a.second > b.second; });
  return steps;
}

/// "+4: 97 %, 0: 3 %": what most pairs of lanes have.
std::string steps_text(const AccessUse &use) {
  constexpr size_t kShown = 2;
  const auto steps = steps_of(use);
  uint64_t all = use.other_steps;
  for (const auto &[step, pairs] : steps) all += pairs;
  std::string text;
  for (size_t i = 0; i < std::min(kShown, steps.size()); ++i) {
    text += fmt::format("{}{}{}: {} %", text.empty() ? "" : ", ", steps[i].first > 0 ? "+" : "", steps[i].first,
                        share(steps[i].second, all).text);
  }
  return steps.size() > kShown || use.other_steps != 0 ? text + ", …" : text;
}

nlohmann::ordered_json json_of_access(const gpu::Launches &launches, const AccessUse &use) {
  const gpu::ProgramRecord &program = launches.programs[use.program];
  nlohmann::ordered_json out{{"program", valid_utf8(program.file)}, {"location", use.location}};
  add_place(program, use.location, &out);
  out["kernel"] = valid_utf8(program.kernel(use.kernel));
  out["memory"] = gpu::name_of(use.space);
  out["requests"] = use.requests;
  out["lanes"] = use.lanes;
  out["bytes"] = use.bytes;
  if (use.space == Space::global || use.space == Space::shared) {
    out[use.space == Space::global ? "sectors" : "wavefronts"] = use.moved;
    out["least"] = use.least;
    out["most"] = use.most;
    out["efficiency"] = use.efficiency();
  }
  out["steps"] = nlohmann::ordered_json::array();
  for (const auto &[step, pairs] : steps_of(use)) out["steps"].push_back({{"bytes", step}, {"pairs", pairs}});
  out["other_steps"] = use.other_steps;
  return out;
}

void print_memory(Output &out, const gpu::Launches &launches, const std::vector<AccessUse> &uses, Space space,
                  uint64_t limit) {
  const bool is_global = space == Space::global;
  AccessUse all;
  Listing list({{"access", nullptr, true},
                {"kernel", nullptr, true},
                {"requests"},
                {"mean lanes"},
                {is_global ? "sectors" : "wavefronts"},
                {"a request"},
                {"at most"},
                {"efficiency"},
                {"excess"},
                {"from lane to lane", nullptr, true}});
  for (const AccessUse &use : uses) {
    if (use.space != space) continue;
    all.add(use, 1);
    const double lanes = static_cast<double>(use.lanes) / static_cast<double>(use.requests);
    const gpu::ProgramRecord &program = launches.programs[use.program];
    list.add({words(analyze::point_text(program, use.location)), words(program.kernel(use.kernel)), count(use.requests),
              words(fmt::format("{:.1f}", lanes)), count(use.moved), words(fmt::format("{:.1f}", use.mean())),
              count(use.most), words(fmt::format("{:.1f} %", 100 * use.efficiency())), count(use.excess()),
              words(steps_text(use))});
  }
  if (all.requests == 0) return;
  out.write(fmt::format("{}{} memory{}: {}, {} would do: {:.1f} %\n", out.bold(), gpu::name_of(space), out.plain(),
                        is_global ? grouped(all.moved) + " sectors of 32 bytes" : plural(all.moved, "wavefront"),
                        grouped(all.least), 100 * all.efficiency()));
  list.print(out, limit);
}

}  // namespace

void print_accesses(Output &out, const gpu::Launches &launches, std::vector<AccessUse> uses, uint64_t limit,
                    bool json) {
  std::stable_sort(uses.begin(), uses.end(),
                   [](const AccessUse &a, const AccessUse &b) { return a.excess() > b.excess(); });
  if (json) {
    auto list = nlohmann::ordered_json::array();
    for (const AccessUse &use : uses) list.push_back(json_of_access(launches, use));
    out.write(nlohmann::ordered_json{{"schema", "cairn.gpu.accesses/1"}, {"accesses", std::move(list)}}.dump(2) + "\n");
    return;
  }
  print_memory(out, launches, uses, Space::global, limit);
  print_memory(out, launches, uses, Space::shared, limit);
  uint64_t elsewhere = 0;
  for (const AccessUse &use : uses)
    elsewhere += use.space == Space::global || use.space == Space::shared ? 0 : use.requests;
  if (elsewhere != 0) {
    out.write(plural(elsewhere, "request") + " to a thread's own memory, or to constants, are not looked at\n");
  }
}

}  // namespace cairn::cli
