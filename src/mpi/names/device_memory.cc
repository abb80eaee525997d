#include "mpi/names/device_memory.h"

#include <dlfcn.h>
#include <link.h>

#include "mpi/names/dl_error.h"

namespace cairn::recorder {
namespace {

// Of the driver's interface, which is stable.
constexpr int kMemoryType = 2;
constexpr int kIsManaged = 8;
constexpr unsigned kDeviceType = 2;
constexpr unsigned kUnifiedType = 4;

unsigned long long objects_loaded() {
  unsigned long long count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *result) {
        *static_cast<unsigned long long *>(result) = info->dlpi_adds;
        return 1;
      },
      &count);
  return count;
}

}  // namespace

bool DeviceMemory::have_driver() {
  if (attribute_.load(std::memory_order_acquire) != nullptr) return true;
  const unsigned long long loads = objects_loaded();
  if (seen_loads_.exchange(loads) == loads) return false;
  const KeptDlError kept;
  // The runtime library opens the driver for itself; elsewhere it is linked.
  void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  void *scope = driver != nullptr ? driver : RTLD_DEFAULT;
  void *extent = dlsym(scope, "cuMemGetAddressRange_v2");
  if (extent == nullptr) extent = dlsym(scope, "cuMemGetAddressRange");
  void *attribute = dlsym(scope, "cuPointerGetAttribute");
  if (extent == nullptr || attribute == nullptr) {
    if (driver != nullptr) dlclose(driver);
    return false;
  }
  extent_.store(reinterpret_cast<Extent>(extent), std::memory_order_release);
  attribute_.store(reinterpret_cast<Attribute>(attribute), std::memory_order_release);
  return true;
}

bool DeviceMemory::find(uintptr_t address, Allocation &allocation) {
  if (!have_driver()) return false;
  const Attribute attribute = attribute_.load(std::memory_order_acquire);
  unsigned type = 0;
  unsigned managed = 0;
  if (attribute(&type, kMemoryType, address) != 0) return false;
  if (type != kDeviceType && type != kUnifiedType && (attribute(&managed, kIsManaged, address) != 0 || managed == 0)) {
    return false;
  }
  unsigned long long start = 0;
  size_t size = 0;
  if (extent_.load(std::memory_order_acquire)(&start, &size, address) != 0) return false;
  if (address < start || address - start >= size) return false;
  allocation = {start, size};
  return true;
}

}  // namespace cairn::recorder
