// Timeline: what one rank did lately, as spans of time one after the other, each with its cause: what the rank did
// itself, or, where it waited, what others did meanwhile that it waited for.
//
// So whoever waits for this rank over some time is told whose doing that was, through any number of ranks that waited
// for each other: while rank 2 waits for 1, which waits for 0, which computes, rank 2 waits for what 0 computes.
// (D. Böhme et al., "Identifying the root causes of wait states in large-scale parallel applications", ICPP 2010, tell
// such propagated waits from direct ones by replaying the run backwards; here what the late rank did during the wait
// itself is what counts, so one replay forwards will do.)
//
// One thread. What hardly anybody asks for any more is forgotten, but for the last kKept spans: that a send waited for
// its receive is told when the message has arrived, which may be long behind. If more than kMost spans are left,
// neighbours are joined, the shorter with the longer's cause.
#pragma once

#include <cstdint>
#include <deque>

#include "waits/activities.h"

namespace cairn::waits {

struct Cause {
  uint32_t rank = 0;
  Activity activity = kUnknownActivity;
  bool operator==(const Cause &) const = default;
};

struct Span {
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;
  Cause cause;
};

class Timeline {
 public:
  static constexpr size_t kMost = size_t{1} << 16;
  static constexpr size_t kKept = 512;

  explicit Timeline(uint32_t rank) : rank_(rank) {}
  /// What lies before the last one's end is left out: threads of a rank overlap.
  void add(Span span);
  void forget_before(uint64_t ns);
  /// Calls `each(Span)` for what there was between two moments, without gaps: of what is not known the activity is
  /// unknown.
  template <typename Each>
  void between(uint64_t begin_ns, uint64_t end_ns, const Each &each) const;

 private:
  [[nodiscard]] std::deque<Span>::const_iterator first_after(uint64_t ns) const;
  uint32_t rank_;
  std::deque<Span> spans_;
};

template <typename Each>
void Timeline::between(uint64_t begin_ns, uint64_t end_ns, const Each &each) const {
  uint64_t at = begin_ns;
  for (auto span = first_after(begin_ns); span != spans_.end() && span->begin_ns < end_ns; ++span) {
    if (span->begin_ns > at) each(Span{at, span->begin_ns, {rank_, kUnknownActivity}});
    const uint64_t from = span->begin_ns > at ? span->begin_ns : at;
    const uint64_t to = span->end_ns < end_ns ? span->end_ns : end_ns;
    if (to > from) each(Span{from, to, span->cause});
    at = to > at ? to : at;
  }
  if (at < end_ns) each(Span{at, end_ns, {rank_, kUnknownActivity}});
}

}  // namespace cairn::waits
