// What goes wrong on devices: their memory runs out, kernels trap, devices are reset; and what becomes of streams that
// are captured into graphs. As CUDA's manuals say it.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace {

using cairn::emulator::launch_at;

const bool is_said = setenv("CAIRN_EMULATOR_MEMORY", "1M", 1) == 0;
constexpr size_t kMost = size_t{1} << 20;

class Devices : public ::testing::Test {
 protected:
  Devices() {
    cudaDeviceReset();
    (void)cudaGetLastError();
  }
};

void add(int *to, int what) { atomicAdd(to, what); }
void trap_at(int *to, unsigned thread) {
  if (threadIdx.x + blockIdx.x * blockDim.x == thread) __trap();
  __syncthreads();
  atomicAdd(to, 1);
}

TEST_F(Devices, HaveAsMuchMemoryAsWasSaid) {
  ASSERT_TRUE(is_said);
  size_t left = 0;
  size_t all = 0;
  ASSERT_EQ(cudaMemGetInfo(&left, &all), cudaSuccess);
  EXPECT_EQ(left, kMost);
  EXPECT_EQ(all, kMost);
  char *first = nullptr;
  char *second = nullptr;
  ASSERT_EQ(cudaMalloc(&first, 600'000), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&second, 600'000), cudaErrorMemoryAllocation);
  EXPECT_EQ(second, nullptr);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaHostAlloc(&second, 600'000, cudaHostAllocMapped), cudaSuccess);  // is the host's
  EXPECT_EQ(cudaFree(first), cudaSuccess);
  EXPECT_EQ(cudaMallocAsync(&first, 600'000, nullptr), cudaSuccess);
  EXPECT_EQ(cudaFree(first + 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(first), cudaSuccess);
}

TEST_F(Devices, AreBrokenByAKernelThatTrapsUntilTheyAreReset) {
  int *sum = nullptr;
  ASSERT_EQ(cudaMallocManaged(&sum, sizeof(int)), cudaSuccess);
  cudaEvent_t event = nullptr;
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  launch_at(3, 64, 0, stream).run([=] { trap_at(sum, 70); });
  EXPECT_EQ(*sum, 64);  // the block before it
  launch_at(1, 32, 0, stream).run([=] { add(sum, 1); });
  EXPECT_EQ(*sum, 64);
  char *more = nullptr;
  for (const cudaError_t each :
       {cudaDeviceSynchronize(), cudaStreamSynchronize(stream), cudaEventRecord(event, stream), cudaMalloc(&more, 8),
        cudaMemset(sum, 0, sizeof(int)), cudaPeekAtLastError(), cudaGetLastError(), cudaGetLastError()}) {
    EXPECT_EQ(each, cudaErrorLaunchFailure);
  }
  std::thread([] { EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure); }).join();
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  int result = 0;
  launch_at(1, 32, 0, nullptr).run([&] { add(&result, 2); });
  EXPECT_EQ(result, 64);
  delete event;  // nobody may destroy it any more, and the emulator keeps what it points to
}

TEST_F(Devices, TakeAllWithThemThatTheyGaveOut) {
  char *memory = nullptr;
  char *ordered = nullptr;
  cudaEvent_t event = nullptr;
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 8), cudaSuccess);
  ASSERT_EQ(cudaMallocAsync(&ordered, 8, nullptr), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  cudaDeviceReset();
  EXPECT_EQ(cudaFree(memory), cudaErrorInvalidValue);
  EXPECT_EQ(cudaEventSynchronize(event), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventRecord(event), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
  int sum = 0;
  launch_at(1, 1, 0, stream).run([&] { add(&sum, 1); });
  EXPECT_EQ(sum, 0);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaFreeAsync(ordered, nullptr), cudaSuccess);
  delete event;
}

TEST_F(Devices, ACapturedStreamDoesNothingUntilItsGraphIsLaunched) {
  cudaStream_t stream = nullptr;
  cudaStream_t other = nullptr;
  cudaEvent_t forked = nullptr;
  cudaEvent_t joined = nullptr;
  cudaStreamCreate(&stream);
  cudaStreamCreate(&other);
  cudaEventCreate(&forked);
  cudaEventCreate(&joined);
  int sum = 0;
  int *at = &sum;
  cudaStreamCaptureStatus status{};
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  for (int i = 1; i <= 2; ++i) CAIRN_EMULATOR_LAUNCH((add), (1), (32), (0), (stream), at, i);
  cudaEventRecord(forked, stream);
  cudaStreamWaitEvent(other, forked);
  EXPECT_EQ(cudaStreamIsCapturing(other, &status), cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  int more = 100;
  void *arguments[] = {&at, &more};
  cudaLaunchKernel(add, dim3(1), dim3(1), arguments, 0, other);
  more = 1000;
  cudaEventRecord(joined, other);
  cudaStreamWaitEvent(stream, joined);
  EXPECT_EQ(cudaEventQuery(joined), cudaErrorCapturedEvent);
  EXPECT_EQ(cudaStreamIsCapturing(nullptr, &status), cudaErrorStreamCaptureImplicit);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t made = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  EXPECT_EQ(sum, 0);
  EXPECT_EQ(cudaGraphInstantiate(&made, graph, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(made, stream), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(made, nullptr), cudaSuccess);
  EXPECT_EQ(sum, 2 * (32 * 3 + 100));
  EXPECT_EQ(cudaGraphExecDestroy(made), cudaSuccess);
  for (const cudaEvent_t event : {forked, joined}) EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
}

TEST_F(Devices, WhatMayNotBeDoneDuringACaptureSpoilsIt) {
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  cudaEvent_t event = nullptr;
  cudaEventCreate(&event);
  cudaGraph_t graph = nullptr;
  const auto spoilt = [&](cudaStreamCaptureMode mode, const auto &by) {
    EXPECT_EQ(cudaStreamBeginCapture(stream, mode), cudaSuccess);
    by();
    const cudaError_t error = cudaStreamEndCapture(stream, &graph);
    if (error == cudaSuccess) cudaGraphDestroy(graph);
    return error == cudaErrorStreamCaptureInvalidated;
  };
  const auto ask = [&] { (void)cudaEventQuery(event); };
  const auto elsewhere = [&] { std::thread(ask).join(); };
  const auto relaxed = [&] {
    std::thread([&] {
      cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
      cudaThreadExchangeStreamCaptureMode(&mode);
      EXPECT_EQ(mode, cudaStreamCaptureModeGlobal);
      ask();
    }).join();
  };
  EXPECT_TRUE(spoilt(cudaStreamCaptureModeGlobal, ask));
  EXPECT_TRUE(spoilt(cudaStreamCaptureModeGlobal, elsewhere));
  EXPECT_FALSE(spoilt(cudaStreamCaptureModeGlobal, relaxed));
  EXPECT_TRUE(spoilt(cudaStreamCaptureModeThreadLocal, ask));
  EXPECT_FALSE(spoilt(cudaStreamCaptureModeThreadLocal, elsewhere));
  EXPECT_FALSE(spoilt(cudaStreamCaptureModeRelaxed, ask));
  EXPECT_TRUE(spoilt(cudaStreamCaptureModeRelaxed, [] { (void)cudaMemsetAsync(nullptr, 0, 0, nullptr); }));
}

}  // namespace
