// The program that shows long text a screen at a time: CAIRN_PAGER, else PAGER, else less. Empty or "cat" means none.
//
// What is written to `file` goes there. While the pager runs, this process leaves the keys of the terminal to it:
// Ctrl-C ends neither. A reader who has seen enough closes the pipe, and this process ends as with any closed pipe.
#pragma once

#include <sys/types.h>

#include <optional>

namespace cairn::cli {

class Pager {
 public:
  /// Nothing if there is none, or it cannot be started.
  static std::optional<Pager> start();
  [[nodiscard]] int file() const { return file_; }
  /// Says that this was all, and waits until the reader has seen enough.
  void finish();

 private:
  Pager(pid_t process, int file) : process_(process), file_(file) {}
  pid_t process_;
  int file_;
};

/// From now on, in this process and what it becomes, there is no pager.
void use_no_pager();

}  // namespace cairn::cli
