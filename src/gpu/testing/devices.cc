#include "gpu/testing/cuda/devices.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

namespace cairn::emulator {
namespace {

// CUDA's numbers.
constexpr int kInvalidValue = 1;
constexpr int kUnsupported = 900;
constexpr int kInvalidated = 901;
constexpr int kMerge = 902;
constexpr int kUnmatched = 903;
constexpr int kUnjoined = 904;
constexpr int kImplicit = 906;
constexpr int kWrongThread = 908;

constexpr unsigned kWaitsForNone = 1;  // cudaStreamNonBlocking
constexpr size_t kUnsaid = size_t{1} << 32;

struct Given {
  Kind kind;
  int device;
  size_t bytes;
  unsigned flags;
};

struct Capture {
  const void *origin;
  CaptureMode mode;
  std::thread::id thread;
  std::set<const void *> streams;               ///< that are part of it
  std::set<const void *> unjoined;              ///< of them, those with work that the origin has not waited for
  std::map<const void *, const void *> events;  ///< those that stand for it, with the streams they were recorded on
  bool invalid = false;
  std::unique_ptr<Captured> graph = std::make_unique<Captured>();
};

struct AllDevices {
  std::mutex mutex;
  std::map<const void *, Given> given;
  std::map<int, size_t> used;
  std::map<int, int> broken;
  std::vector<std::unique_ptr<Capture>> captures;
};

AllDevices &all_devices() {
  static auto *const one = new AllDevices;  // outlives every destructor that may still use a device
  return *one;
}

size_t said_memory() {
  static const size_t said = [] {
    const char *wanted = std::getenv("CAIRN_EMULATOR_MEMORY");
    unsigned long long size = 0;
    char unit = 0;
    if (wanted == nullptr || std::sscanf(wanted, "%llu%c", &size, &unit) < 1) return size_t{0};
    return size_t{size} << (unit == 'K' ? 10 : unit == 'M' ? 20 : unit == 'G' ? 30 : 0);
  }();
  return said;
}

CaptureMode &thread_mode() {
  static thread_local CaptureMode mode = CaptureMode::global;
  return mode;
}

Capture *capture_of(AllDevices &all, const void *stream) {
  for (const auto &each : all.captures) {
    if (each->streams.contains(stream)) return each.get();
  }
  return nullptr;
}

/// A capture that the null stream would have to wait for.
Capture *waited_for(AllDevices &all) {
  for (const auto &each : all.captures) {
    for (const void *stream : each->streams) {
      const auto found = all.given.find(stream);
      if (found != all.given.end() && (found->second.flags & kWaitsForNone) == 0) return each.get();
    }
  }
  return nullptr;
}

/// 0 and the capture that `stream` is part of, or nullptr.
int active_capture(AllDevices &all, const void *stream, Capture **found) {
  *found = nullptr;
  if (stream == nullptr) {
    Capture *const lost = waited_for(all);
    if (lost != nullptr) lost->invalid = true;
    return lost != nullptr ? kImplicit : 0;
  }
  *found = capture_of(all, stream);
  return *found != nullptr && (*found)->invalid ? kInvalidated : 0;
}

}  // namespace

int device_count() {
  static const int count = [] {
    const char *wanted = std::getenv("CAIRN_EMULATOR_DEVICES");
    const int read = wanted == nullptr ? 1 : std::atoi(wanted);
    return read < 1 ? 1 : read;
  }();
  return count;
}

int &current_device() {
  static thread_local int device = 0;
  return device;
}

void *allocate(size_t bytes, Kind kind) {
  constexpr size_t kAlignment = 256;
  constexpr size_t kFresh = size_t{64} << 20;  // the C library takes so much from the kernel: zeros already
  const size_t whole = (bytes + kAlignment) / kAlignment * kAlignment;
  AllDevices &all = all_devices();
  const std::lock_guard lock(all.mutex);
  const int device = current_device();
  const size_t counted = kind == Kind::host ? 0 : whole;
  if (said_memory() != 0 && (counted > said_memory() || all.used[device] > said_memory() - counted)) return nullptr;
  void *const at = std::aligned_alloc(kAlignment, whole);
  if (at == nullptr) return nullptr;
  if (whole < kFresh) std::memset(at, 0, whole);
  all.given[at] = {kind, device, counted, 0};
  all.used[device] += counted;
  return at;
}

bool release(void *at) {
  AllDevices &all = all_devices();
  const std::lock_guard lock(all.mutex);
  const auto found = all.given.find(at);
  if (found == all.given.end() || found->second.kind > Kind::host) return false;
  all.used[found->second.device] -= found->second.bytes;
  all.given.erase(found);
  std::free(at);
  return true;
}

void know(const void *handle, Kind kind, unsigned flags) {
  AllDevices &all = all_devices();
  const std::lock_guard lock(all.mutex);
  all.given[handle] = {kind, current_device(), 0, flags};
}

void forget(const void *handle) {
  AllDevices &all = all_devices();
  const std::lock_guard lock(all.mutex);
  all.given.erase(handle);
}

bool is_known(const void *handle, Kind kind) {
  AllDevices &all = all_devices();
  const std::lock_guard lock(all.mutex);
  const auto found = all.given.find(handle);
  return found != all.given.end() && found->second.kind == kind;
}

DeviceMemory device_memory() {
  AllDevices &all = all_devices();
  const std::lock_guard lock(all.mutex);
  if (said_memory() == 0) return {kUnsaid, kUnsaid};
  return {said_memory() - all.used[current_device()], said_memory()};
}

void reset_device() {
  AllDevices &all = all_devices();
  const std::lock_guard lock(all.mutex);
  const int device = current_device();
  for (auto each = all.given.begin(); each != all.given.end();) {
    const Given &given = each->second;
    if (given.device != device || given.kind == Kind::ordered) {
      ++each;
      continue;
    }
    if (given.kind <= Kind::host) std::free(const_cast<void *>(each->first));
    all.used[device] -= given.bytes;
    std::erase_if(all.captures, [&each](const auto &capture) { return capture->streams.contains(each->first); });
    each = all.given.erase(each);
  }
  all.broken.erase(device);
}

void break_device(int error) {
  AllDevices &all = all_devices();
  const std::lock_guard lock(all.mutex);
  all.broken.emplace(current_device(), error);
}

int broken_by() {
  AllDevices &all = all_devices();
  const std::lock_guard lock(all.mutex);
  const auto found = all.broken.find(current_device());
  return found == all.broken.end() ? 0 : found->second;
}

CaptureMode exchange_capture_mode(CaptureMode mode) { return std::exchange(thread_mode(), mode); }

int begin_capture(const void *stream, CaptureMode mode) {
  AllDevices &all = all_devices();
  const std::lock_guard lock(all.mutex);
  if (stream == nullptr || capture_of(all, stream) != nullptr) return kUnsupported;
  all.captures.push_back(std::make_unique<Capture>());
  Capture &made = *all.captures.back();
  made.origin = stream;
  made.mode = mode;
  made.thread = std::this_thread::get_id();
  made.streams.insert(stream);
  return 0;
}

Captured *end_capture(const void *stream, int *error) {
  AllDevices &all = all_devices();
  const std::lock_guard lock(all.mutex);
  const auto found = std::find_if(all.captures.begin(), all.captures.end(),
                                  [stream](const auto &each) { return each->streams.contains(stream); });
  if (found == all.captures.end()) return *error = kInvalidValue, nullptr;
  if ((*found)->origin != stream) return *error = kUnmatched, nullptr;
  if ((*found)->mode != CaptureMode::relaxed && (*found)->thread != std::this_thread::get_id()) {
    return *error = kWrongThread, nullptr;
  }
  const std::unique_ptr<Capture> ended = std::move(*found);
  all.captures.erase(found);
  *error = ended->invalid ? kInvalidated : !ended->unjoined.empty() ? kUnjoined : 0;
  return *error != 0 ? nullptr : ended->graph.release();
}

int capture_state(const void *stream, CaptureState *of) {
  AllDevices &all = all_devices();
  const std::lock_guard lock(all.mutex);
  *of = CaptureState::none;
  if (stream == nullptr) return waited_for(all) != nullptr ? kImplicit : 0;
  const Capture *const found = capture_of(all, stream);
  if (found != nullptr) *of = found->invalid ? CaptureState::invalid : CaptureState::active;
  return 0;
}

int unsafe_call() {
  AllDevices &all = all_devices();
  const std::lock_guard lock(all.mutex);
  const CaptureMode mode = thread_mode();
  bool prohibited = false;
  for (const auto &each : all.captures) {
    const bool own = each->thread == std::this_thread::get_id() && each->mode != CaptureMode::relaxed;
    const bool of_other = mode == CaptureMode::global && each->mode == CaptureMode::global;
    if (mode == CaptureMode::relaxed || (!own && !of_other)) continue;
    each->invalid = true;
    prohibited = true;
  }
  return prohibited ? kUnsupported : 0;
}

bool is_captured(const void *stream, const Work &work, int *error) {
  AllDevices &all = all_devices();
  const std::lock_guard lock(all.mutex);
  Capture *found = nullptr;
  *error = active_capture(all, stream, &found);
  if (found == nullptr || *error != 0) return *error != 0;
  found->graph->works.push_back(work);
  if (stream != found->origin) found->unjoined.insert(stream);
  return true;
}

bool capture_event(const void *event, const void *stream, int *error) {
  AllDevices &all = all_devices();
  const std::lock_guard lock(all.mutex);
  for (const auto &each : all.captures) each->events.erase(event);
  Capture *found = nullptr;
  *error = active_capture(all, stream, &found);
  if (found == nullptr || *error != 0) return *error != 0;
  found->events[event] = stream;
  return true;
}

int wait_for_event(const void *stream, const void *event) {
  AllDevices &all = all_devices();
  const std::lock_guard lock(all.mutex);
  Capture *own = nullptr;
  if (const int error = active_capture(all, stream, &own); error != 0) return error;
  for (const auto &each : all.captures) {
    const auto recorded = each->events.find(event);
    if (recorded == each->events.end()) continue;
    if (own != nullptr && own != each.get()) return each->invalid = own->invalid = true, kMerge;
    each->streams.insert(stream);
    if (stream == each->origin) {
      each->unjoined.erase(recorded->second);
    } else {
      each->unjoined.insert(stream);
    }
  }
  return 0;
}

bool is_of_capture(const void *event) {
  AllDevices &all = all_devices();
  const std::lock_guard lock(all.mutex);
  return std::any_of(all.captures.begin(), all.captures.end(),
                     [event](const auto &each) { return each->events.contains(event); });
}

}  // namespace cairn::emulator
