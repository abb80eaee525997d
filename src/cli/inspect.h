// What the inspecting verbs share: which trace, which filters, text or JSON.
#pragma once

#include <cstdint>
#include <string>

#include "analyze/filter.h"
#include "analyze/overview.h"
#include "base/result.h"
#include "terminal/options.h"
#include "trace/read/trace.h"

namespace cairn::cli {

struct Inspection {
  std::string file;  ///< as given, or empty: the newest trace in the folder
  bool json = false;
  analyze::FilterText filter;
};

void add_file(Options &verb, Inspection &inspection);
void add_json(Options &verb, Inspection &inspection);
/// --rank, --function, --time and --limit, in this order; `limit` says what is limited.
void add_filters(Options &verb, Inspection &inspection, const std::string &limit);
/// --rank and --function only, for verbs whose answers have no times to cut.
void add_rank_and_function(Options &verb, Inspection &inspection);

enum class Open : uint8_t {
  all,           ///< every class
  wanted_ranks,  ///< only those of the ranks that --rank names are there for sure; others keep no numbers
};
/// Opens the trace that the user means and leaves its path in `inspection.file`.
Result<trace::Trace> open_trace(Inspection &inspection, Open which = Open::all);

/// "rank 3: no memory for … (12,345 times)".
std::string loss_text(const std::string &reason, const analyze::Overview::Degraded &degraded);

}  // namespace cairn::cli
