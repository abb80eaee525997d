#include "analyze/overview.h"

#include <algorithm>
#include <set>
#include <utility>

#include "analyze/communicators.h"
#include "base/as_size.h"
#include "spec/ids.h"
#include "spec/spec.h"
#include "trace/model/losses.h"
#include "trace/read/partial_rows.h"
#include "trace/values/atom_reader.h"

namespace cairn::analyze {
namespace {

/// Communicators that a row uses by constant.
void collect_predefined(const trace::Row &row, std::set<trace::Atom> *predefined) {
  const spec::Function &function = spec::functions()[row.function];
  const auto null = spec::constant_id::k_COMM_NULL;
  for (size_t i = 0; i < function.parameter_count && i < row.fields.size(); ++i) {
    if (function.parameters[i].layout != spec::Layout::comm || row.fields[i].is_bytes) continue;
    const trace::AtomValue first = trace::AtomReader(row.fields[i].atoms).next();
    if (first.constant() >= 0 && first.constant() != null) predefined->insert(first.value);
  }
}

/// Communicators, if only which constants they are; nothing of functions that take none.
trace::AskedFields communicators_of(const trace::Structure::RowHead &row) {
  trace::AskedFields asked;
  if (row.function >= spec::functions().size()) return asked;
  const spec::Function &function = spec::functions()[row.function];
  for (size_t i = 0; i < function.parameter_count; ++i) {
    if (function.parameters[i].layout != spec::Layout::comm) continue;
    asked.resize(function.parameter_count, trace::Asked::no);
    asked[i] = trace::Asked::constant;
  }
  return asked;
}

}  // namespace

Overview outline(const trace::Trace &trace) {
  Overview view;
  view.run = trace.run();
  view.hosts = trace.hosts();
  view.world = trace.rank_count();
  view.classes = trace.class_count();
  view.bytes = trace.section_bytes();
  std::set<uint32_t> functions;
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    const auto rows = trace::structure_of(trace, index).rows;
    view.signatures += rows.size();
    for (const uint64_t count : trace.row_counts(index)) view.calls += count;
    for (const auto &row : rows) functions.insert(row.function);
  }
  view.functions = functions.size();
  view.spawns =
      functions.contains(spec::function_id::Comm_spawn) || functions.contains(spec::function_id::Comm_spawn_multiple);
  for (const uint32_t rank : trace.ranks()) {
    ++view.ranks;
    std::set<uint32_t> threads;
    for (const trace::SequenceView &sequence : trace.sequences(rank)) threads.insert(sequence.thread);
    view.threads += threads.size();
    const trace::Trace::RankInfo info = trace.rank_info(rank);
    view.peak_memory = std::max(view.peak_memory, info.peak_memory);
    for (const trace::Loss &loss : trace::read_losses(info.degraded)) {
      Overview::Degraded &told = view.degraded[loss.reason];
      told.ranks.push_back(rank);
      told.count += loss.count;
      told.missing = told.missing || loss.missing;
      told.asked = told.asked || loss.asked;
    }
    if (!info.complete) view.incomplete.push_back(rank);
  }
  return view;
}

Overview overview(const trace::Trace &trace) {
  Overview view = outline(trace);
  std::set<trace::Atom> predefined;
  std::vector<bool> one(as_size(view.world));
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    // Constants are the same on all members.
    const uint32_t member = trace.class_ranks(index).front();
    if (member >= one.size()) continue;
    one[member] = true;
    trace::each_partial_row(trace, index, one, communicators_of,
                            [&](const trace::PartialRow &call) { collect_predefined(*call.row, &predefined); });
    one[member] = false;
  }
  const auto found = Communicators::of(trace, Sources::in_trace(trace));
  const size_t created = found ? found->all().size() - 1 : 0;  // but for MPI_COMM_WORLD, of one job
  view.failures = failures(trace);
  view.communicators = created + predefined.size();
  return view;
}

}  // namespace cairn::analyze
