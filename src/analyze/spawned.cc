#include "analyze/spawned.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>

#include "analyze/outcome.h"
#include "spec/ids.h"
#include "spec/spec.h"
#include "trace/read/selected_reader.h"
#include "trace/values/atom_reader.h"

namespace cairn::analyze {
namespace {

namespace id = spec::function_id;

using Visit = std::function<void(uint32_t rank, const trace::Row &row)>;

bool succeeded(const trace::Row &row) { return outcome_of(row).kind == Outcome::Kind::succeeded; }

/// Calls of these functions that succeeded: rank by rank, those of a thread in order.
void each_call(const trace::Trace &trace, const std::set<uint32_t> &functions, const Visit &visit) {
  std::vector<bool> has(trace.class_count());
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    const auto rows = trace::structure_of(trace, index).rows;
    has[index] =
        std::any_of(rows.begin(), rows.end(), [&](const auto &row) { return functions.contains(row.function); });
  }
  if (std::find(has.begin(), has.end(), true) == has.end()) return;
  for (const uint32_t rank : trace.ranks()) {
    for (const trace::SequenceView &sequence : trace.sequences(rank)) {
      if (!has[sequence.class_index]) continue;
      trace::SelectedReader reader(trace, sequence,
                                   [&](const auto &head) { return functions.contains(head.function); });
      while (const trace::Row *row = reader.next()) {
        if (succeeded(*row)) visit(rank, *row);
      }
    }
  }
}

const trace::Field *field_of(const trace::Row &row, std::string_view name) {
  const spec::Function &function = spec::functions()[row.function];
  for (size_t i = 0; i < function.parameter_count && i < row.fields.size(); ++i) {
    if (name == function.parameters[i].name) return &row.fields[i];
  }
  return nullptr;
}

/// Of no process but the root's: there it is what others need not give.
std::optional<uint64_t> processes_of(const trace::Row &row) {
  const trace::Field *counts = field_of(row, row.function == id::Comm_spawn ? "maxprocs" : "array_of_maxprocs");
  if (counts == nullptr || counts->atoms.empty()) return std::nullopt;
  uint64_t sum = 0;
  for (trace::AtomReader atoms(counts->atoms); !atoms.at_end();) {
    const trace::AtomValue count = atoms.next();
    if (!count.special && count.value > 0) sum += static_cast<uint64_t>(count.value);
  }
  return sum;
}

}  // namespace

std::vector<Spawn> spawns_of(const trace::Trace &trace) {
  std::vector<Spawn> spawns;
  each_call(trace, {id::Comm_spawn, id::Comm_spawn_multiple}, [&](uint32_t rank, const trace::Row &row) {
    if (const auto processes = processes_of(row)) spawns.push_back({rank, *processes});
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
  each_call(trace, {id::Open_port, id::Comm_accept, id::Comm_connect}, [&](uint32_t, const trace::Row &row) {
    const trace::Field *name = field_of(row, "port_name");
    if (name == nullptr || name->bytes.empty()) return;
    auto &to = row.function == id::Open_port ? ports.opened : ports.named;
    to.emplace(name->bytes.begin(), name->bytes.end());
  });
  return ports;
}

}  // namespace cairn::analyze
