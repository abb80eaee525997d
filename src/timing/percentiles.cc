#include "timing/percentiles.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "base/as_size.h"

namespace cairn::timing {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::array<unsigned, 3> kAsked = {50, 95, 99};

Percentiles from(const std::array<Percentile, kAsked.size()> &values) { return {values[0], values[1], values[2]}; }

/// From 1; `calls` is at least that.
uint64_t nearest_rank(uint64_t calls, unsigned percent) {
  return static_cast<uint64_t>((static_cast<Wide>(calls) * percent + 99) / 100);
}

/// Durations from `first` to `last`, both among them.
struct Bucket {
  uint64_t first;
  uint64_t last;
  uint64_t calls;
};

/// The place-th of them, from 1, where they lie at equal ratios.
Percentile within(const Bucket &bucket, uint64_t place) {
  if (bucket.last <= bucket.first) return {bucket.first, 0};
  const double part = (static_cast<double>(place) - 0.5) / static_cast<double>(bucket.calls);
  const auto first = static_cast<double>(bucket.first);
  const auto last = static_cast<double>(bucket.last);
  const double value = bucket.first == 0 ? part * last : first * std::pow(last / first, part);
  const uint64_t ns =
      value >= last ? bucket.last : std::clamp(static_cast<uint64_t>(std::round(value)), bucket.first, bucket.last);
  return {ns, static_cast<double>(bucket.last - bucket.first) / std::max(first, 1.0)};
}

/// What ascending buckets say, of which `each` gives one after the other to its argument; `calls` is in all of them.
template <typename Each>
Percentiles estimated(uint64_t calls, uint64_t least, uint64_t greatest, const Each &each) {
  std::array<Percentile, kAsked.size()> values{};
  uint64_t before = 0;
  size_t next = 0;
  each([&](Bucket bucket) {
    bucket.first = std::clamp(bucket.first, least, greatest);
    bucket.last = std::clamp(bucket.last, least, greatest);
    for (; next < values.size(); ++next) {
      const uint64_t wanted = nearest_rank(calls, kAsked[next]);
      if (wanted - before > bucket.calls) break;
      if (wanted == 1) {
        values[next] = {least, 0};
      } else if (wanted == calls) {
        values[next] = {greatest, 0};
      } else {
        values[next] = within(bucket, wanted - before);
      }
    }
    before += bucket.calls;
  });
  return from(values);
}

// Durations below 2^kBits each have a number, and each octave above has as many as half of these.
constexpr unsigned kBits = 11;
constexpr uint64_t kHalf = uint64_t{1} << (kBits - 1);
constexpr size_t kNumbers = (64 - kBits + 2) * kHalf;

size_t number_of(uint64_t nanoseconds) {
  const auto width = static_cast<unsigned>(std::bit_width(nanoseconds));
  const unsigned dropped = width > kBits ? width - kBits : 0;
  return dropped * kHalf + static_cast<size_t>(nanoseconds >> dropped);
}

Bucket bucket_of(size_t number, uint64_t calls) {
  const auto dropped = static_cast<unsigned>(number < 2 * kHalf ? 0 : number / kHalf - 1);
  const uint64_t first = (number - dropped * kHalf) << dropped;
  return {first, first + ((uint64_t{1} << dropped) - 1), calls};
}

}  // namespace

std::optional<Percentiles> percentiles_of(const CallStats &calls) {
  uint64_t held = 0;
  for (const Histogram::Bucket &bucket : calls.histogram.buckets()) held += bucket.count;
  if (held == 0 || held != calls.count || calls.minimum > calls.maximum) return std::nullopt;
  return estimated(held, calls.minimum, calls.maximum, [&](const auto &take) {
    for (const Histogram::Bucket &bucket : calls.histogram.buckets()) {
      const bool above = bucket.number + 1 >= CallStats::kBuckets;
      take({CallStats::bucket_start(bucket.number), above ? UINT64_MAX : CallStats::bucket_start(bucket.number + 1) - 1,
            bucket.count});
    }
  });
}

void Durations::add_rounded(uint64_t nanoseconds) {
  if (counts_.empty()) {
    counts_.resize(kNumbers);
    for (const uint64_t each : std::exchange(exact_, {})) add_rounded(each);
  }
  ++counts_[number_of(nanoseconds)];
  least_ = std::min(least_, nanoseconds);
  greatest_ = std::max(greatest_, nanoseconds);
}

void Durations::merge(const Durations &other) {
  if (counts_.empty() && !other.counts_.empty()) {
    const std::vector<uint64_t> own = std::exchange(exact_, {});
    *this = other;
    for (const uint64_t each : own) add_rounded(each);
    return;
  }
  for (const uint64_t each : other.exact_) add(each);
  if (other.counts_.empty()) return;
  for (size_t number = 0; number < kNumbers; ++number) counts_[number] += other.counts_[number];
  least_ = std::min(least_, other.least_);
  greatest_ = std::max(greatest_, other.greatest_);
}

std::optional<Percentiles> Durations::percentiles() const {
  if (counts_.empty()) {
    if (exact_.empty()) return std::nullopt;
    std::vector<uint64_t> sorted = exact_;
    std::sort(sorted.begin(), sorted.end());
    std::array<Percentile, kAsked.size()> values{};
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = {sorted[as_size(nearest_rank(sorted.size(), kAsked[i]) - 1)], 0};
    return from(values);
  }
  uint64_t calls = 0;
  for (const uint64_t count : counts_) calls += count;
  return estimated(calls, least_, greatest_, [&](const auto &take) {
    for (size_t number = 0; number < counts_.size(); ++number) {
      if (counts_[number] != 0) take(bucket_of(number, counts_[number]));
    }
  });
}

}  // namespace cairn::timing
