// What goes to the user's terminal: data on stdout through `Output`, talk on stderr through `say` and `report`.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

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
class Output {
 public:
  Output();
  ~Output();
  Output(const Output &) = delete;
  Output &operator=(const Output &) = delete;
  void write(std::string_view text);
  /// Flushes; kFine, or says what went wrong and gives kEnvironment.
  int finish();
  /// Escape codes where stdout is a terminal that wants colour, else "".
  [[nodiscard]] const char *bold() const { return colour_ ? "\033[1m" : ""; }
  [[nodiscard]] const char *dim() const { return colour_ ? "\033[2m" : ""; }
  [[nodiscard]] const char *warning() const { return colour_ ? "\033[33m" : ""; }
  [[nodiscard]] const char *plain() const { return colour_ ? "\033[0m" : ""; }

 private:
  bool colour_;
  int error_ = 0;
  std::string buffer_;
  void flush();
};

}  // namespace cairn::cli
