#include "mpi/oracle/address_book.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace cairn::oracle {
namespace {

std::string text(const char *format, uint64_t a, uint64_t b) {
  char buffer[160];
  snprintf(buffer, sizeof buffer, format, a, b);
  return buffer;
}

}  // namespace

std::string AddressBook::check(const NamedAddress &named, uint64_t raw, uint64_t thread, uint64_t when) {
  const uint64_t base = raw - static_cast<uint64_t>(named.offset);
  switch (named.kind) {
    case trace::kNull:
      return raw == 0 && named.number == 0 && named.offset == 0 ? "" : "it isn't NULL";
    case trace::kInteger:
      return base == 0 && named.number == 0 ? "" : "the integer is another";
    case trace::kUnknown: {
      const auto [at, is_new] = unknown_.try_emplace(named.number, raw);
      return is_new || at->second == raw ? "" : text("unknown address was 0x%" PRIx64 " before", at->second, 0);
    }
    case trace::kStack: {
      if (named.number != 0) return "a stack has no number";
      const auto [at, is_new] = stack_of_thread_.try_emplace(thread, base);
      return is_new || at->second == base
                 ? ""
                 : text("the stack began at 0x%" PRIx64 " before, not at 0x%" PRIx64, at->second, base);
    }
    case trace::kStatic:
      return in_segment({named.kind, named.number}, base, raw, when, false);
    case trace::kHeap:
    case trace::kMapping:
    case trace::kMpiMemory:
    case trace::kDevice:
      return in_segment({named.kind, named.number}, base, raw, when, true);
    default:
      return "the class is none of an address";
  }
}

std::string AddressBook::in_segment(const Key &key, uint64_t base, uint64_t raw, uint64_t when, bool mortal) {
  if (mortal && raw < base) return "the offset is negative";
  if (key.first == trace::kHeap && base % 8 != 0) return text("no allocation begins at 0x%" PRIx64, base, 0);
  // Only what nothing can have been freed since is known to be the same segment still: else another one of another size
  // may have got its place and its number.
  const auto lives = [when](const Key &of, const Segment &segment) {
    return !segment.over && (of.first == trace::kStatic || segment.when == when);
  };
  Segment now{base, raw, raw, when, false};
  if (const auto found = segments_.find(key); found != segments_.end()) {
    const Segment &before = found->second;
    if (lives(key, before)) {
      if (before.base != base) {
        return text("segment began at 0x%" PRIx64 " before, not at 0x%" PRIx64, before.base, base);
      }
      now.low = std::min(before.low, raw);
      now.high = std::max(before.high, raw);
    }
    by_low_.erase(before.low);
    segments_.erase(found);
  }
  auto at = by_low_.upper_bound(now.low);
  if (at != by_low_.begin()) --at;
  while (at != by_low_.end() && at->first <= now.high) {
    const Segment &other = segments_.at(at->second);
    if (other.high < now.low) {
      ++at;
    } else if (lives(at->second, other)) {
      return text("another segment holds 0x%" PRIx64 " to 0x%" PRIx64, other.low, other.high);
    } else {
      segments_.erase(at->second);
      at = by_low_.erase(at);
    }
  }
  segments_[key] = now;
  by_low_[now.low] = key;
  return "";
}

void AddressBook::mpi_memory(uint64_t raw, bool given) {
  for (auto &[key, segment] : segments_) {
    if (segment.base == raw && key.first == trace::kMpiMemory && !given) segment.over = true;
  }
}

}  // namespace cairn::oracle
