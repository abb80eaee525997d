#include "terminal/pager.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>

#include "terminal/executable.h"

namespace cairn::cli {
namespace {

constexpr const char *kOwn = "CAIRN_PAGER";

/// The command, for a shell; empty for none.
std::string command() {
  const char *words = getenv(kOwn);
  if (words == nullptr) words = getenv("PAGER");
  const std::string chosen = words == nullptr ? "less" : words;
  // What a shell would not find is none. Others than plain words are for the shell to judge.
  const std::string first = chosen.substr(0, chosen.find(' '));
  const bool is_plain = first.find_first_of("$`'\"\\;|&(=~") == std::string::npos;
  return chosen.empty() || chosen == "cat" || (is_plain && !can_run(first)) ? "" : chosen;
}

}  // namespace

std::optional<Pager> Pager::start() {
  const std::string words = command();
  int ends[2];
  if (words.empty() || pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  const pid_t process = fork();
  if (process == 0) {
    dup2(ends[0], STDIN_FILENO);
    // As git has it: less shows colours, stays where it is, and ends where the text is short.
    setenv("LESS", "FRX", 0);
    execl("/bin/sh", "sh", "-c", words.c_str(), nullptr);
    _exit(127);
  }
  close(ends[0]);
  if (process < 0) {
    close(ends[1]);
    return std::nullopt;
  }
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGQUIT, SIG_IGN);
  return Pager(process, ends[1]);
}

void Pager::finish() {
  close(file_);
  int status = 0;
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
}

void use_no_pager() { setenv(kOwn, "", 1); }

}  // namespace cairn::cli
