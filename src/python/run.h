// Run: an open trace as Python holds it, with what its calls' places are called. All else of this room is asked of one.
//
// Const once its sources are there, which are looked for when first needed. Any number of Python's threads may ask it:
// each question has what it needs by itself.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "analyze/filter.h"
#include "analyze/sources.h"
#include "python/convert.h"
#include "trace/read/trace.h"

namespace cairn::python {

class Run {
 public:
  Run(std::string path, trace::Trace trace) : path_(std::move(path)), trace_(std::move(trace)) {}
  [[nodiscard]] const std::string &path() const { return path_; }
  [[nodiscard]] const trace::Trace &trace() const { return trace_; }
  [[nodiscard]] const analyze::Sources &sources();
  /// From a dict of what FilterText's members are called.
  analyze::Filter filter(const py::dict &words);

 private:
  std::string path_;
  trace::Trace trace_;
  std::mutex lock_;
  std::optional<analyze::Sources> sources_;
};
using RunPointer = std::shared_ptr<Run>;

// Each of these declares to Python what a file of this room has.
void declare_run(py::module_ &module);
void declare_calls(py::module_ &module);
void declare_traffic(py::module_ &module);
void declare_tables(py::module_ &module);

}  // namespace cairn::python
