#include "cli/dump_calls.h"

#include <utility>

namespace cairn::cli {

using trace::Event;

DumpedRank::DumpedRank(analyze::CallTexts texts_of, const trace::Trace &trace, const analyze::Sources &sources,
                       const analyze::Filter &filter, const analyze::WantedCalls &wanted, uint32_t rank, bool all)
    : texts(std::move(texts_of)),
      calls(trace, sources, filter, wanted, rank,
            all || texts.sees_all() ? [this](const Event &event) { see(event); } : analyze::RankCalls::See()) {}

void DumpedRank::see(const Event &event) {
  if (texts.sees_all()) texts.see(event, calls.names());
  if (before_each) before_each(event);
}

}  // namespace cairn::cli
