#include "terminal/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace cairn::cli {
namespace {

constexpr int kSignals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

volatile sig_atomic_t child = 0;

void pass_on(int number, siginfo_t *info, void *) {
  const int saved = errno;
  const bool from_terminal = info->si_code > 0;
  // The terminal signals its whole foreground group, the child among it; a second one would make launchers kill.
  if (child > 0 && !from_terminal) kill(child, number);
  errno = saved;
}

Error why(const std::string &command, int number) {
  const bool missing = number == ENOENT || number == ENOTDIR;
  if (missing && command.find('/') == std::string::npos) {
    return {ErrorKind::not_found,
            fmt::format("{}: command not found", command),
            {},
            Error::kNoOffset,
            "check its spelling and PATH"};
  }
  if (missing) {
    return {ErrorKind::not_found,
            fmt::format("{}: there is no such file, or its interpreter is missing", command),
            {},
            Error::kNoOffset,
            "check the path"};
  }
  return {ErrorKind::not_executable,
          fmt::format("{}: cannot be executed: {}", command, std::strerror(number)),
          {},
          Error::kNoOffset,
          "check its permissions and format"};
}

/// Only returns on failure; errno says why.
void exec_words(const std::vector<std::string> &command) {
  std::vector<char *> words;
  words.reserve(command.size() + 1);
  for (const std::string &word : command) words.push_back(const_cast<char *>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
}

}  // namespace

void set_environment(const std::vector<std::pair<std::string, std::string>> &variables) {
  for (const auto &[name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
}

Error execute(const std::vector<std::string> &command) {
  exec_words(command);
  return why(command.front(), errno);
}

HeldSignals::HeldSignals() : before_() {
  sigset_t held;
  sigemptyset(&held);
  for (const int number : kSignals) sigaddset(&held, number);
  sigprocmask(SIG_BLOCK, &held, &before_);
}

HeldSignals::HeldSignals(HeldSignals &&other) noexcept
    : before_(other.before_), holds_(std::exchange(other.holds_, false)) {}

bool HeldSignals::waiting() const {
  sigset_t pending;
  sigpending(&pending);
  return std::any_of(std::begin(kSignals), std::end(kSignals), [&](int number) {
    struct sigaction now {};
    sigaction(number, nullptr, &now);
    return sigismember(&pending, number) == 1 && sigismember(&before_, number) == 0 && now.sa_handler != SIG_IGN;
  });
}

void HeldSignals::release() {
  if (std::exchange(holds_, false)) sigprocmask(SIG_SETMASK, &before_, nullptr);
}

Result<int> run_child(const std::vector<std::string> &command,
                      const std::vector<std::pair<std::string, std::string>> &variables, HeldSignals held) {
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
    return fail(ErrorKind::environment, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  }
  const pid_t pid = fork();
  if (pid < 0) {
    return fail(ErrorKind::environment, fmt::format("cannot start a process: {}", std::strerror(errno)));
  }
  if (pid == 0) {
    held.release();
    close(pipe_ends[0]);
    set_environment(variables);
    exec_words(command);
    const int number = errno;
    // The parent reads it; if even that fails, the exit code still says that nothing ran.
    if (write(pipe_ends[1], &number, sizeof number) != sizeof number) _exit(127);
    _exit(number == ENOENT ? 127 : 126);
  }
  child = pid;
  struct sigaction action {};
  action.sa_sigaction = pass_on;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigemptyset(&action.sa_mask);
  struct sigaction old[std::size(kSignals)];
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], nullptr, &old[i]);
    // What was ignored stays ignored (nohup).
    if (old[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
  held.release();
  close(pipe_ends[1]);
  int number = 0;
  ssize_t got = 0;
  do {
    got = read(pipe_ends[0], &number, sizeof number);
  } while (got < 0 && errno == EINTR);
  close(pipe_ends[0]);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  child = 0;
  for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &old[i], nullptr);
  if (got == sizeof number) return tl::unexpected<Error>(why(command.front(), number));
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace cairn::cli
