// Runs a command as a child: looks it up in PATH, passes signals on to it, and gives its exit code.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace cairn::cli {

/// Sets the variables in this process.
void set_environment(const std::vector<std::pair<std::string, std::string>> &variables);

/// Replaces this process by `command`; returns only with the reason why that failed: `not_found` (127) or
/// `not_executable` (126).
Error execute(const std::vector<std::string> &command);

/// Runs `command` with `variables` set and waits for it. SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 are passed on, SIGINT and
/// SIGQUIT when they come from a process: from a terminal, the child gets them itself. The result is its exit code, or
/// 128 plus the number of the signal that killed it.
Result<int> run_child(const std::vector<std::string> &command,
                      const std::vector<std::pair<std::string, std::string>> &variables);

}  // namespace cairn::cli
