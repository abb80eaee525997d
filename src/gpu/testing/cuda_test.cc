// What stands in for CUDA's headers, function by function, against what CUDA's manuals say.
#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>
#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_profiler_api.h>
#include <gtest/gtest.h>
#include <math_constants.h>

#include <cuda/atomic>
#include <cuda/std/atomic>
#include <vector>

namespace {

namespace cg = cooperative_groups;
using cairn::emulator::launch;

TEST(Cuda, VectorTypesAreAlignedAsOnTheDevice) {
  EXPECT_EQ(sizeof(uchar4) + alignof(uchar4), 8);
  EXPECT_EQ(sizeof(uchar3) + alignof(uchar3), 4);
  EXPECT_EQ(sizeof(short4) + alignof(short4), 16);
  EXPECT_EQ(sizeof(float3) + alignof(float3), 16);
  EXPECT_EQ(sizeof(double4) + alignof(double4), 48);
  EXPECT_EQ(make_uchar4(1, 2, 3, 250).w, 250);
  const uint3 place = make_uint3(3, 4, 5);
  const dim3 size = place;
  EXPECT_EQ(size.x + size.y + size.z, 12);
}

TEST(Cuda, BitsAndIntegers) {
  EXPECT_EQ(__brev(0x80000001u), 0x80000001u);
  EXPECT_EQ(__brev(6), 0x60000000u);
  EXPECT_EQ(__byte_perm(0x33221100, 0x77665544, 0x7410), 0x77441100u);
  EXPECT_EQ(__byte_perm(0x33228000, 0, 0x0089), 0x000000ffu);
  EXPECT_EQ(__funnelshift_l(0x80000000, 1, 1), 3u);
  EXPECT_EQ(__funnelshift_r(0x80000000, 1, 31), 3u);
  EXPECT_EQ(__mul24(-3, 5), -15);
  EXPECT_EQ(__umulhi(0x80000000u, 6), 3u);
  EXPECT_EQ(__mulhi(-1, 1), -1);
  EXPECT_EQ(__umul64hi(uint64_t{1} << 63, 6), 3u);
  EXPECT_EQ(__dp4a(0x01ff02fe, 0x01010101, 10), 1 - 1 + 2 - 2 + 10);
  EXPECT_EQ(__dp4a(0x01ff02feu, 0x01010101u, 0u), 1u + 255 + 2 + 254);
  EXPECT_EQ(__usad(3, 5, 1), 3u);
  EXPECT_EQ(__hadd(-3, 2), -1);
  EXPECT_EQ(max(-1, 3u), 0xffffffffu);
  EXPECT_EQ(min(2.5f, 2.0), 2.0);
}

TEST(Cuda, Conversions) {
  EXPECT_EQ(__float2int_rn(2.5f), 2);
  EXPECT_EQ(__float2int_rz(-2.7f), -2);
  EXPECT_EQ(__float2int_rd(-2.2f), -3);
  EXPECT_EQ(__double2uint_ru(2.2), 3u);
  EXPECT_EQ(__float2uint_rn(-7.0f), 0u);
  EXPECT_EQ(__float2int_rn(1e20f), 2147483647);
  EXPECT_EQ(__float2int_rn(CUDART_NAN_F), 0);
  EXPECT_EQ(__hiloint2double(__double2hiint(-0.3), __double2loint(-0.3)), -0.3);
  EXPECT_EQ(__uint_as_float(__float_as_uint(1.5f)), 1.5f);
  EXPECT_EQ(__saturatef(-1.0f) + __saturatef(7.0f), 1.0f);
  EXPECT_EQ(__fdividef(6.0f, 4.0f), 1.5f);
}

TEST(Cuda, SmallFloatsRoundToEven) {
  EXPECT_EQ(__half_as_ushort(__float2half(1.0f)), 0x3c00);
  EXPECT_EQ(__half_as_ushort(__float2half(-65504.0f)), 0xfbff);
  EXPECT_EQ(__half_as_ushort(__float2half(65520.0f)), 0x7c00);
  EXPECT_EQ(__half_as_ushort(__float2half(65519.0f)), 0x7bff);
  EXPECT_EQ(__half_as_ushort(__float2half(5.9604645e-8f)), 1);
  EXPECT_EQ(__half_as_ushort(__float2half(1.0f + 0x1p-11f)), 0x3c00);
  EXPECT_EQ(__half_as_ushort(__float2half(1.0f + 0x3p-11f)), 0x3c02);
  for (unsigned bits = 0; bits < 0x7c00; ++bits) {  // all that are not negative, infinite or none
    ASSERT_EQ(__half_as_ushort(__float2half(__half2float(__ushort_as_half(static_cast<uint16_t>(bits))))), bits);
  }
  EXPECT_EQ(__bfloat16_as_ushort(__float2bfloat16(1.0f + 0x1p-8f)), 0x3f80);
  EXPECT_EQ(__bfloat16_as_ushort(__float2bfloat16(1.0f + 0x3p-8f)), 0x3f82);
  EXPECT_EQ(static_cast<float>(__nv_bfloat16(3) + __nv_bfloat16(0.5f)), 3.5f);
  EXPECT_EQ(__low2float(__hfma2(__float2half2_rn(2), __float2half2_rn(3), __float2half2_rn(1))), 7.0f);
}

TEST(Cuda, AtomicsOfEveryScope) {
  unsigned wrapped = 0;
  float sum = 0;
  cuda::atomic<int, cuda::thread_scope_device> counted = 0;
  int plain = 0;
  int most = -1;
  launch(dim3(2), dim3(50), [&] {
    atomicInc(&wrapped, 6);
    atomicAdd_block(&sum, 0.5f);
    ++counted;
    cuda::atomic_ref<int> reference(plain);
    reference.fetch_max(static_cast<int>(threadIdx.x), cuda::memory_order_relaxed);
    int expected = reference.load();
    while (!cuda::atomic_ref<int>(most).compare_exchange_weak(expected, std::max(expected, 7))) {
    }
  });
  EXPECT_EQ(wrapped, 100 % 7);
  EXPECT_EQ(sum, 50.0f);
  EXPECT_EQ(counted.load(), 100);
  EXPECT_EQ(plain, 49);
  EXPECT_GE(most, 7);
  cuda::std::atomic<unsigned> other(3);
  EXPECT_EQ(other.exchange(5) + other, 8u);
}

TEST(Cuda, WarpFunctionsTakeLargeValuesAndSegments) {
  launch(dim3(1), dim3(32), [] {
    const double4 mine{1.0 * threadIdx.x, 2, 3, 4.0 * threadIdx.x};
    EXPECT_EQ(__shfl_sync(~0u, mine, 9).w, 36);
    EXPECT_EQ(__shfl_xor_sync(~0u, threadIdx.x, 8, 8),
              threadIdx.x < 8 ? threadIdx.x : threadIdx.x ^ (threadIdx.x / 8 % 2 == 0 ? 0 : 8));
    EXPECT_EQ(__reduce_max_sync(~0u, static_cast<int>(threadIdx.x) - 40), -9);
    EXPECT_EQ(__reduce_xor_sync(~0u, 1u << threadIdx.x), ~0u);
    int all = 1;
    EXPECT_EQ(__match_all_sync(~0u, threadIdx.x, &all), 0);
    EXPECT_EQ(all, 0);
  });
}

TEST(Cuda, InlinePtxThatIsKnown) {
  using cairn::emulator::outputs;
  using cairn::emulator::ptx;
  int value = 41;
  launch(dim3(1), dim3(64), [&] {
    unsigned lane = 0;
    unsigned warp = 0;
    unsigned mask = 0;
    ptx("mov.u32 %0, %%laneid;", outputs(lane));
    ptx("mov.u32 %0, %warpid;", outputs(warp));
    ptx("{ mov.u32 %0, %%lanemask_lt; }", outputs(mask));
    EXPECT_EQ(lane + 32 * warp, threadIdx.x);
    EXPECT_EQ(mask, (1u << lane) - 1);
    int seen = 0;
    ptx("ld.acquire.gpu.global.s32 %0, [%1];", outputs(seen), &value);
    EXPECT_EQ(seen, 41);
    ptx("membar.gl; bar.sync 0;", outputs());
    ptx("st.global.cg.s32 [%0], %1;", outputs(), &value, 7);
  });
  EXPECT_EQ(value, 7);
  EXPECT_DEATH(launch(dim3(1), dim3(1), [] { ptx("wgmma.fence.sync.aligned;", outputs()); }),
               "emulator: inline PTX that is not known here: wgmma");
}

TEST(Cuda, TilesOfSeveralWarpsAndPartsOfOne) {
  launch(dim3(2), dim3(256), [] {
    __shared__ cg::block_tile_memory<256> memory;
    const cg::thread_block block = cg::this_thread_block(memory);
    const auto tile = cg::tiled_partition<64>(block);
    EXPECT_EQ(tile.meta_group_size(), 4);
    EXPECT_EQ(tile.meta_group_rank(), threadIdx.x / 64);
    const unsigned first = threadIdx.x / 64 * 64;
    EXPECT_EQ(cg::reduce(tile, threadIdx.x, cg::plus<unsigned>()), 64 * first + 64 * 63 / 2);
    EXPECT_EQ(cg::reduce(tile, threadIdx.x, cg::greater<unsigned>()), first + 63);
    const auto warp = cg::tiled_partition<32>(block);
    EXPECT_EQ(cg::inclusive_scan(warp, 1u), warp.thread_rank() + 1);
    EXPECT_EQ(cg::exclusive_scan(warp, 2, cg::plus<int>()), 2 * static_cast<int>(warp.thread_rank()));
    const auto odd = cg::binary_partition(warp, threadIdx.x % 4 == 1);
    EXPECT_EQ(odd.size(), threadIdx.x % 4 == 1 ? 8 : 24);
    const auto labelled = cg::labeled_partition(warp, static_cast<int>(threadIdx.x % 3));
    EXPECT_EQ(cg::reduce(labelled, threadIdx.x % 3, cg::plus<unsigned>()), labelled.size() * (threadIdx.x % 3));
    EXPECT_EQ(labelled.meta_group_size(), 3);
    const cg::thread_group any = cg::tiled_partition(block, 16);
    EXPECT_EQ(any.size(), 16);
    EXPECT_EQ(any.thread_rank(), threadIdx.x % 16);
    any.sync();
    const cg::thread_group whole = block;
    EXPECT_EQ(whole.size(), 256);
    whole.sync();
  });
}

TEST(Cuda, TexturesAreRead) {
  std::vector<float> texels(12);
  for (int i = 0; i < 12; ++i) texels[static_cast<size_t>(i)] = static_cast<float>(i * i);
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  ASSERT_EQ(cudaMallocArray(&array, &format, 4, 3), cudaSuccess);
  cudaMemcpy2DToArray(array, 0, 0, texels.data(), 16, 16, 3, cudaMemcpyHostToDevice);
  cudaResourceDesc what{};
  what.resType = cudaResourceTypeArray;
  what.res.array.array = array;
  cudaTextureDesc how{};
  for (auto &mode : how.addressMode) mode = cudaAddressModeClamp;
  cudaTextureObject_t points = 0;
  ASSERT_EQ(cudaCreateTextureObject(&points, &what, &how, nullptr), cudaSuccess);
  EXPECT_EQ(tex2D<float>(points, 2.9f, 1.0f), 36);
  EXPECT_EQ(tex2D<float>(points, -3, 9), 64);
  how.filterMode = cudaFilterModeLinear;
  cudaTextureObject_t linear = 0;
  ASSERT_EQ(cudaCreateTextureObject(&linear, &what, &how, nullptr), cudaSuccess);
  EXPECT_EQ(tex2D<float>(linear, 1.5f, 0.5f), 1);
  EXPECT_EQ(tex2D<float>(linear, 2.0f, 0.5f), 2.5f);
  EXPECT_EQ(tex2D<float>(linear, 1.5f, 1.0f), (1 + 25) / 2.0f);
  how.normalizedCoords = 1;
  how.filterMode = cudaFilterModePoint;
  how.addressMode[0] = cudaAddressModeWrap;
  how.addressMode[1] = cudaAddressModeMirror;
  cudaTextureObject_t turned = 0;
  ASSERT_EQ(cudaCreateTextureObject(&turned, &what, &how, nullptr), cudaSuccess);
  EXPECT_EQ(tex2D<float>(turned, 1.3f, 0), 1);
  EXPECT_EQ(tex2D<float>(turned, 0, 1.1f), 64);
  std::vector<uchar4> bytes = {{0, 51, 255, 1}, {9, 8, 7, 6}};
  what.resType = cudaResourceTypeLinear;
  what.res.linear = {bytes.data(), cudaCreateChannelDesc<uchar4>(), 8};
  how = {};
  cudaTextureObject_t fetched = 0;
  ASSERT_EQ(cudaCreateTextureObject(&fetched, &what, &how, nullptr), cudaSuccess);
  EXPECT_EQ(tex1Dfetch<uchar4>(fetched, 1).z, 7);
  how.readMode = cudaReadModeNormalizedFloat;
  cudaTextureObject_t normalized = 0;
  ASSERT_EQ(cudaCreateTextureObject(&normalized, &what, &how, nullptr), cudaSuccess);
  EXPECT_EQ(tex1Dfetch<float4>(normalized, 0).y, 0.2f);
  for (const cudaTextureObject_t each : {points, linear, turned, fetched, normalized}) cudaDestroyTextureObject(each);
  cudaFreeArray(array);
}

__constant__ int table[4];

TEST(Cuda, MemoryIsCopied) {
  const int values[] = {5, 6};
  cudaMemcpyToSymbol(table, values, 8, 4);
  int back[4];
  cudaMemcpyFromSymbol(back, table, sizeof back);
  EXPECT_EQ(back[1] * 10 + back[2], 56);
  int *at = nullptr;
  cudaGetSymbolAddress(&at, table);
  EXPECT_EQ(at[2], 6);
  char *pitched = nullptr;
  size_t pitch = 0;
  ASSERT_EQ(cudaMallocPitch(&pitched, &pitch, 5, 3), cudaSuccess);
  EXPECT_GE(pitch, 5);
  cudaMemcpy2D(pitched, pitch, "abcdefghi", 3, 3, 3, cudaMemcpyHostToDevice);
  EXPECT_EQ(pitched[2 * pitch + 1], 'h');
  EXPECT_EQ(reinterpret_cast<uintptr_t>(pitched) % 256, 0);
  cudaFree(pitched);
  int *managed = nullptr;
  ASSERT_EQ(cudaMallocManaged(&managed, 64), cudaSuccess);
  launch(dim3(1), dim3(16), [&] { managed[threadIdx.x] = static_cast<int>(threadIdx.x); });
  EXPECT_EQ(managed[15], 15);
  cudaFree(managed);
}

TEST(Cuda, DevicesAndErrors) {
  cudaDeviceProp all;
  ASSERT_EQ(cudaGetDeviceProperties(&all, 0), cudaSuccess);
  EXPECT_EQ(all.major * 10 + all.minor, 90);
  EXPECT_EQ(all.maxThreadsPerMultiProcessor, 2048);
  int value = 0;
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 0), cudaSuccess);
  EXPECT_EQ(value, 9);
  EXPECT_EQ(cudaSetDevice(77), cudaErrorInvalidDevice);
  EXPECT_STREQ(cudaGetErrorName(cudaGetLastError()), "cudaErrorInvalidDevice");
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaProfilerStart(), cudaSuccess);
  cudaEvent_t from = nullptr;
  cudaEvent_t to = nullptr;
  cudaEventCreate(&from);
  cudaEventCreate(&to);
  cudaEventRecord(from);
  launch(dim3(1), dim3(32), [] { __syncwarp(); });
  cudaEventRecord(to);
  float ms = 0;
  cudaEventElapsedTime(&ms, from, to);
  EXPECT_GT(ms, 0);
  cudaEventDestroy(from);
  cudaEventDestroy(to);
  int called = 0;
  cudaLaunchHostFunc(
      nullptr, [](void *with) { ++*static_cast<int *>(with); }, &called);
  EXPECT_EQ(called, 1);
}

TEST(Cuda, ProductsOfMatrices) {
  cublasHandle_t handle = nullptr;
  ASSERT_EQ(cublasCreate(&handle), CUBLAS_STATUS_SUCCESS);
  const float a[] = {1, 2, 3, 4, 5, 6};  // 2 x 3 by columns
  const float b[] = {1, 0, 2, 0, 1, 1};  // 3 x 2
  float c[] = {1, 1, 1, 1};
  const float one = 1;
  const float two = 2;
  EXPECT_EQ(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 3, &one, a, 2, b, 3, &two, c, 2),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(std::vector<float>(c, c + 4), (std::vector<float>{1 + 10 + 2, 2 + 12 + 2, 3 + 5 + 2, 4 + 6 + 2}));
  cublasDestroy(handle);
}

}  // namespace
