// For tests: a trace that nothing but events of the heap is known of.
#pragma once

#include <vector>

#include "trace/merge/part.h"
#include "trace/read/trace.h"

namespace cairn::analyze {

/// Of one rank, whose sequence has these, in this order.
inline trace::Trace trace_of(const std::vector<trace::HeapEvent> &events) {
  trace::ProcessRecord process;
  trace::SequenceRecord sequence;
  sequence.heap_events = events;
  std::vector<grammar::Symbol> symbols;
  for (size_t i = 0; i < events.size(); ++i) symbols.push_back(static_cast<grammar::Symbol>(i));
  sequence.heap = grammar::Grammar::from_symbols(symbols);
  process.sequences.push_back(sequence);
  return *trace::Trace::from_bytes(*trace::Part::of(process)->to_file({}), "test.cairn");
}

}  // namespace cairn::analyze
