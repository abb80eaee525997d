// What the host asks of CUDA's or HIP's run-time library, by one name, and memory of the host that a device sees. Host
// only.
#pragma once

#if defined(__HIPCC__) && !defined(__CUDACC__)
#include <hip/hip_runtime.h>
#define CAIRN_RT(name) hip##name
#else
#include <cuda_runtime.h>
#define CAIRN_RT(name) cuda##name
#endif
/// Launches a kernel of ours.
#if defined(CAIRN_GPU_EMULATOR)
#define CAIRN_GPU_RUN(kernel, blocks, threads, stream, ...) \
  ::cairn::emulator::launch_at((blocks), (threads), 0, (stream)).run([=] { kernel(__VA_ARGS__); })
#else
#define CAIRN_GPU_RUN(kernel, blocks, threads, stream, ...) kernel<<<(blocks), (threads), 0, (stream)>>>(__VA_ARGS__)
#endif

#include <cstdint>

namespace cairn::gpu {

using Stream = CAIRN_RT(Stream_t);

#if defined(__HIPCC__) && !defined(__CUDACC__)
constexpr auto kProcessorCount = hipDeviceAttributeMultiprocessorCount;
#else
constexpr auto kProcessorCount = cudaDevAttrMultiProcessorCount;
#endif

/// Memory of the host that the device sees.
class Pinned {
 public:
  Pinned() = default;
  Pinned(const Pinned &) = delete;
  Pinned &operator=(const Pinned &) = delete;
  ~Pinned() { release(); }
  /// nullptr: there is none.
  void *take(uint64_t bytes) {
    if (bytes <= bytes_) return at_;
    release();
    uint64_t room = 4096;
    while (room < bytes) room *= 2;  // seldom a new one
    bytes = room;
#if defined(__HIPCC__) && !defined(__CUDACC__)
    const bool well = hipHostMalloc(&at_, bytes, hipHostMallocMapped | hipHostMallocCoherent) == hipSuccess;
#else
    const bool well = cudaHostAlloc(&at_, bytes, cudaHostAllocMapped | cudaHostAllocPortable) == cudaSuccess;
#endif
    if (!well) at_ = nullptr;
    bytes_ = well ? bytes : 0;
    return at_;
  }
  /// `frees`: else it is gone already, or will be.
  void release(bool frees = true) {
#if defined(__HIPCC__) && !defined(__CUDACC__)
    if (frees && at_ != nullptr) (void)hipHostFree(at_);
#else
    if (frees && at_ != nullptr) (void)cudaFreeHost(at_);
#endif
    at_ = nullptr;
    bytes_ = 0;
  }

 private:
  void *at_ = nullptr;
  uint64_t bytes_ = 0;
};

/// Where the device sees what was pinned.
template <typename T>
T *on_device(T *pinned) {
  void *seen = nullptr;
  return CAIRN_RT(HostGetDevicePointer)(&seen, pinned, 0) == CAIRN_RT(Success) ? static_cast<T *>(seen) : pinned;
}

}  // namespace cairn::gpu
