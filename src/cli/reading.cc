#include "cli/reading.h"

#include <chrono>
#include <numeric>

#include "base/saturating.h"

namespace cairn::cli {
namespace {

uint64_t calls_of(const trace::Trace &trace, const std::vector<uint32_t> &ranks) {
  uint64_t calls = 0;
  for (const uint32_t rank : ranks) add_to(&calls, trace.call_count(rank));
  return calls;
}

}  // namespace

Reading::Reading(const trace::Trace &trace, const std::vector<uint32_t> &ranks)
    : traces_{&trace}, progress_(0, "calls") {
  if (!progress_.shows()) return;
  progress_.be(calls_of(trace, ranks.empty() ? trace.ranks() : ranks));
  begin();
}

Reading::Reading(const trace::Trace &first, const trace::Trace &second, uint64_t times)
    : traces_{&first, &second}, progress_(0, "calls") {
  if (!progress_.shows()) return;
  uint64_t calls = calls_of(first, first.ranks());
  add_to(&calls, calls_of(second, second.ranks()));
  progress_.be(saturating_product(calls, times));
  begin();
}

void Reading::begin() {
  before_ = given();
  watcher_ = std::thread([this] {
    uint64_t told = 0;
    std::unique_lock lock(mutex_);
    while (!ended_.wait_for(lock, std::chrono::milliseconds(200), [this] { return ends_; })) {
      const uint64_t read = given() - before_;
      if (read != 0) progress_.add(read - told);
      told = read;
    }
  });
}

uint64_t Reading::given() const {
  return std::accumulate(traces_.begin(), traces_.end(), uint64_t{0},
                         [](uint64_t sum, const trace::Trace *trace) { return sum + trace->calls_given(); });
}

void Reading::end() {
  if (!watcher_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  ended_.notify_one();
  watcher_.join();
  progress_.clear();
}

}  // namespace cairn::cli
