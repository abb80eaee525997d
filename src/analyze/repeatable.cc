#include "analyze/repeatable.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/cancellations.h"
#include "analyze/row_access.h"
#include "analyze/spawned.h"
#include "spec/ids.h"
#include "trace/model/losses.h"
#include "trace/values/atom_reader.h"

namespace cairn::analyze {
namespace {

bool needs_others(std::string_view name) {
  static const std::set<std::string_view> all = {
      "MPI_Comm_spawn", "MPI_Comm_spawn_multiple", "MPI_Comm_join",    "MPI_Comm_accept",    "MPI_Comm_connect",
      "MPI_Open_port",  "MPI_Close_port",          "MPI_Publish_name", "MPI_Unpublish_name", "MPI_Lookup_name"};
  return all.contains(name);
}
/// By a socket of the program's own.
bool needs_socket(std::string_view name) { return name == "MPI_Comm_join"; }

/// Places behind MPI_BOTTOM that are addresses: the trace has them as plain numbers, which mean nothing elsewhere.
bool has_bare_addresses(const trace::Row &row, const RowScope &scope) {
  constexpr int64_t kNoAddress = int64_t{1} << 16U;  // what lies below it is not mapped
  const RowAccess access(row, scope);
  for (const auto &[buffer, places] : {std::pair("sendbuf", "sdispls"), std::pair("recvbuf", "rdispls")}) {
    if (access.constant(buffer) != "MPI_BOTTOM") continue;
    const auto all = access.numbers(places);
    // Those that differ from call to call the row does not have.
    if (!all || std::any_of(all->begin(), all->end(), [](int64_t place) { return place >= kNoAddress; })) return true;
  }
  return false;
}

/// By function, of those that take such places.
std::map<std::string_view, uint64_t> calls_with_bare_addresses(const trace::Trace &trace) {
  namespace id = spec::function_id;
  std::map<std::string_view, uint64_t> calls;
  std::set<uint32_t> seen;  // classes
  for (const uint32_t rank : trace.ranks()) {
    for (const trace::SequenceView &sequence : trace.sequences(rank)) {
      const uint32_t index = sequence.class_index;
      if (!seen.insert(index).second) continue;
      const RowScope scope = RowScope::of(trace, sequence);
      const std::vector<uint64_t> counts = trace.row_counts(index);
      for (uint32_t row = 0; row < counts.size(); ++row) {
        const uint32_t function = trace.row_head(index, row).function;
        const bool takes = function == id::Neighbor_alltoallw || function == id::Ineighbor_alltoallw ||
                           function == id::Neighbor_alltoallw_init;
        if (takes && has_bare_addresses(trace.row(index, row, rank), scope)) {
          calls[spec::functions()[function].name] += counts[row];
        }
      }
    }
  }
  return calls;
}

/// Whether the call is given an object of which the trace does not know where it comes from.
bool is_given_unknown(const trace::Row &row) {
  if (row.function >= spec::functions().size()) return false;
  const spec::Function &function = spec::functions()[row.function];
  for (size_t i = 0; i < function.parameter_count && i < row.fields.size(); ++i) {
    const spec::Parameter &parameter = function.parameters[i];
    if (!spec::is_handle(parameter.layout) || parameter.direction == spec::Direction::out) continue;
    const trace::Field &field = row.fields[i];
    if (field.is_bytes || field.atoms.empty()) continue;
    if (trace::AtomReader(field.atoms).next().is(trace::kUnknown)) return true;
  }
  return false;
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

}  // namespace

const char *why_not_repeated(const spec::Function &function) {
  const std::string_view name = function.name;
  if (needs_socket(name)) return "needs another job";
  if (name.starts_with("MPI_T_event")) return "hears of events inside the MPI library";
  return nullptr;
}

Result<void> may_be_repeated(const trace::Trace &trace, Others others) {
  if (trace.run().status == "aborted") {
    return fail(ErrorKind::usage, "the run was aborted: its ranks ended in the middle of their calls",
                "record one that ends");
  }
  if (!trace.run().jobs.empty()) {
    return fail(ErrorKind::usage, "the trace is of several jobs, joined",
                "cairn replay takes the trace of the first, and starts those that it spawned");
  }
  if (trace.ranks().size() != trace.rank_count()) {
    return fail(ErrorKind::usage, fmt::format("the trace has {} of {} ranks", trace.ranks().size(), trace.rank_count()),
                "all are needed");
  }
  for (const uint32_t rank : trace.ranks()) {
    for (const trace::Loss &loss : trace::read_losses(trace.rank_info(rank).degraded)) {
      if (!loss.lacks_calls()) continue;
      return fail(ErrorKind::usage, fmt::format("calls of rank {} are not in the trace: {}", rank, loss.reason),
                  "all calls of all ranks are needed");
    }
  }
  std::string names;
  for (const auto &[function, calls] : calls_by_function(trace)) {
    if (function >= spec::functions().size()) continue;
    const std::string_view name = spec::functions()[function].name;
    if (!needs_others(name) || (others == Others::there && !needs_socket(name))) continue;
    names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", name, calls);
  }
  if (!names.empty()) {
    return fail(ErrorKind::usage, fmt::format("calls that need other jobs cannot be made again: {}", names),
                "see docs/replay.md");
  }
  for (const auto &[name, calls] : calls_with_bare_addresses(trace)) {
    names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", name, calls);
  }
  if (!names.empty()) {
    return fail(
        ErrorKind::usage,
        fmt::format("calls whose displacements are addresses, with MPI_BOTTOM, cannot be made again: {}", names),
        "see docs/replay.md");
  }
  if (others == Others::none && was_spawned(trace)) {
    return fail(ErrorKind::usage, "the run was spawned by another job, whose calls cannot be made again",
                "see docs/replay.md");
  }
  return {};
}

uint64_t uncertain_cancels(const trace::Trace &trace, bool persistent) {
  uint64_t calls = 0;
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    if (!Cancellations::may_be_in(trace, index)) continue;
    const std::vector<uint64_t> counts = trace.row_counts(index);
    const uint32_t rank = trace.class_view(index).ranks.front();
    const RowScope scope{trace.sites(index), trace.class_thread(index)};
    std::set<std::pair<uint32_t, uint64_t>> makers;  // call sites
    std::vector<std::pair<std::optional<HandleName>, uint64_t>> cancels;
    for (uint32_t row = 0; row < counts.size(); ++row) {
      const spec::Function &function = spec::functions()[trace.row_head(index, row).function];
      const bool cancel = function.id == spec::function_id::Cancel;
      if (counts[row] == 0 || (!cancel && !function.persistent)) continue;
      const trace::Row values = trace.row(index, row, rank);
      const auto request = RowAccess(values, scope).handle("request");
      if (cancel) cancels.emplace_back(request, counts[row]);
      if (!cancel && request) makers.emplace(request->site.module, request->site.offset);
    }
    for (const auto &[request, count] : cancels) {
      const bool may_be = !request || makers.contains({request->site.module, request->site.offset});
      if (!persistent || (may_be && !makers.empty())) calls += count;
    }
  }
  return calls;
}

std::map<std::string, uint64_t> left_out(const trace::Trace &trace) {
  std::map<std::string, uint64_t> all;
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    const uint32_t rank = trace.class_view(index).ranks.front();
    const std::vector<uint64_t> counts = trace.row_counts(index);
    for (uint32_t row = 0; row < counts.size(); ++row) {
      if (counts[row] == 0 || !is_given_unknown(trace.row(index, row, rank))) continue;
      const spec::Function &of = spec::functions()[trace.row_head(index, row).function];
      all[fmt::format("{} (uses a handle that nobody saw made)", of.name)] += counts[row];
    }
  }
  for (const auto &[function, calls] : calls_by_function(trace)) {
    if (function >= spec::functions().size() || calls == 0) continue;
    const spec::Function &of = spec::functions()[function];
    if (const char *why = why_not_repeated(of)) all[fmt::format("{} ({})", of.name, why)] = calls;
  }
  return all;
}

}  // namespace cairn::analyze
