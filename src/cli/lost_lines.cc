#include "cli/lost_lines.h"

#include <fmt/format.h>

#include "terminal/words.h"

namespace cairn::cli {

std::vector<std::string> lost_lines(const spool::Contents &spool, const std::string &place) {
  std::vector<std::string> lines;
  for (const auto &[why, processes] : spool.lost) {
    lines.push_back(fmt::format("nothing is left of what {} recorded: {} could not keep it: {}",
                                plural(processes, "process", "processes"), place, why));
  }
  return lines;
}

std::vector<std::string> lost_lines(const spool::GpuLeft &left) {
  std::vector<std::string> lines;
  if (left.killed != 0) {
    const bool one = left.killed == 1;
    lines.push_back(fmt::format("{} that launched GPU kernels {} killed, or ended at once, with {} in flight",
                                one ? "a process" : plural(left.killed, "process", "processes"), one ? "was" : "were",
                                left.in_flight == 0 ? "none" : plural(left.in_flight, "launch", "launches")));
  }
  if (left.unwritten != 0) {
    lines.push_back(plural(left.unwritten, "GPU launch is", "GPU launches are") +
                    " not in the trace: there was no room to write them");
  }
  return lines;
}

}  // namespace cairn::cli
