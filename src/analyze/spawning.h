// For tests: calls that have to do with other jobs, and traces of runs that made some.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/sequence_of.h"
#include "spec/ids.h"
#include "spec/spec.h"
#include "trace/merge/part.h"
#include "trace/read/trace.h"
#include "trace/values/atom.h"

namespace cairn::analyze::spawning {

using trace::Atom;
using trace::Field;

inline Field atoms(std::vector<Atom> values) { return {false, std::move(values), {}}; }
inline Field text(std::string_view value) { return {true, {}, Bytes(value.begin(), value.end())}; }
inline Atom constant(uint16_t id) { return trace::special(trace::kFirstConstant + id); }

inline trace::Row call(const char *function, std::vector<Field> fields, Atom result = 0) {
  trace::Row row;
  row.function = spec::find_function(function)->id;
  row.fields = std::move(fields);
  row.fields.push_back(atoms({result}));
  return row;
}

inline trace::Row spawn(std::vector<Atom> processes, Atom result = 0) {
  const bool root = !processes.empty();
  return call("MPI_Comm_spawn",
              {root ? text("child") : atoms({}), atoms({constant(spec::constant_id::k_ARGV_NULL)}),
               atoms(std::move(processes)), atoms({}), atoms({0}), atoms({constant(spec::constant_id::k_COMM_WORLD)}),
               atoms({0, 0, 0, 0}), atoms({constant(spec::constant_id::k_ERRCODES_IGNORE)})},
              result);
}
inline trace::Row with_port(const char *function, std::string_view port) {
  const Field world = atoms({constant(spec::constant_id::k_COMM_WORLD)});
  const Field info = atoms({constant(spec::constant_id::k_INFO_NULL)});
  if (std::string_view(function) == "MPI_Open_port") return call(function, {info, text(port)});
  return call(function, {text(port), info, atoms({0}), world, atoms({0, 0, 0, 0})});
}

/// The trace of so many ranks that make these calls once each.
inline Bytes bytes_of(const std::vector<trace::Row> &rows, const trace::RunInfo &run = {}, uint32_t ranks = 1) {
  trace::Part part;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    trace::ProcessRecord process;
    process.rank = rank;
    process.size = ranks;
    process.complete = true;
    process.sequences.push_back(sequence_of(rows));
    trace::Part own = *trace::Part::of(process);
    part = rank == 0 ? std::move(own) : *trace::Part::merge(std::move(part), std::move(own));
  }
  return *part.to_file(run);
}
inline trace::Trace trace_of(const std::vector<trace::Row> &rows, const trace::RunInfo &run = {}) {
  return *trace::Trace::from_bytes(bytes_of(rows, run), "test.cairn");
}

}  // namespace cairn::analyze::spawning
