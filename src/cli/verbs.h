// The verbs of `cairn`, one file each. A verb declares its options on a subcommand and, when that was chosen, sets
// `run` to what main is to do; `run` returns the exit code.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace cairn::cli {

using Run = std::function<int()>;
/// What follows the options of a verb that runs something.
using Command = std::vector<std::string>;

void add_record(CLI::App &app, Run &run, const Command &command);
void add_exec(CLI::App &app, Run &run, const Command &command);
void add_env(CLI::App &app, Run &run, const Command &command);
void add_info(CLI::App &app, Run &run);
void add_summary(CLI::App &app, Run &run);
void add_dump(CLI::App &app, Run &run);
void add_gpu(CLI::App &app, Run &run);
void add_diff(CLI::App &app, Run &run);
void add_export(CLI::App &app, Run &run);
void add_verify(CLI::App &app, Run &run);
void add_merge(CLI::App &app, Run &run);
void add_doctor(CLI::App &app, Run &run);
/// `words`: all that follows the verb.
void add_instrument(CLI::App &app, Run &run, const Command &words);
/// `words`: all that follows the verb.
void add_arrays(CLI::App &app, Run &run, const Command &words);

}  // namespace cairn::cli
