#include "terminal/output_of.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
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

}  // namespace

Result<Printed> output_of(const std::vector<std::string> &command) {
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
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return Printed{WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), out.text(), error.text()};
}

}  // namespace cairn::cli
