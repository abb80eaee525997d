// What goes to the user's terminal: data on stdout through `Output`, talk on stderr through `say` and `report`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "terminal/pager.h"

namespace cairn::cli {

constexpr int kFine = 0;
constexpr int kNegative = 1;  ///< the answer is no: verify found a difference
constexpr int kUsage = 2;
constexpr int kUnreadable = 3;
constexpr int kEnvironment = 4;
constexpr int kInternal = 5;
constexpr int kRecordFailed = 125;  ///< `record` and `exec`: our own failure, as `env` and `timeout` say it
constexpr int kNotExecutable = 126;
constexpr int kNotFound = 127;

/// "cairn: run.cairn: section 'rows' is cut short at byte 123; record it again" on stderr, always one line.
void say(std::string_view message);
std::string error_line(const Error &error);
/// Says the error and gives the exit code of its kind.
int report(const Error &error);
/// The same of an error that does not know which file it is about.
int report(Error error, const std::string &path);
/// Says that the user's words make no sense and gives kUsage.
int refuse(std::string message, std::string hint, std::string path = {});
/// kFine, or what `report` gives.
int exit_code(const Result<void> &done);
/// The same for `record` and `exec`, whose own failures are 125 to 127.
int report_recording(const Error &error);

/// stdout with a large buffer. A reader that goes away (a closed pipe) ends the program quietly, as it does other
/// tools; a full disk is an error when `finish` is called.
///
/// On a terminal, lines that are wider are folded at blanks, what follows indented below where the text of the line
/// begins; JSON is not, and nothing is where `keep_lines` was called. What is longer than the screen goes to a pager.
class Output {
 public:
  Output();
  ~Output();
  Output(const Output &) = delete;
  Output &operator=(const Output &) = delete;
  void write(std::string_view text);
  /// Lines stay as they are, for other programs or to be copied.
  void keep_lines() { folds_ = false; }
  /// The columns of the terminal; where there is none, more than any line has.
  [[nodiscard]] size_t width() const { return width_; }
  /// Flushes; kFine, or says what went wrong and gives kEnvironment.
  int finish();
  /// Escape codes where stdout is a terminal that wants colour, else "".
  [[nodiscard]] const char *bold() const { return colour_ ? "\033[1m" : ""; }
  [[nodiscard]] const char *dim() const { return colour_ ? "\033[2m" : ""; }
  [[nodiscard]] const char *warning() const { return colour_ ? "\033[33m" : ""; }
  [[nodiscard]] const char *plain() const { return colour_ ? "\033[0m" : ""; }

 private:
  bool colour_;
  bool folds_;          ///< only on a terminal
  bool begun_ = false;  ///< something was written
  size_t width_ = SIZE_MAX;
  size_t height_ = 0;  ///< of the screen, until it is known whether the text is longer; else 0
  int error_ = 0;
  std::string buffer_;
  std::optional<Pager> pager_;
  void flush(bool all);
  void close();
};

}  // namespace cairn::cli
