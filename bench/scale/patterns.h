// The made-up programs: communication patterns of stencils, of the NAS benchmarks and of the programs in the papers
// (ScalaTrace section 4; Pilgrim sections 4.1 to 4.3), each on any number of ranks that it allows.
//
// A program is a pure function of rank and setting. Cost: microseconds a rank, except where the program itself does
// more on more ranks (a root, an Alltoallv, multipartition).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "scale/grid.h"
#include "scale/script.h"

namespace cairn::scale {

struct Setting {
  uint32_t ranks = 1;
  uint32_t steps = 1;
  Grid grid;
};

struct Pattern {
  std::string name;
  std::string about;
  uint32_t dimensions = 0;  ///< of its grid; 0: it has none
  std::function<void(Script &, const Setting &)> run;
  bool square = false;  ///< it runs on square numbers of ranks only
};

/// All of them, sorted by name.
const std::vector<Pattern> &patterns();
const Pattern *find_pattern(std::string_view name);
/// Empty, or why `pattern` does not run so.
std::string unfit(const Pattern &pattern, const Setting &setting);

// Each file adds its own.
void add_stencils(std::vector<Pattern> *to);
void add_solvers(std::vector<Pattern> *to);
void add_multipartition(std::vector<Pattern> *to);
void add_trees(std::vector<Pattern> *to);
void add_irregular(std::vector<Pattern> *to);

}  // namespace cairn::scale
