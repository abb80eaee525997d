#include "trace/model/derived_values.h"

#include <utility>
#include <vector>

namespace cairn::trace {

void expand_prefix_sums(Row *row) {
  for (size_t f = 1; f < row->fields.size(); ++f) {
    Field &field = row->fields[f];
    if (field.is_bytes || field.atoms.size() != 1 || field.atoms[0] != kPrefixSums) continue;
    const Field &counts = row->fields[f - 1];
    std::vector<Atom> sums;
    sums.reserve(counts.atoms.size());
    Atom sum = 0;
    bool whole = !counts.is_bytes;
    for (const Atom count : counts.atoms) {
      sums.push_back(sum);
      whole = whole && count >= 0 && !__builtin_add_overflow(sum, count, &sum);
    }
    if (whole) field.atoms = std::move(sums);
  }
}

}  // namespace cairn::trace
