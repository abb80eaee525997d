// What became of the heap segments that MPI saw, as lines of cairn dump between the calls of a rank.
//
// Borrows the trace. One rank; one thread. Cost: as HeapEvents.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "analyze/heap_events.h"
#include "trace/read/events.h"

namespace cairn::cli {

class SegmentLines {
 public:
  /// `threads`: several make calls, so that each line says which it was.
  SegmentLines(const trace::Trace &trace, uint32_t rank, bool threads, bool json)
      : trace_(trace), rank_(rank), threads_(threads), json_(json) {}

  /// Of what stands before the rank's next call; empty: nothing does.
  const std::string &before(const trace::Event &event);
  /// Of what stands behind the last call.
  const std::string &rest();

 private:
  struct OfThread {
    uint32_t class_index = 0;
    analyze::HeapEvents events;
  };
  void add(uint32_t thread, const trace::HeapEvent &event);

  const trace::Trace &trace_;
  uint32_t rank_;
  bool threads_;
  bool json_;
  std::map<uint32_t, OfThread> threads_met_;
  std::string lines_;
};

}  // namespace cairn::cli
