#include "files/partial.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <utility>

namespace cairn {
namespace {

namespace fs = std::filesystem;

constexpr const char *kOther = "name another with --output";
constexpr const char *kOtherFile = "name another file with --output";

/// Paths that a signal deletes; "" where there is none any more. A handler may not allocate.
constexpr int kMostDoomed = 32;
char doomed[kMostDoomed][PATH_MAX];
constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

/// Deletes all that is in a folder, by nothing but system calls.
void empty(int folder, int depth) {
  constexpr int kDeepest = 8;
  alignas(dirent64) char entries[4096];
  bool deleted = true;
  while (std::exchange(deleted, false)) {
    lseek(folder, 0, SEEK_SET);
    for (long size = 0; (size = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0;) {
      for (long at = 0; at < size;) {
        const auto *entry = reinterpret_cast<const dirent64 *>(entries + at);
        at += entry->d_reclen;
        const char *name = entry->d_name;
        if (std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0) continue;
        if (unlinkat(folder, name, 0) == 0) {
          deleted = true;
          continue;
        }
        const int inner =
            depth == kDeepest ? -1 : openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (inner < 0) continue;
        empty(inner, depth + 1);
        close(inner);
        deleted = unlinkat(folder, name, AT_REMOVEDIR) == 0 || deleted;
      }
    }
  }
}

extern "C" void delete_doomed(int signal) {
  for (const char *path : doomed) {
    if (path[0] == '\0' || unlink(path) == 0) continue;
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) continue;
    empty(folder, 0);
    close(folder);
    rmdir(path);
  }
  std::signal(signal, SIG_DFL);
  raise(signal);
}

/// The path's place; −1: there is no room for it.
int doom(const std::string &path) {
  if (path.size() >= PATH_MAX) return -1;
  for (int i = 0; i < kMostDoomed; ++i) {
    if (doomed[i][0] != '\0') continue;
    std::memcpy(doomed[i], path.c_str(), path.size() + 1);
    for (const int each : kSignals) {
      struct sigaction now {};
      if (sigaction(each, nullptr, &now) == 0 && now.sa_handler == SIG_DFL) std::signal(each, delete_doomed);
    }
    return i;
  }
  return -1;
}

/// As long as this is there no signal is handled: what is made is doomed, and nothing else.
class Unsignalled {
 public:
  Unsignalled() {
    sigset_t all;
    sigemptyset(&all);
    for (const int each : kSignals) sigaddset(&all, each);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~Unsignalled() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  Unsignalled(const Unsignalled &) = delete;
  Unsignalled &operator=(const Unsignalled &) = delete;

 private:
  sigset_t before_{};
};

/// An empty file, or a folder; 0, or errno.
int make(const std::string &path, bool folder) {
  if (folder) return mkdir(path.c_str(), 0777) == 0 ? 0 : errno;
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return errno;
  close(file);
  return 0;
}

}  // namespace

tl::unexpected<Error> wrong_at(ErrorKind kind, const std::string &path, const std::string &what, const char *hint) {
  return tl::unexpected(Error{kind, what, path, Error::kNoOffset, hint});
}

Result<Partial> Partial::of(const std::string &path, bool folder) {
  std::error_code error;
  struct stat status {};
  if (lstat(path.c_str(), &status) == 0) {
    if (!folder) return wrong_at(ErrorKind::usage, path, "is there already", kOtherFile);
    if (!fs::is_directory(path, error)) return wrong_at(ErrorKind::environment, path, "is no folder", kOther);
    if (!fs::is_empty(path, error)) {
      return wrong_at(ErrorKind::usage, path, "is not empty", "name a folder that is not there with --output");
    }
  }
  // "made/" is "made"; of a link to an empty folder, the folder becomes one that is not empty.
  std::string own = path;
  while (own.size() > 1 && own.back() == '/') own.pop_back();
  if (fs::is_symlink(own, error)) {
    const fs::path real = fs::canonical(own, error);
    if (!error) own = real.string();
  }
  const Unsignalled guard;
  const int why = make(own + ".partial", folder);
  if (why == EEXIST) {
    return wrong_at(ErrorKind::usage, own + ".partial",
                    "is there already: what another one writes, or what is left of one that was killed",
                    "delete it, or name another file with --output");
  }
  if (why != 0) {
    return wrong_at(ErrorKind::environment, path, fmt::format("cannot be made: {}", std::strerror(why)),
                    folder ? kOther : kOtherFile);
  }
  return Partial(std::move(own), folder);
}

Partial::Partial(std::string path, bool folder)
    : path_(std::move(path)), name_(path_ + ".partial"), folder_(folder), doomed_(doom(name_)) {}

Partial::Partial(Partial &&other) noexcept
    : path_(std::move(other.path_)),
      name_(std::exchange(other.name_, std::string())),
      folder_(other.folder_),
      doomed_(std::exchange(other.doomed_, -1)) {}

Partial::~Partial() {
  if (name_.empty()) return;
  std::error_code ignored;
  fs::remove_all(name_, ignored);
  spare();
}

/// No signal deletes it.
void Partial::spare() {
  if (doomed_ >= 0) doomed[std::exchange(doomed_, -1)][0] = '\0';
}

Result<void> Partial::finish() {
  int why = 0;
  if (folder_) {
    why = rename(name_.c_str(), path_.c_str()) == 0 ? 0 : errno;
  } else if (link(name_.c_str(), path_.c_str()) == 0) {
    unlink(name_.c_str());
  } else if (errno == EEXIST) {
    why = EEXIST;
  } else {
    // A file system without hard links.
    struct stat status {};
    why = lstat(path_.c_str(), &status) == 0 ? EEXIST : rename(name_.c_str(), path_.c_str()) == 0 ? 0 : errno;
  }
  if (why != 0) {
    return wrong_at(ErrorKind::environment, path_, fmt::format("cannot be made: {}", std::strerror(why)), kOther);
  }
  spare();
  name_.clear();
  return {};
}

}  // namespace cairn
