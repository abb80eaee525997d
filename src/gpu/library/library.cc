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
#include "gpu/file/spooled.h"

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

struct Session {
  std::mutex mutex;
  gpu::Collected collected;
  int64_t start = now();
  uint64_t start_monotonic = monotonic();
  uint64_t dropped = 0;
};

Session &session() {
  static auto *one = new Session;  // outlives every destructor that may still launch
  return *one;
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

/// Launches' times are counted from the zero of the rank's calls, if it has any.
void place_launches(Session *of) {
  CairnMpiPlace place{};
  if (place_among_calls(&place)) return of->collected.count_from(place.zero_ns);
  of->collected.count_from(of->start_monotonic);
  of->collected.forget_places();
}

/// Under `cairn record`: the trace is made there.
bool leave_in_spool(const gpu::Launches &launches, const std::string &spool) {
  const Bytes bytes = gpu::write_spooled(launches, static_cast<uint32_t>(launched_rank()));
  const std::string path = gpu::spooled_path(spool, static_cast<int>(getpid()));
  const int error = write_new(path, bytes);
  if (error != 0) complain("cannot write " + path + ": " + std::strerror(error) + "; its GPU trace is lost");
  return error == 0;
}

bool write_file(const Session &of) {
  const Bytes bytes = gpu::file_of(of.collected.launches(), command_line(), of.start, now() - of.start);
  if (bytes.empty()) {
    complain("the GPU trace could not be made");
    return false;
  }
  const std::string wanted = text_of("CAIRN_GPU_OUTPUT");
  std::string stem = wanted;
  if (stem.empty()) {
    stem = program_path();
    stem = stem.substr(stem.rfind('/') + 1);
  }
  if (stem.ends_with(".cairn")) stem.resize(stem.size() - 6);
  for (int number = 1; number < 10'000; ++number) {
    const std::string path = stem + (number == 1 ? "" : "-" + std::to_string(number)) + ".cairn";
    const int error = write_new(path, bytes);
    if (error == EEXIST) continue;
    if (error != 0) {
      complain("cannot write " + path + ": " + std::strerror(error) + "; set CAIRN_GPU_OUTPUT to another place");
      return false;
    }
    if (text_of("CAIRN_QUIET").empty()) {
      complain(path + ": " + std::to_string(of.collected.launches().launches.size()) + " launches, " +
               std::to_string(bytes.size()) + " bytes");
    }
    return true;
  }
  return false;
}

int collect(const cairn_gpu_launch *launch, const gpu::AboutLaunch &about) {
  try {
    Session &to = session();
    const std::lock_guard lock(to.mutex);
    if (launch != nullptr && to.collected.add(*launch, about)) return 0;
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
    if (of.dropped != 0)
      complain(std::to_string(of.dropped) + " GPU launches came in damaged and are not in the trace");
    of.dropped = 0;
    if (of.collected.launches().launches.empty()) return 0;
    const std::string spool = text_of("CAIRN_GPU_OUTPUT").empty() ? text_of("CAIRN_SPOOL") : "";
    place_launches(&of);
    const bool written = spool.empty() ? write_file(of) : leave_in_spool(of.collected.launches(), spool);
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
