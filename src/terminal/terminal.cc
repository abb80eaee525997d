#include "terminal/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/whole.h"
#include "terminal/screen.h"

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
  const bool is_dumb = terminal == nullptr || std::strcmp(terminal, "dumb") == 0;
  folds_ = isatty(STDOUT_FILENO) == 1;
  colour_ = folds_ && (no_colour == nullptr || *no_colour == '\0') && !is_dumb;
  if (folds_) {
    winsize size{};
    const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
    width_ = known && size.ws_col != 0 ? size.ws_col : 80;
    if (!is_dumb) height_ = known && size.ws_row != 0 ? size.ws_row : 24;
  }
  buffer_.reserve(kBuffer);
}

Output::~Output() { close(); }

void Output::write(std::string_view text) {
  if (!begun_ && text.starts_with('{')) folds_ = false;
  begun_ = begun_ || !text.empty();
  if (buffer_.size() + text.size() > kBuffer) flush(false);
  buffer_ += text;
}

/// `all`: the last line has come, even if it does not end.
void Output::flush(bool all) {
  std::string text = std::move(buffer_);
  buffer_.clear();
  if (folds_ && !all) {
    const size_t end = text.rfind('\n') + 1;  // 0 if there is none
    buffer_ = text.substr(end);
    text.resize(end);
  }
  if (folds_) text = folded(text, width_);
  if (height_ != 0 && !text.empty()) {
    // What has come so far is a screen, or all, or as much as goes into the buffer.
    if (!all || screen_lines(text, width_) >= height_) pager_ = Pager::start();
    height_ = 0;
  }
  const int file = pager_ ? pager_->file() : STDOUT_FILENO;
  if (error_ == 0) error_ = write_all(file, {reinterpret_cast<const uint8_t *>(text.data()), text.size()});
}

void Output::close() {
  flush(true);
  if (pager_) pager_->finish();
  pager_.reset();
}

int Output::finish() {
  close();
  if (error_ == 0) return kFine;
  if (error_ != EPIPE) say(fmt::format("cannot write the output: {}", std::strerror(error_)));
  return kEnvironment;
}

}  // namespace cairn::cli
