#include "cli/left_out_traffic.h"

#include <fmt/format.h>

#include "terminal/terminal.h"
#include "terminal/words.h"

namespace cairn::cli {

void say_left_out(const traffic::Seen &seen) {
  if (seen.nowhere == 0) return;
  say(
      fmt::format("{} left out: the trace does not tell with which process, as of spawned ones (which cairn join puts "
                  "in) and of graphs that others described",
                  plural(seen.nowhere, "message or access", "messages and accesses")));
}

}  // namespace cairn::cli
