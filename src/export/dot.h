// Graphs for Graphviz: who sends how much to whom, or the rules of the grammars.
//
// Messages are summed from the distinct calls of each rank, without expanding them, where these say it: not where it
// sends by persistent requests, or in communicators of its own and gives some up, whose numbers others have then, or
// where only some calls are wanted. The calls of such a rank are gone through one after the other. Memory for the
// edges.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "export/files.h"
#include "export/message_ends.h"
#include "export/scope.h"

namespace cairn::exporting {

struct GraphCounts {
  uint64_t nodes = 0;
  uint64_t edges = 0;
  uint64_t messages = 0;
  uint64_t bytes = 0;
  uint64_t expanded = 0;  ///< ranks whose calls were gone through
  LeftOut left_out;
};

Result<void> write_message_graph(Scope *scope, OutFile *out, GraphCounts *counts);
/// Of each class that has a rank that is wanted.
void write_grammar_graph(Scope *scope, OutFile *out, GraphCounts *counts);

}  // namespace cairn::exporting
