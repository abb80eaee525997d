// A program to which things happen that a GPU may do to any: see faults_test.py. It says what it was told, so that it
// can be seen whether tracing changes that.
//
//   faults reset|trap|memory|graph|threads|full|some|wait|many
#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>

#include <thread>
#include <vector>

__global__ void count(int *to, int n) {
  for (int i = 0; i < n; ++i) {
    if (threadIdx.x % 2 == 0) atomicAdd(to, 1);
  }
}
__global__ void trap(int *to, unsigned at) {
  atomicAdd(to, 1);
  if (threadIdx.x == at) __trap();
}
/// Who goes in is other lanes each time.
__global__ void scatter(int *to, unsigned n) {
  for (unsigned i = 0; i < n; ++i) {
    if (((threadIdx.x + i * 64) * 2654435761u >> 20) % 2 == 0) atomicAdd(to, 1);
  }
}
__global__ void spin(volatile int *until) {
  while (*until == 0)
    ;
}

static void say(const char *what, cudaError_t error) { printf("%s: %s\n", what, cudaGetErrorName(error)); }
#define CHECK(call) say(#call, call)

/// Counts on the device, and says what came of it.
static void count_some(int n, cudaStream_t stream = nullptr) {
  int *sum = nullptr, result = -1;
  CHECK(cudaMalloc(&sum, sizeof *sum));
  CHECK(cudaMemsetAsync(sum, 0, sizeof *sum, stream));
  count<<<2, 64, 0, stream>>>(sum, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpyAsync(&result, sum, sizeof *sum, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  printf("%d\n", result);
  CHECK(cudaFree(sum));
}

static void reset() {
  CHECK(cudaDeviceReset());  // before anything was launched
  for (int round = 0; round < 3; ++round) {
    cudaStream_t stream = nullptr;
    CHECK(cudaStreamCreate(&stream));
    for (int i = 1; i < 4; ++i) count_some(i, stream);
    CHECK(cudaDeviceReset());
  }
  int devices = 0;
  CHECK(cudaGetDeviceCount(&devices));
  for (int device = devices - 1; device >= 0; --device) {
    CHECK(cudaSetDevice(device));
    count_some(5);
  }
  CHECK(cudaDeviceReset());  // of the first; the others go on
  CHECK(cudaSetDevice(devices - 1));
  count_some(6);
}

static void trap_and_go_on() {
  count_some(1);
  int *sum = nullptr;
  CHECK(cudaMallocManaged(&sum, sizeof *sum));
  trap<<<2, 64>>>(sum, 40);
  CHECK(cudaDeviceSynchronize());
  count<<<1, 32>>>(sum, 1);  // the device fails
  CHECK(cudaGetLastError());
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceReset());
  count_some(2);
}

static void use_all_memory() {
  count_some(3);
  constexpr size_t kPiece = 1 << 20;
  std::vector<char *> pieces(1);
  while (cudaMalloc(&pieces.back(), kPiece) == cudaSuccess) {
    if (cudaMemset(pieces.back(), 1, kPiece) != cudaSuccess) break;
    pieces.push_back(nullptr);
  }
  printf("%zu pieces\n", pieces.size() - 1);
  CHECK(cudaGetLastError());
  CHECK(cudaGetLastError());
  CHECK(cudaFree(pieces.front()));
  count_some(4);  // a launch when there is little
  char *more = nullptr;
  size_t pitch = 0;
  CHECK(cudaMallocPitch(&more, &pitch, 1000, 1000));
  CHECK(cudaMallocAsync(&more, kPiece / 2, 0));
  for (size_t i = 1; i + 1 < pieces.size(); ++i) cudaFree(pieces[i]);
  for (int i = 0; i < 4; ++i) count_some(5);
}

static void capture() {
  cudaStream_t stream = nullptr, other = nullptr;
  cudaEvent_t event = nullptr;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  CHECK(cudaEventCreate(&event));
  int *sum = nullptr;
  CHECK(cudaMallocManaged(&sum, sizeof *sum));
  *sum = 0;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t made = nullptr;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  count<<<1, 32, 0, other>>>(sum, 10);  // is part of no graph: the first launch, in the midst of a capture
  CHECK(cudaGetLastError());
  count<<<1, 32, 0, stream>>>(sum, 1);
  CHECK(cudaGetLastError());
  CHECK(cudaEventRecord(event, stream));
  CHECK(cudaStreamEndCapture(stream, &graph));
  printf("%d\n", *sum);
  CHECK(cudaGraphInstantiate(&made, graph, 0));
  for (int i = 0; i < 3; ++i) CHECK(cudaGraphLaunch(made, stream));
  CHECK(cudaStreamSynchronize(stream));
  printf("%d\n", *sum);
  CHECK(cudaGraphExecDestroy(made));
  CHECK(cudaGraphDestroy(graph));
  count_some(2, stream);
}

/// One thread captures while another launches, and what was launched is fetched meanwhile.
static void capture_beside() {
  cudaStream_t stream = nullptr;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  int *sum = nullptr;
  CHECK(cudaMallocManaged(&sum, 2 * sizeof *sum));
  memset(sum, 0, 2 * sizeof *sum);
  for (int i = 0; i < 20; ++i) count<<<1, 32>>>(sum, 1);
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  std::thread([sum] {
    for (int i = 0; i < 40; ++i) count<<<1, 32>>>(sum, 1);
    CHECK(cudaGetLastError());
  }).join();
  count<<<1, 32, 0, stream>>>(sum + 1, 1);
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaDeviceSynchronize());
  printf("%d %d\n", sum[0], sum[1]);
}

static void much() {
  int *sum = nullptr;
  CHECK(cudaMallocManaged(&sum, sizeof *sum));
  *sum = 0;
  scatter<<<2, 64>>>(sum, 8000);
  CHECK(cudaDeviceSynchronize());
  printf("%d\n", *sum);
}

static void some() {
  for (int i = 1; i < 4; ++i) count_some(i);
}

/// The same, and then a launch that never ends, once somebody says so.
static void wait() {
  int *until = nullptr;
  cudaMallocManaged(&until, sizeof *until);
  some();
  printf("waits\n");
  fflush(stdout);
  (void)getchar();
  spin<<<1, 32>>>(until);
}

static void many() {
  for (int i = 0; i < 60; ++i) count_some(i % 4);
}

int main(int argc, char **argv) {
  const char *what = argc < 2 ? "" : argv[1];
  if (strcmp(what, "reset") == 0) reset();
  if (strcmp(what, "trap") == 0) trap_and_go_on();
  if (strcmp(what, "memory") == 0) use_all_memory();
  if (strcmp(what, "graph") == 0) capture();
  if (strcmp(what, "threads") == 0) capture_beside();
  if (strcmp(what, "full") == 0) much();
  if (strcmp(what, "some") == 0) some();
  if (strcmp(what, "wait") == 0) wait();
  if (strcmp(what, "many") == 0) many();
}
