// Partial: what is written under another name, NAME.partial, until all of it is there, and gets its own then. So
// whoever finds a file finds all of it, whatever ended the process that wrote it.
//
// What was not finished is deleted, a folder with all that is in it: also by Ctrl-C, SIGTERM and SIGHUP, if nobody else
// handles them; not by SIGKILL.
// What has the name already is left as it was, but that an empty folder, or the one a link leads to, may become one
// that is not. One thread.
#pragma once

#include <string>

#include "base/result.h"

namespace cairn {

/// What went wrong with the file or folder at `path`.
tl::unexpected<Error> wrong_at(ErrorKind kind, const std::string &path, const std::string &what, const char *hint);

class Partial {
 public:
  /// Makes an empty file, or a `folder`, with the other name. Fails where there is one already, or something at `path`,
  /// but for an empty folder if it is to be one.
  static Result<Partial> of(const std::string &path, bool folder = false);
  Partial(Partial &&other) noexcept;
  Partial &operator=(Partial &&) = delete;
  /// Deletes what has the other name, with all that is in it, unless that was finished.
  ~Partial();
  /// Where to write.
  [[nodiscard]] const std::string &name() const { return name_; }
  /// All of it is there.
  Result<void> finish();

 private:
  Partial(std::string path, bool folder);
  void spare();
  std::string path_;
  std::string name_;
  bool folder_;
  int doomed_;  ///< its place among what signals delete; −1: it is not
};

}  // namespace cairn
