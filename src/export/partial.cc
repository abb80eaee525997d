#include "export/partial.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <utility>

namespace cairn::exporting {
namespace {

namespace fs = std::filesystem;

constexpr const char *kOther = "name another with --output";
constexpr const char *kOtherFile = "name another file with --output";

/// Paths that a signal deletes, the last ones first. A handler may not allocate.
constexpr int kMostDoomed = 32;
char doomed[kMostDoomed][PATH_MAX];
volatile sig_atomic_t doomed_count = 0;
constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

extern "C" void delete_doomed(int signal) {
  for (int i = doomed_count; i-- > 0;) {
    if (unlink(doomed[i]) != 0) rmdir(doomed[i]);
  }
  std::signal(signal, SIG_DFL);
  raise(signal);
}

bool doom(const std::string &path) {
  if (doomed_count == kMostDoomed || path.size() >= PATH_MAX) return false;
  std::memcpy(doomed[doomed_count], path.c_str(), path.size() + 1);
  doomed_count = doomed_count + 1;
  for (const int each : kSignals) {
    struct sigaction now {};
    if (sigaction(each, nullptr, &now) == 0 && now.sa_handler == SIG_DFL) std::signal(each, delete_doomed);
  }
  return true;
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
  // "made/" is "made".
  std::string own = path;
  while (own.size() > 1 && own.back() == '/') own.pop_back();
  const Unsignalled guard;
  const int why = make(own + ".partial", folder);
  if (why == EEXIST) {
    return wrong_at(ErrorKind::usage, own + ".partial",
                    "is there already: what another export writes, or what is left of one that was killed",
                    "delete it, or name another file with --output");
  }
  if (why != 0) {
    return wrong_at(ErrorKind::environment, path, fmt::format("cannot be made: {}", std::strerror(why)),
                    folder ? kOther : kOtherFile);
  }
  return Partial(std::move(own), folder);
}

Partial::Partial(std::string path, bool folder)
    : path_(std::move(path)), name_(path_ + ".partial"), folder_(folder), first_(doomed_count) {
  count_ = doom(name_) ? 1 : 0;
}

Partial::Partial(Partial &&other) noexcept
    : path_(std::move(other.path_)),
      name_(std::exchange(other.name_, std::string())),
      folder_(other.folder_),
      first_(other.first_),
      count_(std::exchange(other.count_, 0)) {}

Partial::~Partial() {
  if (name_.empty()) return;
  std::error_code ignored;
  fs::remove_all(name_, ignored);
  spare();
}

/// No signal deletes any of it.
void Partial::spare() {
  if (doomed_count == first_ + count_) doomed_count = first_;
}

std::string Partial::will_have(const std::string &file) {
  std::string path = name_ + "/" + file;
  if (doomed_count == first_ + count_ && doom(path)) ++count_;
  return path;
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

}  // namespace cairn::exporting
