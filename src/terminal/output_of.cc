#include "terminal/output_of.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>

#include "base/whole.h"

namespace cairn::cli {
namespace {

class MemoryFile {
 public:
  explicit MemoryFile(const char *name) : descriptor_(memfd_create(name, MFD_CLOEXEC)) {}
  ~MemoryFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  MemoryFile(const MemoryFile &) = delete;
  MemoryFile &operator=(const MemoryFile &) = delete;
  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] std::string text() const {
    struct stat status {};
    if (fstat(descriptor_, &status) != 0) return {};
    std::string text(static_cast<size_t>(status.st_size), '\0');
    size_t at = 0;
    (void)read_at(descriptor_, 0, {reinterpret_cast<uint8_t *>(text.data()), text.size()}, &at);
    text.resize(at);
    return text;
  }

 private:
  int descriptor_;
};

/// False: it still runs. Where the kernel cannot tell (before Linux 5.3), it is taken to have ended.
bool ends_within(pid_t pid, std::chrono::milliseconds within) {
  const auto file = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (file < 0) return true;
  struct pollfd ended {};
  ended.fd = file;
  ended.events = POLLIN;
  const auto until = std::chrono::steady_clock::now() + within;
  int rc = 0;
  do {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
    rc = poll(&ended, 1, static_cast<int>(std::clamp<int64_t>(left, 0, INT_MAX)));
  } while (rc < 0 && errno == EINTR);
  close(file);
  return rc != 0;
}

}  // namespace

Result<Printed> output_of(const std::vector<std::string> &command, std::chrono::seconds within) {
  const MemoryFile out("out");
  const MemoryFile error("error");
  if (out.descriptor() < 0 || error.descriptor() < 0) {
    return fail(ErrorKind::environment, fmt::format("cannot make a file in memory: {}", std::strerror(errno)));
  }
  std::vector<char *> words;
  words.reserve(command.size() + 1);
  for (const std::string &word : command) words.push_back(const_cast<char *>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.descriptor(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, error.descriptor(), STDERR_FILENO);
  pid_t pid = 0;
  const int rc = posix_spawn(&pid, words.front(), &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (rc != 0) {
    return fail(ErrorKind::environment, fmt::format("cannot start {}: {}", command.front(), std::strerror(rc)));
  }
  const bool late = within.count() != 0 && !ends_within(pid, within);
  if (late) kill(pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return Printed{WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), out.text(), error.text(), late};
}

}  // namespace cairn::cli
