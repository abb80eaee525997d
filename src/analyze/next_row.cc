#include "analyze/next_row.h"

#include <algorithm>

namespace cairn::analyze {

namespace {

grammar::SymbolCount count_of(const trace::Trace &trace, uint32_t class_index,
                              const std::function<bool(uint32_t, const trace::Structure::RowHead &)> &wanted) {
  grammar::SymbolCount count;
  const trace::Structure structure = trace::structure_of(trace, class_index);
  for (uint32_t row = 0; row < structure.rows.size(); ++row) count.counted.push_back(wanted(row, structure.rows[row]));
  return count;
}

}  // namespace

NextRow::NextRow(const trace::Trace &trace, uint32_t class_index,
                 const std::function<bool(uint32_t, const trace::Structure::RowHead &)> &wanted)
    : sums_(*trace.class_view(class_index).calls, count_of(trace, class_index, wanted)) {}

uint64_t NextRow::from(uint64_t row) const {
  const uint64_t before = sums_.before(row);
  return std::max(row, sums_.longest([before](uint64_t sum) { return sum <= before; }));
}

}  // namespace cairn::analyze
