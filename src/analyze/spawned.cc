#include "analyze/spawned.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <optional>

#include "analyze/row_access.h"
#include "spec/ids.h"
#include "trace/read/selected_reader.h"

namespace cairn::analyze {
namespace {

namespace id = spec::function_id;

using Visit = std::function<void(uint32_t rank, const trace::Row &row, const RowAccess &access)>;

/// Calls of these functions that succeeded: rank by rank, those of a thread in order.
void each_call(const trace::Trace &trace, const std::set<uint32_t> &functions, const Visit &visit) {
  std::vector<bool> has(trace.class_count());
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    const auto rows = trace::structure_of(trace, index).rows;
    has[index] =
        std::any_of(rows.begin(), rows.end(), [&](const auto &row) { return functions.contains(row.function); });
  }
  if (std::find(has.begin(), has.end(), true) == has.end()) return;
  const RowScope scope;  // of handles, which nobody asks for
  for (const uint32_t rank : trace.ranks()) {
    for (const trace::SequenceView &sequence : trace.sequences(rank)) {
      if (!has[sequence.class_index]) continue;
      trace::SelectedReader reader(trace, sequence,
                                   [&](const auto &head) { return functions.contains(head.function); });
      while (const trace::Row *row = reader.next()) {
        const RowAccess access(*row, scope);
        if (access.succeeded()) visit(rank, *row, access);
      }
    }
  }
}

/// Of no process but the root's: there it is what others need not give.
std::optional<uint64_t> processes_of(const trace::Row &row, const RowAccess &access) {
  const auto counts = access.numbers(row.function == id::Comm_spawn ? "maxprocs" : "array_of_maxprocs");
  if (!counts) return std::nullopt;
  return static_cast<uint64_t>(std::accumulate(counts->begin(), counts->end(), int64_t{0}));
}

}  // namespace

std::optional<Spawner> spawner_of(const trace::RunInfo &run) {
  const size_t dot = run.spawned_by.rfind('.');
  if (dot == std::string::npos) return std::nullopt;
  return Spawner{run.spawned_by.substr(0, dot), std::strtoull(run.spawned_by.c_str() + dot + 1, nullptr, 10)};
}

bool spawns_jobs(uint32_t function) { return function == id::Comm_spawn || function == id::Comm_spawn_multiple; }

std::optional<uint64_t> spawned_processes(const trace::Row &row) {
  if (!spawns_jobs(row.function)) return std::nullopt;
  const RowScope scope;
  const RowAccess access(row, scope);
  return access.succeeded() ? processes_of(row, access) : std::nullopt;
}

std::vector<Spawn> spawns_of(const trace::Trace &trace) {
  std::vector<Spawn> spawns;
  each_call(trace, {id::Comm_spawn, id::Comm_spawn_multiple}, [&](uint32_t rank, const auto &row, const auto &access) {
    if (const auto processes = processes_of(row, access)) spawns.push_back({rank, *processes});
  });
  return spawns;
}

bool was_spawned(const trace::Trace &trace) {
  const trace::Atom none = trace::constant_atom(spec::constant_id::k_COMM_NULL);
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    const std::vector<uint64_t> counts = trace.row_counts(index);
    for (uint32_t row = 0; row < counts.size(); ++row) {
      if (counts[row] == 0 || trace.row_head(index, row).function != id::Comm_get_parent) continue;
      const trace::Row asked = trace.row(index, row, trace.class_ranks(index).front());
      if (!asked.fields.empty() && !asked.fields[0].atoms.empty() && asked.fields[0].atoms[0] != none) return true;
    }
  }
  return false;
}

Ports ports_of(const trace::Trace &trace) {
  Ports ports;
  each_call(trace, {id::Open_port, id::Comm_accept, id::Comm_connect},
            [&](uint32_t, const auto &row, const auto &access) {
              const trace::Field *name = access.field("port_name");
              if (name == nullptr || name->bytes.empty()) return;
              auto &to = row.function == id::Open_port ? ports.opened : ports.named;
              to.emplace(name->bytes.begin(), name->bytes.end());
            });
  return ports;
}

}  // namespace cairn::analyze
