// The calls of one rank as `cairn dump` prints them: what is wanted, in order, each with its text.
//
// Borrows all that it is given. One thread.
#pragma once

#include <cstdint>
#include <functional>

#include "analyze/call_texts.h"
#include "analyze/rank_calls.h"
#include "trace/read/events.h"

namespace cairn::cli {

struct DumpedRank {
  analyze::CallTexts texts;
  analyze::RankCalls calls;
  const trace::Event *next = nullptr;  ///< that `advance` found
  std::function<void(const trace::Event &)> before_each;

  /// `all`: each call is gone through, whether it is wanted or not, and shown to `before_each`.
  DumpedRank(analyze::CallTexts texts_of, const trace::Trace &trace, const analyze::Sources &sources,
             const analyze::Filter &filter, const analyze::WantedCalls &wanted, uint32_t rank, bool all);
  DumpedRank(const DumpedRank &) = delete;
  DumpedRank &operator=(const DumpedRank &) = delete;
  const trace::Event *advance() { return next = calls.next(); }

 private:
  void see(const trace::Event &event);
};

}  // namespace cairn::cli
