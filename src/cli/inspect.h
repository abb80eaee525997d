// What the inspecting verbs share: which trace, which filters, text or JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "analyze/filter.h"
#include "analyze/outcome.h"
#include "analyze/overview.h"
#include "analyze/row_times.h"
#include "base/result.h"
#include "terminal/options.h"
#include "trace/read/trace.h"

namespace cairn::cli {

struct Inspection {
  std::string file;    ///< as given, or empty: the newest trace in the folder
  bool found = false;  ///< it was: open_trace took the newest
  bool json = false;
  bool csv = false;
  analyze::FilterText filter;
};

void add_file(Options &verb, Inspection &inspection);
void add_json(Options &verb, Inspection &inspection);
/// And --csv; `lines`: what it prints, as in "a line for each rank".
void add_csv_and_json(Options &verb, Inspection &inspection, const std::string &lines);
/// The options that choose calls, whichever verb they are given to: --rank, --function, --site, …
void add_call_filters(Options &verb, Inspection &inspection);
/// Their names but for --rank.
std::vector<std::string> call_filters();
/// Those, and --from, --step, --step-at, --time and --limit, for verbs that tell calls in their order; `limit` says
/// what is limited.
void add_filters(Options &verb, Inspection &inspection, const std::string &limit);

enum class Open : uint8_t {
  all,           ///< every class
  wanted_ranks,  ///< only those of the ranks that --rank names are there for sure; others keep no numbers
};
/// Opens the trace that the user means and leaves its path in `inspection.file`.
Result<trace::Trace> open_trace(Inspection &inspection, Open which = Open::all);

/// Which times are shown.
enum class Shown : uint8_t { durations, begins_too };
/// Before times are shown: that they are not exact, if so; what a trace has in their place.
void say_exactness(const trace::Trace &trace, Shown shown = Shown::durations);

/// Whether some rank calls MPI from several threads.
bool has_threads(const trace::Trace &trace);
/// Whether some rank did not come to the end of MPI_Finalize.
bool was_cut_short(const trace::Trace &trace);
/// If not all calls of these ranks are in the trace: a line for people, and a member with their numbers for programs.
void say_missing_calls(const trace::Trace &trace, const std::vector<uint32_t> &ranks);
void add_missing_calls(const trace::Trace &trace, const std::vector<uint32_t> &ranks, nlohmann::ordered_json *json);

class Output;
/// The end of a verb that sums up times: its exit code, and what is said where some of them are damaged.
int finish_sums(Output *out, const analyze::DamagedTimes &damaged, const std::string &file);

/// "MPI_ERR_TRUNCATE 10, MPI_ERR_RANK 2", most first.
std::string failures_text(const analyze::Failures &failures);

/// "rank 3: no memory for … (12,345 times)".
std::string loss_text(const std::string &reason, const analyze::Overview::Degraded &degraded);

}  // namespace cairn::cli
