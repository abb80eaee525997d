// What kernels and their hosts need of CUDA's language and run-time library, for the emulator: this folder stands in
// front of the include path, and nvcc's `<<<>>>` has become CAIRN_EMULATOR_LAUNCH; the run-time library is in
// cuda_api.h, cooperative groups are in cooperative_groups.h. Without `cairn instrument`, which writes it, what is
// `extern __shared__ T name[]` for nvcc has to be `T *name = cairn::emulator::dynamic_array<T *>()`.
#pragma once
#define __CUDA_RUNTIME_H__  // programs ask by CUDA's name whether this is there

// CUDA programs are C++17 and may have a function of their own that C++20's library puts into the global namespace.
#if !defined(_GLIBCXX_CMATH)
#define lerp cairn_lerp_of_the_library
#include <math.h>

#include <cmath>
#undef lerp
#endif

// What nvcc includes by itself.
#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <type_traits>

#include "emulator.h"

#if !defined(CAIRN_GPU_EMULATOR)
#define CAIRN_GPU_EMULATOR
#endif
#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __shared__ thread_local  // in a function that is static, too
#define __forceinline__ inline
#define __inline_hint__
#define __noinline__  // libstdc++ has it as the name of an attribute, too
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __grid_constant__
#define CUDART_CB

#include "vector_types.h"

#define threadIdx (::cairn::emulator::place().thread)
#define blockIdx (::cairn::emulator::place().block)
#define blockDim (::cairn::emulator::place().block_dim)
#define gridDim (::cairn::emulator::place().grid_dim)
constexpr int warpSize = 32;

#include "atomic_functions.h"
#include "cuda_api.h"
#include "lane_functions.h"
#include "ptx_functions.h"
#include "texture_functions.h"
#include "warp_functions.h"

namespace cairn::emulator {

/// What `extern __shared__` names: as a reference to an array, or as a pointer.
template <typename T>
T dynamic_array() {
  if constexpr (std::is_reference_v<T>) {
    return reinterpret_cast<T>(*static_cast<char *>(dynamic_shared()));
  } else {
    return static_cast<T>(dynamic_shared());
  }
}

/// What a graph keeps of an argument: a copy, of what the kernel is passed where it says what that is.
template <typename T>
auto kept(T &argument) {
  if constexpr (requires { typename T::Passed; }) {
    return static_cast<typename T::Passed>(argument);
  } else {
    return argument;
  }
}

/// A launch whose arguments, evaluated once and after its configuration, are each thread's to copy.
struct LaunchAt {
  LaunchShape shape;
  cudaStream_t stream;
  template <typename Kernel, typename... Arguments>
  void run(Kernel kernel, Arguments &&...arguments) const {
    if (cairn_known(stream) != cudaSuccess) return;
    CaptureState state{};
    if (capture_state(stream, &state) == 0 && state == CaptureState::none) {
      return launch(shape, [&] { kernel(arguments...); });
    }
    auto copied = std::make_tuple(kept(arguments)...);
    (void)cairn_on(stream, [this_shape = shape, kernel, copied]() mutable {
      launch(this_shape, [&] { std::apply(kernel, copied); });
    });
  }
};
inline LaunchAt launch_at(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
  return {{grid, block, shared}, stream};
}

}  // namespace cairn::emulator

/// In loops of device code that has no points. Functions that are the host's as well do nothing there.
#define CAIRN_TURN() (::cairn::emulator::in_kernel() ? ::cairn::emulator::pause() : (void)0)
#define CAIRN_UNWRAPPED(...) __VA_ARGS__
#define CAIRN_EMULATOR_LAUNCH(kernel, grid, block, shared, stream, ...)                   \
  ::cairn::emulator::launch_at(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) \
      .run([=](auto &...cairn_argument) { CAIRN_UNWRAPPED kernel(cairn_argument...); } __VA_OPT__(, ) __VA_ARGS__)
