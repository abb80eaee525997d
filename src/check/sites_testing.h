// A trace of one rank without calls, but with sites to call from, for tests that look at findings.
#pragma once

#include <utility>

#include "trace/merge/part.h"
#include "trace/model/record.h"
#include "trace/read/trace.h"

namespace cairn::check {

inline trace::Trace trace_of_sites(uint64_t count) {
  trace::ProcessRecord made;
  made.size = 1;
  made.modules = {{{1, 2, 3}, "/app"}};
  trace::SequenceRecord sequence;
  for (uint64_t i = 0; i < count; ++i) sequence.sites.push_back({0, 16 * i, 0});
  made.sequences.push_back(std::move(sequence));
  const Bytes bytes = *trace::Part::of(made)->to_file({});
  return std::move(*trace::Trace::from_bytes(bytes, "test.cairn"));
}

}  // namespace cairn::check
