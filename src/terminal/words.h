// Numbers, sizes and times as people read them, and commands as shells do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cairn::cli {

std::string grouped(uint64_t number);                                                  ///< 12,345
std::string bytes_text(uint64_t bytes);                                                ///< "345 B", "1.2 MiB"
std::string time_text(uint64_t nanoseconds);                                           ///< "7 ns", "1.23 ms", "12.3 s"
std::string utc_text(int64_t unix_ns);                                                 ///< 2026-11-21T11:02:24Z
std::string plural(uint64_t number, const char *thing, const char *things = nullptr);  ///< "1 rank", "16 ranks"
/// As a field of CSV, in quotes; valid UTF-8.
std::string csv_quoted(const std::string &text);
/// The words as a shell would take them.
std::string shell_quoted(const std::vector<std::string> &words);

}  // namespace cairn::cli
