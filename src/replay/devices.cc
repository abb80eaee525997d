#include "replay/devices.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace cairn::replay {

namespace {

using Address = unsigned long long;

/// Of the driver's interface, which is stable; in the order of Function.
constexpr std::array kNames = {"cuInit",          "cuDeviceGetCount", "cuDeviceGet",  "cuDevicePrimaryCtxRetain",
                               "cuCtxSetCurrent", "cuMemAlloc_v2",    "cuMemFree_v2", "cuMemsetD8_v2",
                               "cuMemcpyHtoD_v2"};

}  // namespace

Devices::~Devices() {
  for (const Address block : blocks_) call(kMemFree, block);
}

bool Devices::load() {
  static_assert(kNames.size() == kFunctions);
  void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (driver == nullptr) {
    const char *why = dlerror();
    detail_ = why == nullptr ? "libcuda.so.1" : why;
    return false;
  }
  for (size_t i = 0; i < kFunctions; ++i) {
    functions_[i] = dlsym(driver, kNames[i]);
    if (functions_[i] != nullptr) continue;
    detail_ = fmt::format("libcuda.so.1 has no {}", kNames[i]);
    return false;
  }
  return true;
}

void Devices::open(uint32_t number_on_node) {
  if (lack_ != Lack::none || is_open_) return;
  if (!load()) {
    lack_ = Lack::driver;
    return;
  }
  int count = 0;
  int device = 0;
  const auto fails = [this](const char *what, int code) {
    if (code != 0) detail_ = fmt::format("{} gives error {}", what, code);
    return code != 0;
  };
  if (fails("cuInit", call(kInit, 0U)) || fails("cuDeviceGetCount", call(kDeviceGetCount, &count)) || count <= 0 ||
      fails("cuDeviceGet",
            call(kDeviceGet, &device, static_cast<int>(number_on_node % static_cast<uint32_t>(count)))) ||
      fails("cuDevicePrimaryCtxRetain", call(kPrimaryCtxRetain, &context_, device)) ||
      fails("cuCtxSetCurrent", call(kCtxSetCurrent, context_))) {
    lack_ = Lack::device;
    return;
  }
  is_open_ = true;
}

void Devices::enter() const {
  if (is_open_) call(kCtxSetCurrent, context_);
}

char *Devices::allocate(uint64_t bytes) {
  if (!usable()) return nullptr;
  Address block = 0;
  const size_t size = bytes == 0 ? 1 : bytes;
  if (const int code = call(kMemAlloc, &block, size); code != 0 || block == 0) {
    failed_ = Lack::memory;
    detail_ = fmt::format("cuMemAlloc of {} bytes gives error {}", size, code);
    return nullptr;
  }
  blocks_.push_back(block);
  call(kMemsetD8, block, static_cast<unsigned char>(0), size);
  return reinterpret_cast<char *>(block);  // NOLINT(performance-no-int-to-ptr): as the driver tells it
}

void Devices::copy(char *to, const char *from, size_t bytes) const {
  call(kMemcpyHtoD, reinterpret_cast<Address>(to), static_cast<const void *>(from), bytes);
}

std::string Devices::text_of(Lack lack, const std::string &detail) {
  const char *const what = [lack] {
    switch (lack) {
      case Lack::none:
        return "";
      case Lack::not_wanted:
        return "as --device-memory host asks for";
      case Lack::driver:
        return "no driver of CUDA is here";
      case Lack::device:
        return "the driver has no device";
      case Lack::mpi:
        return "this MPI library says that it takes no addresses on devices";
      case Lack::memory:
        return "a device has no more of it";
      case Lack::size:
        return "the trace does not say how large it was";
    }
    return "";
  }();
  return detail.empty() ? what : fmt::format("{} ({})", what, detail);
}

}  // namespace cairn::replay
