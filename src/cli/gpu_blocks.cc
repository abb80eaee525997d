#include "cli/gpu_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gpu/analyze/blocks.h"
#include "terminal/listing.h"
#include "terminal/words.h"
#include "text/utf8.h"

namespace cairn::cli {
namespace {

using analyze::KernelBlocks;
using analyze::LaunchBlocks;

Cell mean(uint64_t sum, uint64_t of) {
  if (of == 0) return nothing();
  const double value = static_cast<double>(sum) / static_cast<double>(of);
  return {grouped(static_cast<uint64_t>(std::llround(value))), value};
}

/// "12 of 132": multiprocessors of a launch, in the mean.
Cell processors(const KernelBlocks &kernel) {
  const auto per_launch = [&](uint64_t sum) {
    return fmt::format("{:.4g}", static_cast<double>(sum) / static_cast<double>(kernel.launches));
  };
  return {per_launch(kernel.used) + " of " + per_launch(kernel.available),
          {{"used", kernel.used}, {"available", kernel.available}}};
}

Listing kernel_list(const std::vector<KernelBlocks> &kernels) {
  Listing list({{"kernel", "kernel", true},
                {"launches", "launches"},
                {"blocks", "blocks", false, 1},
                {"multiprocessors", "multiprocessors"},
                {"cycles", "mean_cycles"},
                {"of a block", "mean_block_cycles"},
                {"least", "shortest_block_cycles", false, 2},
                {"most", "longest_block_cycles"},
                {"busy", "busy"},
                {"balance", "balance"},
                {"idle at end", "idle_at_end"},
                {nullptr, "lost_cycles"},
                {nullptr, "unended_warps"}});
  for (const KernelBlocks &kernel : kernels) {
    list.add({words(kernel.kernel), count(kernel.launches), count(kernel.blocks), processors(kernel),
              mean(kernel.cycles, kernel.launches), mean(kernel.block_cycles, kernel.blocks),
              kernel.blocks == 0 ? nothing() : count(kernel.shortest), count(kernel.longest),
              share(kernel.busy, kernel.busy + kernel.lost), share(kernel.busy, kernel.most_busy),
              share(kernel.idle_at_end, kernel.all_of_used), count(kernel.lost), count(kernel.unended)});
  }
  return list;
}

/// A digit for each part of the time: how many blocks were there, in the mean; a dot: some part of one; +: ten or more.
std::string strip(const LaunchBlocks &launch, uint32_t processor, size_t length) {
  std::string text;
  for (const double blocks : analyze::blocks_over_time(launch, processor, length)) {
    const long rounded = std::lround(blocks);
    text += blocks <= 0 ? ' ' : rounded == 0 ? '.' : rounded > 9 ? '+' : static_cast<char>('0' + rounded);
  }
  return text;
}

nlohmann::ordered_json json_of_launch(uint64_t number, const std::string &kernel, const LaunchBlocks &launch) {
  nlohmann::ordered_json all{{"schema", "cairn.gpu.launch_blocks/1"}, {"launch", number},
                             {"kernel", valid_utf8(kernel)},          {"cycles", launch.cycles()},
                             {"available", launch.all_processors},    {"busy", launch.busy()},
                             {"balance", launch.balance()},           {"idle_at_end", launch.idle_at_end()},
                             {"unended_warps", launch.unended}};
  all["multiprocessors"] = nlohmann::ordered_json::array();
  for (const analyze::ProcessorUse &each : launch.processors) {
    all["multiprocessors"].push_back({{"number", each.number},
                                      {"blocks", each.blocks},
                                      {"busy_cycles", each.busy},
                                      {"end_cycle", each.end},
                                      {"mean_blocks", each.mean_blocks()}});
  }
  all["blocks"] = nlohmann::ordered_json::array();
  for (const analyze::BlockTime &block : launch.blocks) {
    all["blocks"].push_back({{"block", block.block},
                             {"multiprocessor", block.processor},
                             {"begin_cycle", block.begin},
                             {"end_cycle", block.end}});
  }
  return all;
}

void print_launch(Output &out, const std::string &title, const LaunchBlocks &launch, uint64_t limit) {
  constexpr size_t kLength = 40;
  out.write(
      fmt::format("{}{}{}: {} cycles; {} of {} had a block; busy {:.1f} %, balance {:.1f} %, idle at end {:.1f} %\n",
                  out.bold(), title, out.plain(), grouped(launch.cycles()), grouped(launch.processors.size()),
                  plural(launch.all_processors, "multiprocessor"), 100 * launch.busy(), 100 * launch.balance(),
                  100 * launch.idle_at_end()));
  if (launch.unended != 0) {
    out.write(plural(launch.unended, "warp") + " did not tell when they ended, and are left out\n");
  }
  Listing list(
      {{"multiprocessor"}, {"blocks"}, {"busy"}, {"ended at"}, {"at once"}, {"blocks over time", nullptr, true}});
  for (const analyze::ProcessorUse &each : launch.processors) {
    list.add({words(std::to_string(each.number)), count(each.blocks), count(each.busy), count(each.end),
              words(fmt::format("{:.1f}", each.mean_blocks())),
              words("|" + strip(launch, each.number, kLength) + "|")});
  }
  list.print(out, limit);
}

}  // namespace

Result<bool> print_blocks(Output &out, const gpu::Launches &launches, const BlockQuestion &question) {
  if (question.launch) {
    const uint64_t number = *question.launch;
    if (number >= launches.launches.size()) {
      return fail(ErrorKind::usage,
                  fmt::format("there is no launch {}: the trace has {}", number,
                              plural(launches.launches.size(), "launch", "launches")),
                  "cairn gpu launches lists them");
    }
    const gpu::LaunchRecord &launch = launches.launches[number];
    const auto blocks = analyze::blocks_of(launch);
    if (!blocks) return false;
    const std::string kernel = launches.programs[launch.program].kernel(launch.kernel);
    if (question.json) {
      out.write(json_of_launch(number, kernel, *blocks).dump(2) + "\n");
    } else {
      print_launch(out, fmt::format("launch {}, {}", number, kernel), *blocks, question.limit);
    }
    return true;
  }
  const std::vector<KernelBlocks> kernels = analyze::kernel_blocks(launches);
  if (question.json) {
    out.write(
        nlohmann::ordered_json{{"schema", "cairn.gpu.blocks/1"}, {"kernels", kernel_list(kernels).json()}}.dump(2) +
        "\n");
    return true;
  }
  if (kernels.empty()) return false;
  kernel_list(kernels).print(out, question.limit);
  return true;
}

}  // namespace cairn::cli
