// libcairn-gpu.so: see cairn/gpu/collect.h. One session a process.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <mutex>
#include <string>

#include "base/launcher.h"
#include "base/mpi_place.h"
#include "base/whole.h"
#include "gpu/file/collect.h"
#include "gpu/file/launch_log.h"

namespace {

using namespace cairn;

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

uint64_t monotonic() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

/// Whether the process's MPI calls are recorded, and where the calling thread stands among them.
bool place_among_calls(CairnMpiPlace *place) {
  // Of the preloaded libcairn.so, which stays where it is.
  static const auto of = reinterpret_cast<CairnMpiPlaceOf>(dlsym(RTLD_DEFAULT, CAIRN_MPI_PLACE_SYMBOL));
  return of != nullptr && of(place) == 0;
}

void complain(const std::string &what) { std::fprintf(stderr, "cairn: %s\n", what.c_str()); }

std::string text_of(const char *variable) {
  const char *value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

std::string program_path() {
  char path[PATH_MAX];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  return size <= 0 ? "gpu" : std::string(path, static_cast<size_t>(size));
}

std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string words{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!words.empty() && words.back() == '\0') words.pop_back();
  for (char &c : words) c = c == '\0' ? ' ' : c;
  return words;
}

/// What the trace is called, up to ".cairn" or "-2.cairn".
std::string trace_stem() {
  std::string stem = text_of("CAIRN_GPU_OUTPUT");
  if (stem.empty()) {
    stem = program_path();
    stem = stem.substr(stem.rfind('/') + 1);
  }
  if (stem.ends_with(".cairn")) stem.resize(stem.size() - 6);
  return stem;
}

/// Under `cairn record`, which makes the trace, the spool; else empty.
std::string spool() { return text_of("CAIRN_GPU_OUTPUT").empty() ? text_of("CAIRN_SPOOL") : ""; }

/// Of the file that outlives the process. Wherever this goes meanwhile, it is where the trace would be now.
std::string log_stem() {
  if (!spool().empty()) return spool() + "/";
  const std::string stem = trace_stem() + ".";
  char here[PATH_MAX];
  return stem.front() == '/' || getcwd(here, sizeof here) == nullptr ? stem : std::string(here) + "/" + stem;
}

struct Session {
  std::mutex mutex;  ///< is taken before the other
  gpu::Collected collected;
  int64_t start = now();
  uint64_t start_monotonic = monotonic();
  uint64_t dropped = 0;
  std::mutex log_mutex;  ///< not held while streams are compared, since threads that launch wait for it
  gpu::LaunchLog log{log_stem(), static_cast<uint32_t>(launched_rank()), command_line(), start};
  bool complained = false;

  /// Launches' times are counted from the zero of the rank's calls, if it has any.
  [[nodiscard]] gpu::Zero zero() const {
    CairnMpiPlace place{};
    return place_among_calls(&place) ? gpu::Zero{place.zero_ns, true} : gpu::Zero{start_monotonic, false};
  }
  /// Tells the log of a launch; without memory for that it stands in the trace, if the process is not killed.
  template <typename Tell>
  void tell(const Tell &tell_log) noexcept {
    try {
      const std::lock_guard lock(log_mutex);
      const int error = tell_log();
      if (error == 0 || complained) return;
      complained = true;
      complain("cannot write " + log.path() + ": " + std::strerror(error) +
               "; for as long as that is so, GPU launches are lost if the process is killed");
    } catch (...) {
    }
  }
};

Session &session() {
  static auto *one = new Session;  // outlives every destructor that may still launch
  return *one;
}

/// 0 or errno. An existing file is left alone (EEXIST).
int write_new(const std::string &path, const Bytes &bytes) {
  const std::string partial = path + ".partial." + std::to_string(getpid());
  const int file = open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return errno;
  int error = write_all(file, bytes);
  if (close(file) != 0 && error == 0) error = errno;
  if (error == 0 && link(partial.c_str(), path.c_str()) != 0) error = errno;
  unlink(partial.c_str());
  return error;
}

/// Under `cairn record`: the trace is made there.
bool leave_in_spool(Session *of) {
  const int error = of->log.finish(of->collected.launches(), of->zero());
  if (error == 0) return true;
  complain("cannot write " + of->log.path() + ": " + std::strerror(error) + "; " + std::to_string(of->log.unwritten()) +
           " of its GPU launches are lost");
  return false;
}

bool write_file(Session *of) {
  const gpu::Zero zero = of->zero();
  const bool kept = of->log.finish(of->collected.launches(), zero) == 0;
  const auto failed = [&](const std::string &why) {
    complain(why + (kept ? "; cairn merge makes the trace of " + of->log.path() : ""));
    return false;
  };
  of->collected.count_from(zero.ns);
  if (!zero.of_calls) of->collected.forget_places();
  const gpu::Launches &launches = of->collected.launches();
  const Bytes bytes = gpu::file_of(launches, command_line(), of->start, now() - of->start);
  if (bytes.empty()) return failed("the GPU trace could not be made");
  const std::string stem = trace_stem();
  for (int number = 1; number < 10'000; ++number) {
    const std::string path = stem + (number == 1 ? "" : "-" + std::to_string(number)) + ".cairn";
    const int error = write_new(path, bytes);
    if (error == EEXIST) continue;
    if (error != 0) {
      return failed("cannot write " + path + ": " + std::strerror(error) + "; set CAIRN_GPU_OUTPUT to another place");
    }
    of->log.remove();
    if (text_of("CAIRN_QUIET").empty()) {
      complain(path + ": " + std::to_string(launches.launches.size()) + " launches, " + std::to_string(bytes.size()) +
               " bytes");
    }
    return true;
  }
  return false;
}

int collect(const cairn_gpu_launch *launch, const gpu::AboutLaunch &about) {
  try {
    Session &to = session();
    const std::lock_guard lock(to.mutex);
    if (launch != nullptr && to.collected.add(*launch, about)) {
      const gpu::Launches &all = to.collected.launches();
      to.tell([&] { return to.log.ended(*launch->program, all, all.launches.size() - 1, to.zero()); });
      return 0;
    }
    ++to.dropped;
  } catch (...) {
    complain("no memory for a GPU launch: it is not in the trace");
  }
  return -1;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int cairn_gpu_open(uint32_t version) {
  if (version < 1 || version > CAIRN_GPU_COLLECT_VERSION) {
    complain(
        "the program was traced by a newer version of Cairn: install that here, or instrument and compile it again");
    return -1;
  }
  session();
  return 0;
}

__attribute__((visibility("default"))) void cairn_gpu_now(cairn_gpu_moment *moment) {
  CairnMpiPlace place{};
  *moment = {};
  // Else this is before the first MPI call of all: thread 0 is whoever will make it.
  if (place_among_calls(&place)) {
    moment->calls = place.calls;
    moment->thread = place.thread;
  }
  moment->made_ns = monotonic();
}

__attribute__((visibility("default"))) int cairn_gpu_begin(const cairn_gpu_launch *launch, cairn_gpu_moment *moment) {
  cairn_gpu_now(moment);
  try {
    Session &to = session();
    const auto record = gpu::record_of(*launch, {moment, nullptr, 0, gpu::Untraced::killed});
    if (!record) return -1;
    to.tell([&] {
      const int error = to.log.began(*launch->program, *record, to.zero());
      moment->made_ns = monotonic();  // what the log took is no part of how long the kernel was queued
      to.log.made_at(moment->made_ns);
      return error;
    });
    return 0;
  } catch (...) {
    return -1;  // it stands in the trace when it has ended
  }
}

__attribute__((visibility("default"))) int cairn_gpu_collect(const cairn_gpu_launch *launch) {
  return cairn_gpu_collect_at(launch, nullptr);
}

__attribute__((visibility("default"))) int cairn_gpu_collect_at(const cairn_gpu_launch *launch,
                                                                const cairn_gpu_moment *moment) {
  return cairn_gpu_collect_clocks(launch, moment, nullptr, 0);
}

__attribute__((visibility("default"))) int cairn_gpu_collect_clocks(const cairn_gpu_launch *launch,
                                                                    const cairn_gpu_moment *moment,
                                                                    const cairn_gpu_clock *clocks,
                                                                    uint32_t processors) {
  return collect(launch, {moment, clocks, processors, gpu::Untraced::not_told});
}

__attribute__((visibility("default"))) int cairn_gpu_collect_untraced(const cairn_gpu_launch *launch,
                                                                      const cairn_gpu_moment *moment, uint32_t why) {
  return collect(launch, {moment, nullptr, 0, gpu::untraced_of(why)});
}

__attribute__((visibility("default"))) int cairn_gpu_write() {
  try {
    Session &of = session();
    const std::lock_guard lock(of.mutex);
    const std::lock_guard log_lock(of.log_mutex);
    if (of.dropped != 0)
      complain(std::to_string(of.dropped) + " GPU launches came in damaged and are not in the trace");
    of.dropped = 0;
    bool written = true;
    if (of.collected.launches().launches.empty()) {
      of.log.remove();
    } else {
      written = spool().empty() ? write_file(&of) : leave_in_spool(&of);
    }
    of.log.begin_anew();
    of.collected = {};
    of.start = now();
    of.start_monotonic = monotonic();
    return written ? 0 : -1;
  } catch (...) {
    complain("no memory to write the GPU trace");
    return -1;
  }
}
}
