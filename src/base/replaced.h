// Replaced: new contents of a file, which lie beside it until all of them are there, so that a full disk leaves an
// earlier file as it was. Behind a link its target is replaced; what is no file, as /dev/stdout, is written to.
//
// Plain functions of the operating system; errors are numbers of errno. One thread.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "base/whole.h"

namespace cairn {

class Replaced {
 public:
  explicit Replaced(std::string path) : path_(std::move(path)) {
    if (char *whole = realpath(path_.c_str(), nullptr); whole != nullptr) {
      path_ = whole;
      free(whole);
    }
  }
  Replaced(Replaced &&other) noexcept
      : path_(std::move(other.path_)), beside_(std::exchange(other.beside_, std::string())) {}
  Replaced &operator=(Replaced &&) = delete;
  /// Deletes what is beside it.
  ~Replaced() {
    if (!beside_.empty()) unlink(beside_.c_str());
  }

  /// All of it, once; 0, or what is wrong.
  int write(ByteView bytes) {
    struct stat status {};
    const bool replaces = stat(path_.c_str(), &status) != 0 || S_ISREG(status.st_mode);
    std::string name = replaces ? path_ + ".partial." + std::to_string(getpid()) : path_;
    const int file = open(name.c_str(), O_WRONLY | O_CLOEXEC | (replaces ? O_CREAT | O_EXCL : 0), 0666);
    if (file < 0) return errno;
    if (replaces) beside_ = std::move(name);
    const int wrong = write_all(file, bytes);
    return close(file) != 0 && wrong == 0 ? errno : wrong;
  }
  /// In the place of what has the name; 0, or what is wrong.
  int take_name() {
    if (beside_.empty()) return 0;
    if (rename(beside_.c_str(), path_.c_str()) != 0) return errno;
    beside_.clear();
    return 0;
  }

 private:
  std::string path_;
  std::string beside_;  ///< "": nothing is there
};

}  // namespace cairn
