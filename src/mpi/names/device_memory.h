// DeviceMemory: asks the CUDA driver, where the process has loaded it, whether an address is its own.
//
// The driver is found again whenever objects were loaded; without it a question costs a hundred nanoseconds. The driver
// is called, and may allocate: not to be used with locks held. Any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace cairn::recorder {

class DeviceMemory {
 public:
  struct Allocation {
    uintptr_t start;
    size_t size;
  };
  /// The device (or managed) allocation that holds `address`. Pinned host memory isn't one.
  bool find(uintptr_t address, Allocation &allocation);

 private:
  bool have_driver();

  using Attribute = int (*)(void *value, int attribute, unsigned long long address);
  using Extent = int (*)(unsigned long long *start, size_t *size, unsigned long long address);
  std::atomic<unsigned long long> seen_loads_{0};
  std::atomic<Attribute> attribute_{nullptr};
  std::atomic<Extent> extent_{nullptr};
};

}  // namespace cairn::recorder
