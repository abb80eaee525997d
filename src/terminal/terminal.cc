#include "terminal/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/whole.h"

namespace cairn::cli {
namespace {

constexpr size_t kBuffer = 1U << 16;

/// Control characters would break the promise of one line.
std::string one_line(std::string_view text) {
  std::string out(text);
  for (char &c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

}  // namespace

void say(std::string_view message) {
  const std::string line = "cairn: " + one_line(message) + "\n";
  // One write: lines of several ranks must not mix.
  write_all(STDERR_FILENO, {reinterpret_cast<const uint8_t *>(line.data()), line.size()});
}

std::string error_line(const Error &error) {
  std::string line;
  if (!error.path.empty()) line = error.path + ": ";
  line += error.message;
  if (error.offset != Error::kNoOffset) line += fmt::format(" at byte {}", error.offset);
  if (!error.hint.empty()) line += "; " + error.hint;
  return line;
}

int report(const Error &error) {
  say(error_line(error));
  switch (error.kind) {
    case ErrorKind::usage:
      return kUsage;
    case ErrorKind::unreadable:
      return kUnreadable;
    case ErrorKind::environment:
    case ErrorKind::not_found:
    case ErrorKind::not_executable:
      return kEnvironment;
    case ErrorKind::internal:
      break;
  }
  return kInternal;
}

int report(Error error, const std::string &path) {
  error.path = path;
  return report(error);
}

int refuse(std::string message, std::string hint, std::string path) {
  return report({ErrorKind::usage, std::move(message), std::move(path), Error::kNoOffset, std::move(hint)});
}

int exit_code(const Result<void> &done) { return done ? kFine : report(done.error()); }

int report_recording(const Error &error) {
  say(error_line(error));
  if (error.kind == ErrorKind::not_found) return kNotFound;
  return error.kind == ErrorKind::not_executable ? kNotExecutable : kRecordFailed;
}

Output::Output() {
  const char *no_colour = getenv("NO_COLOR");
  const char *terminal = getenv("TERM");
  colour_ = isatty(STDOUT_FILENO) == 1 && (no_colour == nullptr || *no_colour == '\0') && terminal != nullptr &&
            std::strcmp(terminal, "dumb") != 0;
  buffer_.reserve(kBuffer);
}

Output::~Output() { flush(); }

void Output::write(std::string_view text) {
  if (buffer_.size() + text.size() > kBuffer) flush();
  buffer_ += text;
}

void Output::flush() {
  if (error_ == 0)
    error_ = write_all(STDOUT_FILENO, {reinterpret_cast<const uint8_t *>(buffer_.data()), buffer_.size()});
  buffer_.clear();
}

int Output::finish() {
  flush();
  if (error_ == 0) return kFine;
  if (error_ != EPIPE) say(fmt::format("cannot write the output: {}", std::strerror(error_)));
  return kEnvironment;
}

}  // namespace cairn::cli
