// Runs a program's main several times in one process and tells, of each time, what the program's own kernels took on
// the GPU and what Cairn's own kernels took beside them. The program is compiled with -Dmain=program_main and linked with
// -Xlinker --wrap=__cudaLaunchKernel; so the same measure serves what is traced and what is not.
//   REPEAT=5 program WORDS...     a line of JSON on stderr for each time, and one for the device's memory
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

extern int program_main(int argc, char **argv);
extern "C" cudaError_t __real___cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                                                 size_t shared, cudaStream_t stream);

namespace {

struct Timed {
  cudaEvent_t begin;
  cudaEvent_t end;
  bool gathers;
};
std::vector<Timed> launches;
std::vector<cudaEvent_t> spare;

cudaEvent_t an_event() {
  cudaEvent_t event = nullptr;
  if (spare.empty()) {
    cudaEventCreate(&event);
  } else {
    event = spare.back();
    spare.pop_back();
  }
  return event;
}

}  // namespace

extern "C" cudaError_t __wrap___cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                                                 size_t shared, cudaStream_t stream) {
  const char *name = "";
  cudaFuncGetName(&name, reinterpret_cast<const void *>(kernel));
  const Timed timed{an_event(), an_event(), std::strstr(name, "cairn_") != nullptr};
  cudaEventRecord(timed.begin, stream);
  const cudaError_t result = __real___cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
  cudaEventRecord(timed.end, stream);
  launches.push_back(timed);
  return result;
}

int main(int argc, char **argv) {
  cudaFree(nullptr);
  const char *said = std::getenv("REPEAT");
  const int repeat = said == nullptr ? 1 : std::atoi(said);
  size_t before = 0;
  size_t after = 0;
  size_t all = 0;
  cudaMemGetInfo(&before, &all);
  int code = 0;
  for (int i = 0; i < repeat; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    code |= program_main(argc, argv);
    cudaDeviceSynchronize();
    const std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - begin;
    double kernels = 0;
    double gathering = 0;
    unsigned count = 0;
    for (const Timed &timed : launches) {
      float ms = 0;
      cudaEventElapsedTime(&ms, timed.begin, timed.end);
      (timed.gathers ? gathering : kernels) += ms;
      count += timed.gathers ? 0 : 1;
      spare.push_back(timed.begin);
      spare.push_back(timed.end);
    }
    launches.clear();
    std::fprintf(stderr, "{\"wall_ms\": %.4f, \"kernel_ms\": %.4f, \"gather_ms\": %.4f, \"launches\": %u}\n",
                 wall.count(), kernels, gathering, count);
  }
  cudaMemGetInfo(&after, &all);
  std::fprintf(stderr, "{\"device_mb\": %.1f, \"error\": \"%s\"}\n",
               (static_cast<double>(before) - static_cast<double>(after)) / 1048576,
               cudaGetErrorString(cudaGetLastError()));
  return code;
}
