// Runs a command as a child: looks it up in PATH, passes signals on to it, and gives its exit code.
#pragma once

#include <csignal>
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

/// While there is one, signals that end processes (SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2) wait: for who
/// makes files that nobody would know of if it ended just now. For one thread at a time.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals() { release(); }
  HeldSignals(HeldSignals &&other) noexcept;
  HeldSignals &operator=(HeldSignals &&) = delete;
  HeldSignals(const HeldSignals &) = delete;
  HeldSignals &operator=(const HeldSignals &) = delete;

  /// Whether one waits that is not ignored.
  [[nodiscard]] bool waiting() const;
  /// Those that wait come now.
  void release();

 private:
  sigset_t before_;
  bool holds_ = true;
};

/// Runs `command` with `variables` set and waits for it. SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 are passed on, SIGINT and
/// SIGQUIT when they come from a process: from a terminal, the child gets them itself. The result is its exit code, or
/// 128 plus the number of the signal that killed it. `held`: signals wait until there is a child to pass them on to.
Result<int> run_child(const std::vector<std::string> &command,
                      const std::vector<std::pair<std::string, std::string>> &variables, HeldSignals held = {});

}  // namespace cairn::cli
