// What is asked of a function of MPI at each of its calls, worked out once. Plain function.
#pragma once

#include <cassert>
#include <vector>

#include "spec/spec.h"

namespace cairn::analyze {

/// make(function) for each one, by its id.
template <typename Make>
auto function_table(Make make) {
  std::vector<decltype(make(spec::functions()[0]))> table;
  for (const spec::Function &each : spec::functions()) {
    assert(each.id == table.size());
    table.push_back(make(each));
  }
  return table;
}

}  // namespace cairn::analyze
