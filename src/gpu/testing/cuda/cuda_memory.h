// CUDA's memory, for the emulator: the host's, whatever the device and however it was asked for; of a device's own
// there is as much as CAIRN_EMULATOR_MEMORY says. Copies are made when they are asked for, on any stream, unless it is
// captured.
#pragma once

#include <cstdlib>
#include <cstring>

#include "cuda_calls.h"
#include "vector_types.h"

struct cudaExtent {
  size_t width, height, depth;
};
struct cudaPos {
  size_t x, y, z;
};
struct cudaPitchedPtr {
  void *ptr;
  size_t pitch, xsize, ysize;
};
inline cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) { return {width, height, depth}; }
inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return {x, y, z}; }
inline cudaPitchedPtr make_cudaPitchedPtr(void *at, size_t pitch, size_t width, size_t height) {
  return {at, pitch, width, height};
}

inline cudaError_t cairn_allocate(void **at, size_t size, cairn::emulator::Kind kind) {
  if (const cudaError_t error = cairn_apart(); error != cudaSuccess) return error;
  if (at == nullptr) return cairn_failed(cudaErrorInvalidValue);
  *at = cairn::emulator::allocate(size, kind);
  return *at == nullptr ? cairn_failed(cudaErrorMemoryAllocation) : cudaSuccess;
}
template <typename T>
cudaError_t cudaMalloc(T **at, size_t size) {
  return cairn_allocate(reinterpret_cast<void **>(at), size, cairn::emulator::Kind::memory);
}
template <typename T>
cudaError_t cudaMallocManaged(T **at, size_t size, unsigned = 0) {
  return cairn_allocate(reinterpret_cast<void **>(at), size, cairn::emulator::Kind::host);
}
template <typename T>
cudaError_t cudaMallocHost(T **at, size_t size, unsigned = 0) {
  return cudaMallocManaged(at, size);
}
template <typename T>
cudaError_t cudaHostAlloc(T **at, size_t size, unsigned) {
  return cudaMallocManaged(at, size);
}
template <typename T>
cudaError_t cudaMallocAsync(T **at, size_t size, cudaStream_t stream) {
  if (const cudaError_t error = cairn_known(stream); error != cudaSuccess) return error;
  return cairn_allocate(reinterpret_cast<void **>(at), size, cairn::emulator::Kind::ordered);
}
template <typename T>
cudaError_t cudaMallocPitch(T **at, size_t *pitch, size_t width, size_t height) {
  constexpr size_t kPitch = 512;
  *pitch = (width + kPitch - 1) / kPitch * kPitch;
  return cudaMalloc(at, *pitch * height);
}
inline cudaError_t cudaMalloc3D(cudaPitchedPtr *at, cudaExtent extent) {
  *at = {nullptr, 0, extent.width, extent.height};
  return cudaMallocPitch(&at->ptr, &at->pitch, extent.width, extent.height * extent.depth);
}
inline cudaError_t cudaFree(void *at) {
  if (const cudaError_t error = cairn_apart(); error != cudaSuccess) return error;
  return at == nullptr || cairn::emulator::release(at) ? cudaSuccess : cairn_failed(cudaErrorInvalidValue);
}
inline cudaError_t cudaFreeHost(void *at) { return cudaFree(at); }
inline cudaError_t cudaFreeAsync(void *at, cudaStream_t) { return cudaFree(at); }
inline cudaError_t cudaHostRegister(void *, size_t, unsigned) { return cudaSuccess; }
inline cudaError_t cudaHostUnregister(void *) { return cudaSuccess; }
template <typename T>
cudaError_t cudaHostGetDevicePointer(T **device, void *host, unsigned) {
  *device = static_cast<T *>(host);
  return cudaSuccess;
}
inline cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *of, const void *at) {
  *of = {2, 0, const_cast<void *>(at), const_cast<void *>(at)};
  return cudaSuccess;
}
inline cudaError_t cudaMemGetInfo(size_t *free, size_t *total) {
  const cairn::emulator::DeviceMemory memory = cairn::emulator::device_memory();
  *free = memory.left;
  *total = memory.all;
  return cairn_apart();
}
template <typename... Rest>
cudaError_t cudaMemPrefetchAsync(const void *, size_t, Rest...) {
  return cudaSuccess;
}
template <typename... Rest>
cudaError_t cudaMemAdvise(const void *, size_t, Rest...) {
  return cudaSuccess;
}
inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void *, size_t = 0, unsigned = cudaMemAttachSingle) {
  return cudaSuccess;
}

inline cudaError_t cudaMemcpy(void *to, const void *from, size_t size, cudaMemcpyKind = cudaMemcpyDefault) {
  if (const cudaError_t error = cairn_apart(); error != cudaSuccess) return error;
  std::memmove(to, from, size);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, cudaMemcpyKind = cudaMemcpyDefault,
                                   cudaStream_t stream = nullptr) {
  return cairn_on(stream, [=] { std::memmove(to, from, size); });
}
inline cudaError_t cudaMemcpyPeer(void *to, int, const void *from, int, size_t size) {
  return cudaMemcpy(to, from, size);
}
inline cudaError_t cudaMemcpyPeerAsync(void *to, int, const void *from, int, size_t size, cudaStream_t = nullptr) {
  return cudaMemcpy(to, from, size);
}
inline cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                size_t height, cudaMemcpyKind) {
  if (const cudaError_t error = cairn_apart(); error != cudaSuccess) return error;
  for (size_t row = 0; row < height; ++row) {
    std::memmove(static_cast<char *>(to) + row * to_pitch, static_cast<const char *>(from) + row * from_pitch, width);
  }
  return cudaSuccess;
}
inline cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                     size_t height, cudaMemcpyKind kind, cudaStream_t stream = nullptr) {
  return cairn_on(stream, [=] { (void)cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind); });
}
inline cudaError_t cudaMemset(void *at, int value, size_t size) {
  if (const cudaError_t error = cairn_apart(); error != cudaSuccess) return error;
  std::memset(at, value, size);
  return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void *at, int value, size_t size, cudaStream_t stream = nullptr) {
  return cairn_on(stream, [=] { std::memset(at, value, size); });
}
inline cudaError_t cudaMemset2D(void *at, size_t pitch, int value, size_t width, size_t height) {
  for (size_t row = 0; row < height; ++row) std::memset(static_cast<char *>(at) + row * pitch, value, width);
  return cudaSuccess;
}

// Variables of the device by name.
template <typename T>
cudaError_t cudaMemcpyToSymbol(T &to, const void *from, size_t size, size_t offset = 0,
                               cudaMemcpyKind = cudaMemcpyHostToDevice) {
  std::memcpy(reinterpret_cast<char *>(const_cast<std::remove_cv_t<T> *>(&to)) + offset, from, size);
  return cudaSuccess;
}
template <typename T>
cudaError_t cudaMemcpyFromSymbol(void *to, const T &from, size_t size, size_t offset = 0,
                                 cudaMemcpyKind = cudaMemcpyDeviceToHost) {
  std::memcpy(to, reinterpret_cast<const char *>(const_cast<const std::remove_cv_t<T> *>(&from)) + offset, size);
  return cudaSuccess;
}
template <typename T>
cudaError_t cudaMemcpyToSymbolAsync(T &to, const void *from, size_t size, size_t offset = 0,
                                    cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t = nullptr) {
  return cudaMemcpyToSymbol(to, from, size, offset, kind);
}
template <typename T>
cudaError_t cudaMemcpyFromSymbolAsync(void *to, const T &from, size_t size, size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyDeviceToHost, cudaStream_t = nullptr) {
  return cudaMemcpyFromSymbol(to, from, size, offset, kind);
}
template <typename T, typename S>
cudaError_t cudaGetSymbolAddress(T **at, S &symbol) {
  *at = (T *)&symbol;  // NOLINT: of an array or of what is constant, too
  return cudaSuccess;
}
template <typename S>
cudaError_t cudaGetSymbolSize(size_t *size, const S &) {
  *size = sizeof(S);
  return cudaSuccess;
}
