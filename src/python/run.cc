#include "python/run.h"

#include <algorithm>

#include "analyze/open_trace.h"
#include "analyze/overview.h"
#include "trace/read/exactness.h"

namespace cairn::python {
namespace {

RunPointer open(const std::string &path) {
  auto trace = unlocked([&] { return analyze::open_trace_at(path); });
  return std::make_shared<Run>(path, taken(std::move(trace), path));
}

std::vector<std::string> words_of(const py::handle &value) {
  std::vector<std::string> words;
  for (const py::handle word : py::reinterpret_borrow<py::list>(value)) words.push_back(word.cast<std::string>());
  return words;
}

py::dict metadata(Run &run) {
  const analyze::Overview found = unlocked([&] { return analyze::overview(run.trace()); });
  py::dict all;
  all["path"] = run.path();
  all["command"] = text(found.run.command);
  all["mpi"] = text(found.run.mpi);
  all["recorder"] = text(found.run.recorder);
  all["timing"] = text(found.run.timing);
  all["times_within"] = trace::exactness(run.trace());
  all["status"] = text(found.run.status);
  py::list hosts;
  for (const std::string &host : found.hosts) hosts.append(text(host));
  all["hosts"] = hosts;
  all["ranks"] = found.ranks;
  all["world"] = found.world;
  all["threads"] = found.threads;
  all["calls"] = found.calls;
  all["functions"] = found.functions;
  all["signatures"] = found.signatures;
  all["classes"] = found.classes;
  all["communicators"] = found.communicators;
  all["incomplete"] = numbers(found.incomplete);
  py::dict losses;
  for (const auto &[reason, degraded] : found.degraded) losses[text(reason)] = numbers(degraded.ranks);
  all["losses"] = losses;
  py::dict bytes;
  for (const auto &[section, size] : found.bytes) bytes[text(section)] = size;
  all["bytes"] = bytes;
  return all;
}

py::list classes(const Run &run) {
  py::list all;
  for (uint32_t i = 0; i < run.trace().class_count(); ++i) {
    const trace::ClassView view = run.trace().class_view(i);
    py::dict one;
    one["ranks"] = numbers(view.ranks);
    one["thread"] = view.thread;
    one["after_finalize"] = view.segment == trace::SequenceRecord::kEpilogue;
    one["rows"] = view.rows;
    one["rules"] = view.calls->rules().size();
    all.append(one);
  }
  return all;
}

py::dict rank_info(const Run &run, uint32_t rank) {
  const trace::Trace::RankInfo info = run.trace().rank_info(rank);
  py::dict all;
  all["host"] = text(info.host);
  all["complete"] = info.complete;
  all["losses"] = text(info.degraded);
  all["wall_ns"] = info.wall_ns;
  all["mpi_ns"] = info.mpi_ns;
  py::list threads;
  for (const trace::SequenceView &sequence : run.trace().sequences(rank)) {
    if (threads.empty() || threads[threads.size() - 1].cast<uint32_t>() != sequence.thread) {
      threads.append(sequence.thread);
    }
  }
  all["threads"] = threads;
  return all;
}

}  // namespace

const analyze::Sources &Run::sources() {
  const std::lock_guard lock(lock_);
  if (!sources_) sources_.emplace(trace_);
  return *sources_;
}

analyze::Filter Run::filter(const py::dict &words) {
  analyze::FilterText of;
  for (const auto &[key, value] : words) {
    const auto name = key.cast<std::string>();
    if (name == "rank") of.ranks = value.cast<std::string>();
    if (name == "thread") of.threads = value.cast<std::string>();
    if (name == "function") of.functions = words_of(value);
    if (name == "site") of.sites = words_of(value);
    if (name == "peer") of.peers = words_of(value);
    if (name == "tag") of.tags = words_of(value);
    if (name == "comm") of.comms = words_of(value);
    if (name == "result") of.results = words_of(value);
    if (name == "errors") of.errors = value.cast<bool>();
    if (name == "step") of.steps = value.cast<std::string>();
    if (name == "step_at") of.step_at = value.cast<std::string>();
    if (name == "time") of.time = value.cast<std::string>();
    if (name == "made_axis") of.made_axis = value.cast<bool>();
    if (name == "start") of.from = value.cast<uint64_t>();
    if (name == "limit") of.limit = value.cast<uint64_t>();
  }
  return taken(unlocked([&] { return analyze::make_filter(of, trace_, sources()); }),
               "");  // as verbs, which name no file
}

void declare_run(py::module_ &module) {
  module.def("open", &open);
  py::class_<Run, RunPointer>(module, "Run")
      .def("metadata", &metadata)
      .def("classes", &classes)
      .def("rank_info", &rank_info)
      .def("ranks", [](const Run &run) { return numbers(run.trace().ranks()); })
      .def("warnings", [](Run &run) {
        py::list all;
        for (const std::string &warning : unlocked([&] { return run.sources().warnings(); })) all.append(text(warning));
        return all;
      });
}

}  // namespace cairn::python
