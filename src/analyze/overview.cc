#include "analyze/overview.h"

#include <algorithm>
#include <set>
#include <utility>

#include "analyze/selected_calls.h"
#include "spec/ids.h"
#include "spec/spec.h"
#include "trace/model/losses.h"
#include "trace/values/atom_reader.h"

namespace cairn::analyze {
namespace {

/// Communicators that a row uses by constant, and the ids of those it creates.
void collect_communicators(const trace::Row &row, std::set<std::vector<int64_t>> &created,
                           std::set<trace::Atom> &predefined) {
  const auto functions = spec::functions();
  if (row.function >= functions.size()) return;
  const spec::Function &function = functions[row.function];
  for (size_t i = 0; i < function.parameter_count && i < row.fields.size(); ++i) {
    if (function.parameters[i].layout != spec::Layout::comm || row.fields[i].is_bytes) continue;
    trace::AtomReader atoms(row.fields[i].atoms);
    if (atoms.at_end()) continue;
    const trace::AtomValue first = atoms.next();
    if (const int id = first.constant(); id >= 0) {
      const auto all = spec::constants();
      const auto index = static_cast<size_t>(id);
      if (index < all.size() && std::string_view(all[index].name) != "MPI_COMM_NULL") predefined.insert(first.value);
      continue;
    }
    if (first.special || atoms.at_end()) continue;
    std::vector<int64_t> identity;
    while (!atoms.at_end() && !atoms.failed()) identity.push_back(atoms.next().value);
    if (!atoms.failed()) created.insert(std::move(identity));
  }
}

bool is_communicator(const spec::Parameter &parameter) { return parameter.layout == spec::Layout::comm; }

bool has_communicator(const spec::Function &function) {
  return std::any_of(function.parameters, function.parameters + function.parameter_count, is_communicator);
}

bool creates_communicator(const spec::Function &function) {
  return function.creates && std::any_of(function.parameters, function.parameters + function.parameter_count,
                                         [](const spec::Parameter &parameter) {
                                           return is_communicator(parameter) &&
                                                  parameter.direction != spec::Direction::in;
                                         });
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
  std::set<std::vector<int64_t>> created;
  std::set<trace::Atom> predefined;
  // An id is the same on all of its members, but a class holds members of several communicators.
  const SelectedCalls creating(trace, creates_communicator);
  const SelectedCalls using_any(trace, has_communicator);
  for (const uint32_t rank : trace.ranks()) {
    for (const trace::SequenceView &sequence : trace.sequences(rank)) {
      const bool first = trace.class_ranks(sequence.class_index).front() == rank;  // member of its class
      const SelectedCalls &selected = first ? using_any : creating;
      for (const trace::CountedRow &call : selected.in(sequence)) {
        collect_communicators(call.row, created, predefined);
      }
    }
  }
  view.failures = failures(trace);
  view.communicators = created.size() + predefined.size();
  return view;
}

}  // namespace cairn::analyze
