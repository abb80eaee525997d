#include "terminal/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "terminal/words.h"

namespace cairn::cli {

Progress::Progress(uint64_t whole, std::string things)
    : whole_(whole),
      things_(std::move(things)),
      shows_(isatty(STDERR_FILENO) == 1),
      began_(Clock::now()),
      next_(began_ + std::chrono::seconds(2)) {}

void Progress::clear() {
  if (shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

void Progress::add(uint64_t more) {
  done_ += more;
  if (!shows_ || Clock::now() < next_) return;
  next_ = Clock::now() + std::chrono::milliseconds(200);
  shown_ = true;
  const uint64_t whole = std::max(whole_, done_);
  const double part = whole == 0 ? 1 : static_cast<double>(done_) / static_cast<double>(whole);
  const std::chrono::duration<double, std::nano> took = Clock::now() - began_;
  const std::string left =
      part <= 0 ? "" : ", about " + time_text(static_cast<uint64_t>(took.count() * (1 - part) / part)) + " left";
  const std::string line = fmt::format("\r\033[Kcairn: {} of {} {}, {} %{}", grouped(done_), grouped(whole), things_,
                                       static_cast<uint64_t>(100 * part), left);
  std::fputs(line.c_str(), stderr);
}

}  // namespace cairn::cli
