#include "cli/left_out_traffic.h"

#include <fmt/format.h>

#include "terminal/terminal.h"
#include "terminal/words.h"

namespace cairn::cli {

void say_left_out(const traffic::Seen &seen, const trace::Trace &trace) {
  if (seen.nowhere == 0) return;
  // Of joined jobs those are here that could be put in.
  const char *of_others = trace.run().jobs.empty()
                              ? "as of spawned ones (which cairn join puts in) and of graphs that others described"
                              : "as of other runs and of graphs that others described";
  say(fmt::format("{} left out: the trace does not tell with which process, {}",
                  plural(seen.nowhere, "message or access", "messages and accesses"), of_others));
}

}  // namespace cairn::cli
