// The verbs of `cairn arrays`, a file each: as those of `cairn` (cli/verbs.h). main.cc has the table.
#pragma once

#include "terminal/program.h"

namespace cairn::array_tool {

cli::Action declare_run(cli::Options &verb);
cli::Action declare_read(cli::Options &verb);
cli::Action declare_info(cli::Options &verb);
cli::Action declare_verify(cli::Options &verb);
cli::Action declare_recover(cli::Options &verb);
cli::Action declare_export(cli::Options &verb);
cli::Action declare_import(cli::Options &verb);
cli::Action declare_compact(cli::Options &verb);
cli::Action declare_bench(cli::Options &verb);

}  // namespace cairn::array_tool
