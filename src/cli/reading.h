// Reading: shows on the terminal how far an analysis is that goes through calls one by one, by what it has read of its
// traces (Trace::calls_given). Nothing where stderr is no terminal, within the first two seconds, or while no call was
// read: what is counted on the grammar needs no such line.
//
// Begin one before the analysis; `end` it before anything is printed. It has a thread of its own.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "terminal/progress.h"
#include "trace/read/trace.h"

namespace cairn::cli {

class Reading {
 public:
  /// `ranks`: those whose calls are read, once; empty: all.
  explicit Reading(const trace::Trace &trace, const std::vector<uint32_t> &ranks = {});
  /// Of two traces, all ranks. `times`: how often each call is read.
  Reading(const trace::Trace &first, const trace::Trace &second, uint64_t times);
  ~Reading() { end(); }
  Reading(const Reading &) = delete;
  Reading &operator=(const Reading &) = delete;
  void end();

 private:
  void begin();
  [[nodiscard]] uint64_t given() const;

  std::vector<const trace::Trace *> traces_;
  uint64_t before_ = 0;  ///< given until this began
  Progress progress_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool ends_ = false;
  std::thread watcher_;  ///< alone uses `progress_` until it has ended
};

}  // namespace cairn::cli
