#include "export/partial.h"

#include <fmt/format.h>
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

tl::unexpected<Error> wrong(ErrorKind kind, const std::string &path, const std::string &what, const char *hint) {
  return tl::unexpected(Error{kind, what, path, Error::kNoOffset, hint});
}

}  // namespace

Result<Partial> Partial::of(const std::string &path, bool folder) {
  std::error_code error;
  struct stat status {};
  if (lstat(path.c_str(), &status) == 0) {
    if (!folder) return wrong(ErrorKind::usage, path, "is there already", "name another file with --output");
    if (!fs::is_directory(path, error)) return wrong(ErrorKind::environment, path, "is no folder", kOther);
    if (!fs::is_empty(path, error)) {
      return wrong(ErrorKind::usage, path, "is not empty", "name a folder that is not there with --output");
    }
  }
  Partial made(path, folder);
  if (lstat(made.name_.c_str(), &status) == 0) {
    made.name_.clear();
    return wrong(ErrorKind::usage, path + ".partial",
                 "is there already: what another export writes, or what is left of one that was killed",
                 "delete it, or name another file with --output");
  }
  // Before it is there, so that no signal finds it there and does not know of it.
  made.first_ = doomed_count;
  made.count_ = doom(made.name_) ? 1 : 0;
  if (folder && mkdir(made.name_.c_str(), 0777) != 0) {
    return wrong(ErrorKind::environment, path, fmt::format("cannot be made: {}", std::strerror(errno)), kOther);
  }
  return made;
}

Partial::Partial(std::string path, bool folder) : path_(std::move(path)), folder_(folder) {
  // "made/" is "made".
  while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
  name_ = path_ + ".partial";
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
  if (first_ >= 0 && doomed_count == first_ + count_) doomed_count = first_;
}

std::string Partial::will_have(const std::string &file) {
  std::string path = name_ + "/" + file;
  if (first_ >= 0 && doomed_count == first_ + count_ && doom(path)) ++count_;
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
    return wrong(ErrorKind::environment, path_, fmt::format("cannot be made: {}", std::strerror(why)), kOther);
  }
  if (first_ >= 0 && doomed_count == first_ + count_) doomed_count = first_;
  name_.clear();
  return {};
}

}  // namespace cairn::exporting
