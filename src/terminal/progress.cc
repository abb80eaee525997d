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
  std::fputs(("\r\033[Kcairn: " + text()).c_str(), stderr);
}

std::string Progress::text() const {
  if (done_ > whole_) return fmt::format("{} {}", grouped(done_), things_);
  const double part = whole_ == 0 ? 1 : static_cast<double>(done_) / static_cast<double>(whole_);
  const std::chrono::duration<double, std::nano> took = Clock::now() - began_;
  const std::string left =
      part <= 0 ? "" : ", about " + time_text(static_cast<uint64_t>(took.count() * (1 - part) / part)) + " left";
  return fmt::format("{} of {} {}, {} %{}", grouped(done_), grouped(whole_), things_, static_cast<uint64_t>(100 * part),
                     left);
}

}  // namespace cairn::cli
