// Progress: how far something is that takes long, as a line on the terminal that rewrites itself. Nothing where stderr
// is no terminal, and nothing within the first two seconds. One thread; cheap, but not for each of millions of things.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace cairn::cli {

class Progress {
 public:
  /// "1,234,000 of 5,678,000 calls, 21 %, about 12 s left"; past the whole "5,679,000 calls".
  Progress(uint64_t whole, std::string things);
  ~Progress() { clear(); }
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;
  void add(uint64_t more);
  /// It is so much in all, as is known now.
  void be(uint64_t whole) { whole_ = whole; }
  /// Whether there is a terminal to show it on.
  [[nodiscard]] bool shows() const { return shows_; }
  /// Takes the line away now, before something else is said.
  void clear();

 private:
  [[nodiscard]] std::string text() const;
  using Clock = std::chrono::steady_clock;
  uint64_t whole_;
  std::string things_;
  uint64_t done_ = 0;
  bool shows_;  ///< there is a terminal
  bool shown_ = false;
  Clock::time_point began_;
  Clock::time_point next_;
};

}  // namespace cairn::cli
