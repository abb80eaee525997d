// For hostile-bytes tests and fuzzers: asks a trace for everything it can be asked for, a little of each, so that
// whatever a decoder let through shows.
#pragma once

#include <algorithm>
#include <cstdint>

#include "trace/read/call_reader.h"
#include "trace/read/call_times.h"
#include "trace/read/repeats.h"
#include "trace/read/trace.h"

namespace cairn::trace {

inline uint64_t exercise(const Trace &trace) {
  uint64_t sum = trace.run().command.size() + trace.rank_count() + trace.hosts().size() + trace.section_bytes().size();
  constexpr uint32_t kSome = 6;
  for (uint32_t c = 0; c < std::min(trace.class_count(), kSome); ++c) {
    const RankSet &ranks = trace.class_ranks(c);
    const std::vector<Site> sites = trace.sites(c);
    for (const Site &site : sites) {
      sum += trace.source(site).has_value() ? 1 : 0;
      if (site.module < trace.modules().size()) sum += trace.modules()[site.module].path.size();
    }
    for (const uint64_t member : {uint64_t{0}, ranks.size() / 2, ranks.size() - 1}) {
      const uint32_t rank = ranks.at(member);
      sum += trace.rank_info(rank).host.size();
      for (const SequenceView &view : trace.sequences(rank)) {
        if (auto times = CallTimes::of(trace, view); times && times->count() != 0) {
          for (const uint64_t call : {uint64_t{0}, times->count() - 1}) {
            const auto time = times->at(std::min<uint64_t>(call, 300'000));
            sum += time ? time->begin_ns : 0;
          }
        }
        if (const auto order = trace.order(view)) {
          if (order->skips.length() < 100000) sum += trace.tickets(view).size();
        }
        if (const auto heap = trace.heap(view)) {
          grammar::Walker walker(*heap->order);
          for (int i = 0; i < 100; ++i) {
            const grammar::Symbol event = walker.next();
            if (event != grammar::kNoSymbol) sum += heap->events[event].bytes;
          }
        }
        CallReader reader(trace, view);
        for (int i = 0; i < 100; ++i) {
          const grammar::Symbol call = reader.next();
          if (call != grammar::kNoSymbol) sum += reader.call(call).fields.size();
        }
      }
      if (ranks.size() < 100000) {
        for (const SequenceView &view : trace.sequences(rank)) {
          if (trace.class_view(view.class_index).calls->length() < 100000) sum += trace.row_counts(view).size();
          CallReader reader(trace, view);
          for (int i = 0; i < 100; ++i) sum += reader.next();
        }
      }
      if (ranks.size() < 100000) sum += trace.results(c).size();
      if (ranks.size() < 100000 && trace.class_view(c).calls->length() < 10000) {
        for (const SequenceView &view : trace.sequences(rank)) sum += trace.counted_rows(view).size();
      }
      Repeats repeats(trace, c, 1, 1, [](const Structure::RowHead &row) { return row.function != 1; });
      for (const Repeat &repeat : repeats.of(rank)) sum += repeat.turns;
      const uint32_t rows = ranks.size() < 100000 ? trace.class_view(c).rows : 0;
      for (uint32_t r = 0; r < std::min(rows, 4 * kSome); ++r) {
        sum += trace.row(c, r, rank).fields.size() + trace.row_head(c, r).function;
        if (const auto stats = trace.row_stats(c, r)) sum += static_cast<uint64_t>(stats->deviation_of_sums > 1.0);
      }
    }
    grammar::Walker walker(*trace.class_view(c).calls);
    for (int i = 0; i < 100; ++i) sum += walker.next();
  }
  return sum;
}

}  // namespace cairn::trace
