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

}  // namespace cairn::cli
