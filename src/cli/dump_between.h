// What became of the heap segments that MPI saw, how large allocations on devices were, and what became of the
// program's threads, as lines of cairn dump between the calls of a rank.
//
// Borrows the trace. One rank; one thread. Cost: as HeapEvents, and as ThreadEvents.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "analyze/heap_events.h"
#include "analyze/thread_events.h"
#include "trace/read/events.h"

namespace cairn::cli {

class LinesBetween {
 public:
  struct Wanted {
    bool segments = false;
    bool threads = false;
  };
  /// `several_threads` make calls, so that each line says which it was.
  LinesBetween(const trace::Trace &trace, uint32_t rank, Wanted wanted, bool several_threads, bool json)
      : trace_(trace), rank_(rank), wanted_(wanted), several_threads_(several_threads), json_(json) {}

  /// Of what stands before the rank's next call; empty: nothing does.
  const std::string &before(const trace::Event &event);
  /// Of what stands behind the last call.
  const std::string &rest();

 private:
  struct OfThread {
    uint32_t class_index = 0;
    analyze::HeapEvents segments;
    analyze::ThreadEvents threads;
  };
  /// What lines of one form have in common.
  void begin_line(uint32_t thread);
  void add(uint32_t thread, const trace::HeapEvent &event);
  void add(uint32_t thread, const trace::ThreadEvent &event);
  /// What an `OfThread` has left, behind its last call.
  void add_rest(uint32_t thread, OfThread *of);

  const trace::Trace &trace_;
  uint32_t rank_;
  Wanted wanted_;
  bool several_threads_;
  bool json_;
  std::map<uint32_t, OfThread> threads_met_;
  std::string lines_;
};

}  // namespace cairn::cli
