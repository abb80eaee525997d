#include "analyze/outcome.h"

#include <algorithm>

#include "base/as_size.h"
#include "spec/spec.h"
#include "trace/read/events.h"
#include "trace/values/atom_reader.h"

namespace cairn::analyze {

Outcome outcome_of(uint32_t function, const trace::Field &result) {
  const auto all = spec::functions();
  if (function >= all.size() || result.is_bytes || result.atoms.empty()) return {};
  if (result.atoms.size() == 1 && result.atoms[0] == trace::kNoReturn) return {Outcome::Kind::pending, {}};
  if (all[function].returns != spec::ReturnKind::error_code) return {Outcome::Kind::succeeded, "MPI_SUCCESS"};
  const trace::AtomValue first = trace::AtomReader(result.atoms).next();
  if (first.is(trace::kImplied) || (!first.special && first.value == 0)) {
    return {Outcome::Kind::succeeded, "MPI_SUCCESS"};
  }
  const auto constants = spec::constants();
  const auto id = as_size(first.constant());
  return {Outcome::Kind::failed, id < constants.size() ? constants[id].name : "MPI error"};
}

Outcome outcome_of(const trace::Row &row) {
  const auto all = spec::functions();
  if (row.function >= all.size() || row.fields.size() != size_t{all[row.function].parameter_count} + 1) return {};
  return outcome_of(row.function, row.fields.back());
}

std::vector<bool> may_fail(const trace::Trace &trace, uint32_t class_index) {
  const std::vector<std::optional<trace::Field>> results = trace.results(class_index);
  std::vector<bool> rows(results.size());
  for (uint32_t row = 0; row < rows.size(); ++row) {
    const uint32_t function = trace.row_head(class_index, row).function;
    const auto all = spec::functions();
    if (function < all.size() && all[function].returns != spec::ReturnKind::error_code) continue;  // no error code
    rows[row] = !results[row] || outcome_of(function, *results[row]).kind == Outcome::Kind::failed;
  }
  if (std::find(rows.begin(), rows.end(), true) == rows.end()) rows.clear();
  return rows;
}

std::map<uint32_t, Failures> failures(const trace::Trace &trace) {
  std::map<uint32_t, Failures> all;
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    const std::vector<bool> rows = may_fail(trace, index);
    if (rows.empty()) continue;
    const auto wanted = [&](uint32_t row) { return rows[row]; };
    const trace::ClassView view = trace.class_view(index);
    for (const uint32_t rank : view.ranks) {
      for (const trace::CountedRow &call : trace.counted_rows({rank, view.thread, view.segment, index, 0}, wanted)) {
        const Outcome outcome = outcome_of(call.row);
        if (outcome.kind == Outcome::Kind::failed) all[call.row.function][outcome.name] += call.count;
      }
    }
  }
  return all;
}

uint64_t failed_calls(const Failures &failures) {
  uint64_t sum = 0;
  for (const auto &[name, calls] : failures) sum += calls;
  return sum;
}

}  // namespace cairn::analyze
