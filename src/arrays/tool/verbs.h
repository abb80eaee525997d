// The verbs of `cairn arrays`, one file each: as those of `cairn` (cli/verbs.h).
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace cairn::array_tool {

using Run = std::function<int()>;

/// `command`: what follows the options.
void add_run(CLI::App &app, Run &run, const std::vector<std::string> &command);
void add_info(CLI::App &app, Run &run);
void add_verify(CLI::App &app, Run &run);
void add_export(CLI::App &app, Run &run);
void add_import(CLI::App &app, Run &run);
void add_compact(CLI::App &app, Run &run);
void add_bench(CLI::App &app, Run &run);

}  // namespace cairn::array_tool
