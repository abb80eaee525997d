// AccessSpans: accesses of several processes to one's part of a window, each from its call until it was complete there,
// to find those that were under way at one time in the same memory.
//
// Plain values, one thread. Adding one costs log n and those that overlap it in memory; spans that nothing can meet any
// more are forgotten when there are twice as many as were kept the last time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>

#include "check/window_access.h"

namespace cairn::check {

class AccessSpans {
 public:
  struct Span {
    WindowAccess access;
    int64_t begin = 0;  ///< bytes of the target's part
    int64_t end = 0;
    uint64_t from_ns = 0;
    uint64_t until_ns = 0;
  };
  using Met = std::function<void(const Span &before, const Span &added)>;

  /// Calls `met` with each span of another rank that shares bytes with it, or may, and was under way at the same time,
  /// by more than `uncertainty_ns`, if one of both puts.
  void add(const Span &span, uint64_t uncertainty_ns, const Met &met);
  /// All that is added from now on begins at `ns` or later.
  void forget_until(uint64_t ns);
  [[nodiscard]] size_t size() const { return puts_.size() + others_.size(); }

 private:
  using ByBegin = std::multimap<int64_t, Span>;
  void meet(const ByBegin &with, const Span &span, uint64_t uncertainty_ns, const Met &met) const;

  ByBegin puts_;
  ByBegin others_;
  int64_t longest_ = 0;
  size_t look_at_ = 64;  ///< spans: then some may be forgotten
};

}  // namespace cairn::check
