#include "analyze/repeatable.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "spec/ids.h"
#include "trace/model/losses.h"

namespace cairn::analyze {
namespace {

bool needs_others(std::string_view name) {
  static const std::set<std::string_view> all = {
      "MPI_Comm_spawn", "MPI_Comm_spawn_multiple", "MPI_Comm_join",    "MPI_Comm_accept",    "MPI_Comm_connect",
      "MPI_Open_port",  "MPI_Close_port",          "MPI_Publish_name", "MPI_Unpublish_name", "MPI_Lookup_name"};
  return all.contains(name);
}

/// How often each function was called.
std::map<uint32_t, uint64_t> calls_by_function(const trace::Trace &trace) {
  std::map<uint32_t, uint64_t> calls;
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    const std::vector<uint64_t> counts = trace.row_counts(index);
    for (uint32_t row = 0; row < counts.size(); ++row) calls[trace.row_head(index, row).function] += counts[row];
  }
  return calls;
}

/// MPI_Comm_get_parent gave a communicator with the job that spawned this one.
bool was_spawned(const trace::Trace &trace) {
  const trace::Atom none = trace::constant_atom(spec::constant_id::k_COMM_NULL);
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    const std::vector<uint64_t> counts = trace.row_counts(index);
    for (uint32_t row = 0; row < counts.size(); ++row) {
      if (counts[row] == 0 || trace.row_head(index, row).function != spec::function_id::Comm_get_parent) continue;
      const trace::Row asked = trace.row(index, row, trace.class_ranks(index).front());
      if (!asked.fields.empty() && !asked.fields[0].atoms.empty() && asked.fields[0].atoms[0] != none) return true;
    }
  }
  return false;
}

}  // namespace

const char *why_not_repeated(const spec::Function &function) {
  const std::string_view name = function.name;
  if (needs_others(name)) return "needs other jobs";
  if (name.starts_with("MPI_T_event")) return "hears of events inside the MPI library";
  return nullptr;
}

Result<void> may_be_repeated(const trace::Trace &trace) {
  if (trace.run().status == "aborted") {
    return fail(ErrorKind::usage, "the run was aborted: its ranks ended in the middle of their calls",
                "record one that ends");
  }
  if (trace.ranks().size() != trace.rank_count()) {
    return fail(ErrorKind::usage, fmt::format("the trace has {} of {} ranks", trace.ranks().size(), trace.rank_count()),
                "all are needed");
  }
  for (const uint32_t rank : trace.ranks()) {
    for (const trace::Loss &loss : trace::read_losses(trace.rank_info(rank).degraded)) {
      if (!loss.missing && !loss.asked) continue;
      return fail(ErrorKind::usage, fmt::format("calls of rank {} are not in the trace: {}", rank, loss.reason),
                  "all calls of all ranks are needed");
    }
  }
  std::string names;
  for (const auto &[function, calls] : calls_by_function(trace)) {
    if (function >= spec::functions().size() || !needs_others(spec::functions()[function].name)) continue;
    names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", spec::functions()[function].name, calls);
  }
  if (names.empty() && was_spawned(trace)) {
    return fail(ErrorKind::usage, "the run was spawned by another job, whose calls cannot be made again",
                "see docs/replay.md");
  }
  if (names.empty()) return {};
  return fail(ErrorKind::usage, fmt::format("calls that need other jobs cannot be made again: {}", names),
              "see docs/replay.md");
}

std::map<std::string, uint64_t> left_out(const trace::Trace &trace) {
  std::map<std::string, uint64_t> all;
  for (const auto &[function, calls] : calls_by_function(trace)) {
    if (function >= spec::functions().size() || calls == 0) continue;
    const spec::Function &of = spec::functions()[function];
    if (const char *why = why_not_repeated(of)) all[fmt::format("{} ({})", of.name, why)] = calls;
  }
  return all;
}

}  // namespace cairn::analyze
