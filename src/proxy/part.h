// One class of a trace as one file of C: a function for each rule that stands several times, loops for counts, a
// statement for each call.
//
// Where the order of the calls is too irregular to be read it is a table, and each distinct call a function. Borrows
// the program. Cost: the class's rows, terms, streams; where there are receives from anybody, the calls of its ranks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proxy/program.h"

namespace cairn::proxy {

struct PartText {
  uint32_t class_index = 0;
  std::string name;  ///< "part_0", the function that makes the calls
  std::string text;  ///< of NAME.c, but for functions that can be told only once all parts are written
  /// Where those stand in it, and the kinds of handles that they are for.
  size_t place = 0;
  std::vector<spec::Kind> kinds;
  analyze::RowScope scope;
  size_t ranks = 0;    ///< that are in it
  uint64_t calls = 0;  ///< of all of them
};

/// Adds to `problems` what cannot be written.
PartText write_part(Program *program, uint32_t class_index, std::vector<std::string> *problems);

}  // namespace cairn::proxy
