// cairn-replay: one rank of a replay. `cairn replay` has the launcher start it, once for each rank:
// cairn-replay FILE SCRATCH [WORD=VALUE …] (settings.h).
#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/launcher.h"
#include "replay/job.h"
#include "replay/progress.h"

namespace cairn::replay {
namespace {

const Job *running = nullptr;

int refuse(const Error &error, uint32_t rank) {
  if (rank != 0) {
    std::this_thread::sleep_for(std::chrono::seconds(1));  // a launcher ends the others when the first ends
  } else {
    fmt::print(stderr, "cairn replay: {}{}{}\n", error.message, error.hint.empty() ? "" : ": ", error.hint);
  }
  return error.kind == ErrorKind::unreadable ? 3 : error.kind == ErrorKind::usage ? 2 : 4;
}

/// MPI may end the process where it finds an error.
void tell_where_it_ended() {
  if (running == nullptr) return;
  const Job &job = *std::exchange(running, nullptr);
  for (const std::string &where : job.standing()) {
    fmt::print(stderr, "cairn replay: rank {} ended in {}\n", job.rank, where);
  }
}

/// A last word before the process ends as it would have: nothing is lost if this does not come through.
void tell_where_it_crashed(int number) {
  signal(number, SIG_DFL);
  tell_where_it_ended();
  raise(number);
}

bool read_word(std::string_view word, Settings *settings) {
  const size_t equals = word.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string_view name = word.substr(0, equals);
  const std::string value(word.substr(equals + 1));
  if (name == "gaps") {
    settings->gaps = value == "spin" ? Gaps::spin : value == "sleep" ? Gaps::sleep : Gaps::none;
  } else if (name == "scale") {
    settings->scale = std::strtod(value.c_str(), nullptr);
  } else if (name == "stall") {
    settings->stall_s = std::strtoull(value.c_str(), nullptr, 10);
  } else if (name == "wild") {
    settings->keep_wild = value == "yes";
  } else if (name == "payload") {
    settings->random_payload = value == "random";
  } else if (name == "buffers") {
    settings->shared_buffers = value == "shared";
  } else if (name == "devices") {
    settings->device_memory = value == "device" ? DeviceMemory::device
                              : value == "host" ? DeviceMemory::host
                                                : DeviceMemory::automatic;
  } else if (name == "order") {
    settings->free_order = value == "free";
  } else if (name == "echo") {
    settings->echo = value == "yes";
  } else if (name == "quiet") {
    settings->quiet = value == "yes";
  } else if (name == "job") {
    settings->job = static_cast<uint32_t>(std::strtoul(value.c_str(), nullptr, 10));
  } else if (name == "first") {
    settings->first = static_cast<uint32_t>(std::strtoul(value.c_str(), nullptr, 10));
  } else if (name == "all") {
    settings->all = static_cast<uint32_t>(std::strtoul(value.c_str(), nullptr, 10));
  } else {
    return false;
  }
  const bool of_all_jobs = name != "job" && name != "first";
  if (of_all_jobs) settings->words.emplace_back(word);
  return true;
}

/// What only a rank knows; the rest was looked at before (analyze::may_be_repeated).
Result<void> may_replay(const trace::Trace &trace, int size) {
  if (size >= 0 && static_cast<uint32_t>(size) != trace.rank_count()) {
    return fail(ErrorKind::usage, fmt::format("the trace has {} ranks, and {} were started", trace.rank_count(), size),
                fmt::format("start as many: mpiexec -n {}", trace.rank_count()));
  }
  return {};
}

int run(int argc, char **argv) {
  Settings settings;
  const auto rank = static_cast<uint32_t>(launched_rank());
  if (argc < 3) return refuse({ErrorKind::usage, "this program is started by cairn replay", {}, 0, {}}, rank);
  settings.file = argv[1];
  settings.scratch = argv[2];
  for (int i = 3; i < argc; ++i) {
    if (!read_word(argv[i], &settings)) {
      return refuse({ErrorKind::usage, fmt::format("unknown word {}", argv[i]), {}, 0, {}}, rank);
    }
  }
  const auto trace = trace::Trace::open(settings.file);
  if (!trace) return refuse(trace.error(), rank);
  if (const auto may = may_replay(*trace, launched_size()); !may) return refuse(may.error(), rank);
  const analyze::Sources sources(*trace, analyze::Sources::Look::in_trace_only);
  Job job(*trace, sources, rank, settings);
  running = &job;
  std::atexit(tell_where_it_ended);
  // Libraries under MPI set theirs in MPI_Init.
  job.when_mpi_begins = [] {
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE}) signal(number, tell_where_it_crashed);
  };
  Result<void> done;
  {
    const Progress progress(job);
    done = job.run();
  }
  running = nullptr;
  if (done) return 0;
  fmt::print(stderr, "cairn replay: rank {}: {}\n", rank, done.error().message);
  abort_job(1);
}

}  // namespace
}  // namespace cairn::replay

int main(int argc, char **argv) { return cairn::replay::run(argc, argv); }
