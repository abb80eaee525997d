// Devices: memory of a GPU for a replay, of CUDA's driver (libcuda.so.1), which is opened where the trace has addresses
// on devices and is no part of Cairn.
//
// A process takes one device, its number on the node modulo how many there are, and that device's primary context, as
// the runtime library does: so MPI libraries find it. Which of several devices an allocation lay on, and whether it was
// managed memory, a trace does not say: it is memory of that one device.
//
// Where memory of devices can't be had it is told why (`why`), and the caller takes the host's. One thread at a time
// but for `enter`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cairn::replay {

enum class DeviceMemory : uint8_t { automatic, device, host };

class Devices {
 public:
  /// Why there is no memory of devices.
  enum class Lack : uint8_t { none, not_wanted, driver, device, mpi, memory, size };
  static constexpr size_t kLacks = 7;

  explicit Devices(DeviceMemory wanted) : lack_(wanted == DeviceMemory::host ? Lack::not_wanted : Lack::none) {}
  Devices(const Devices &) = delete;
  Devices &operator=(const Devices &) = delete;
  ~Devices();

  /// Before MPI begins: opens the driver, and the device of the process with this number on its node. Takes some
  /// hundred milliseconds where there is one.
  void open(uint32_t number_on_node);
  /// Another thread is about to make calls with such memory.
  void enter() const;
  /// What the MPI library says of whether it takes addresses on devices.
  void refuse_for_mpi() { lack_ = Lack::mpi; }

  /// Zeros, aligned as the driver does; freed with this object. nullptr: `why` says it.
  char *allocate(uint64_t bytes);
  /// The trace does not say how large an allocation was.
  void lacks_size() {
    failed_ = Lack::size;
    detail_.clear();
  }
  /// From the host's memory.
  void copy(char *to, const char *from, size_t bytes) const;

  /// Of the last that was not to be had.
  [[nodiscard]] Lack why() const { return lack_ != Lack::none ? lack_ : failed_; }
  [[nodiscard]] bool usable() const { return is_open_ && lack_ == Lack::none; }
  /// "no driver of CUDA is here (libcuda.so.1: cannot open …)".
  [[nodiscard]] std::string text_of_lack() const { return text_of(why(), detail_); }
  static std::string text_of(Lack lack, const std::string &detail = {});

 private:
  enum Function : size_t {
    kInit,
    kDeviceGetCount,
    kDeviceGet,
    kPrimaryCtxRetain,
    kCtxSetCurrent,
    kMemAlloc,
    kMemFree,
    kMemsetD8,
    kMemcpyHtoD,
    kFunctions
  };
  template <typename... Arguments>
  int call(Function function, Arguments... arguments) const {
    return reinterpret_cast<int (*)(Arguments...)>(functions_[function])(arguments...);
  }
  bool load();

  Lack lack_;
  Lack failed_ = Lack::none;
  std::string detail_;
  bool is_open_ = false;
  std::array<void *, kFunctions> functions_ = {};
  void *context_ = nullptr;
  std::vector<unsigned long long> blocks_;
};

}  // namespace cairn::replay
