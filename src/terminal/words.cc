#include "terminal/words.h"

#include <fmt/format.h>

#include <array>
#include <ctime>

#include "text/utf8.h"

namespace cairn::cli {

std::string grouped(uint64_t number) {
  const std::string digits = fmt::format("{}", number);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string bytes_text(uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  static constexpr std::array<const char *, 6> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (value >= 1023.95 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string time_text(uint64_t nanoseconds) {
  if (nanoseconds < 1000) return fmt::format("{} ns", nanoseconds);
  double value = static_cast<double>(nanoseconds) / 1e3;
  const char *unit = "us";
  if (value >= 999.5) {
    value /= 1e3;
    unit = "ms";
  }
  if (value >= 999.5) {
    value /= 1e3;
    unit = "s";
  }
  if (value >= 99.95) return fmt::format("{:.0f} {}", value, unit);
  return value >= 9.995 ? fmt::format("{:.1f} {}", value, unit) : fmt::format("{:.2f} {}", value, unit);
}

std::string utc_text(int64_t unix_ns) {
  const auto seconds = static_cast<std::time_t>(unix_ns / 1'000'000'000);
  std::tm parts{};
  if (unix_ns <= 0 || gmtime_r(&seconds, &parts) == nullptr) return "unknown";
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string plural(uint64_t number, const char *thing, const char *things) {
  if (number == 1) return fmt::format("1 {}", thing);
  return things != nullptr ? fmt::format("{} {}", grouped(number), things)
                           : fmt::format("{} {}s", grouped(number), thing);
}

std::string csv_quoted(const std::string &text) {
  std::string quoted = "\"";
  for (const char letter : valid_utf8(text)) {
    if (letter == '"') quoted += '"';
    quoted += letter;
  }
  return quoted + '"';
}

std::string shell_quoted(const std::vector<std::string> &words) {
  std::string line;
  for (const std::string &word : words) {
    if (!line.empty()) line += ' ';
    const bool plain = !word.empty() && word.find_first_not_of(
                                            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                            "0123456789_-+=:,./@%") == std::string::npos;
    if (plain) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) {
      if (c == '\'') {
        line += "'\\''";
      } else {
        line += c;
      }
    }
    line += '\'';
  }
  return line;
}

}  // namespace cairn::cli
