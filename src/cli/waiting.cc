#include "cli/waiting.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <iterator>
#include <thread>

#include "spool/contents.h"
#include "terminal/terminal.h"
#include "terminal/words.h"

namespace cairn::cli {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
constexpr milliseconds kUntilSaid{500};
constexpr milliseconds kForOrphans{1000};

volatile sig_atomic_t interrupted = 0;

/// While one lives, signals that would end this process are noted.
class Interrupts {
 public:
  Interrupts() {
    struct sigaction action {};
    action.sa_handler = [](int) { interrupted = 1; };
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < std::size(kSignals); ++i) {
      sigaction(kSignals[i], nullptr, &before_[i]);
      if (before_[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
    }
  }
  Interrupts(const Interrupts &) = delete;
  Interrupts &operator=(const Interrupts &) = delete;
  ~Interrupts() {
    for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }

 private:
  struct sigaction before_[std::size(kSignals)];
};

/// Descendants that live on, as far as they have been adopted; those that have ended are let go.
bool has_orphans() {
  for (;;) {
    const pid_t ended = waitpid(-1, nullptr, WNOHANG);
    if (ended == 0) return true;
    if (ended < 0) return false;
  }
}

}  // namespace

void adopt_orphans() { prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

size_t wait_for_processes(const std::string &folder) {
  const Interrupts interrupts;
  const Clock::time_point begin = Clock::now();
  Clock::time_point quiet_since = begin;  // no process holds an arena: others, whose launcher died, may still begin
  bool said = false;
  for (milliseconds pause{5};; pause = std::min(pause * 2, milliseconds{100})) {
    const size_t living = spool::living_in(folder);
    const auto waited = Clock::now() - begin;
    if (living != 0) quiet_since = Clock::now();
    if (living == 0 && (Clock::now() - quiet_since > kForOrphans || !has_orphans())) return 0;
    if (living != 0 && !said && waited > kUntilSaid) {
      say(fmt::format("waiting for {} that still run{}; Ctrl-C stops waiting, and what they record is kept",
                      plural(living, "process", "processes"), living == 1 ? "s" : ""));
      said = true;
      interrupted = 0;
    }
    if (said && interrupted != 0) return living;
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace cairn::cli
