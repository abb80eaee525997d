// The verbs of `cairn`, a file each: it declares the verb's options and says what the verb does. main.cc has the table.
#pragma once

#include "terminal/program.h"

namespace cairn::cli {

Action declare_record(Options &verb);
Action declare_exec(Options &verb);
Action declare_env(Options &verb);
Action declare_merge(Options &verb);
Action declare_join(Options &verb);
Action declare_peek(Options &verb);
Action declare_doctor(Options &verb);
Action declare_info(Options &verb);
Action declare_summary(Options &verb);
Action declare_loops(Options &verb);
Action declare_ranks(Options &verb);
Action declare_phases(Options &verb);
Action declare_matrix(Options &verb);
Action declare_sizes(Options &verb);
Action declare_timeline(Options &verb);
Action declare_waits(Options &verb);
Action declare_path(Options &verb);
Action declare_efficiency(Options &verb);
Action declare_check(Options &verb);
Action declare_dump(Options &verb);
Action declare_verify(Options &verb);
Action declare_repack(Options &verb);
Action declare_gpu(Options &verb);
Action declare_report(Options &verb);
Action declare_serve(Options &verb);
Action declare_replay(Options &verb);
Action declare_proxy(Options &verb);
Action declare_extrapolate(Options &verb);
Action declare_estimate(Options &verb);
Action declare_diff(Options &verb);
Action declare_export(Options &verb);
Action declare_instrument(Options &verb);

}  // namespace cairn::cli
