// Ways to name the calls that become ours (gpu/calls.h), called and not: a program that does it is to compile, and to
// get what it would get untraced. It ends with 1 if something is wrong, and says what.
#include <cuda_runtime.h>
#include <stdio.h>

__global__ void count(int *to) {
  if (threadIdx.x % 2 == 0) atomicAdd(to, 1);
}

using Malloc = cudaError_t (*)(void **, size_t);

static int wrong = 0;
static void expect(bool right, const char *what) {
  if (!right) printf("%s\n", what);
  if (!right) wrong = 1;
}
#define RIGHT(...) expect((__VA_ARGS__) == cudaSuccess, #__VA_ARGS__)
#define NAMED(name, ...) RIGHT(cuda##name(__VA_ARGS__))
#define GIVEN(function, ...) RIGHT(function(__VA_ARGS__))

// Functions of the program's own, and members; one is named where nothing is called, as Thrust does it.
namespace own {
inline cudaError_t cudaMallocManaged(void **at, size_t size) { return ::cudaMallocManaged(at, size, 1); }
template <Malloc Function>
cudaError_t resource(void **at) {
  return Function(at, 8);
}
inline int cudaMalloc(int of) { return of + 1; }
struct Allocator {
  cudaError_t cudaMalloc(void **at, size_t size) { return ::cudaMalloc(at, size); }
  cudaError_t twice(void **at, size_t size) { return this->cudaMalloc(at, 2 * size); }
  cudaError_t once(void **at, size_t size) { return cudaMalloc(at, size); }
};
struct Table {
  Malloc cudaMalloc;
  cudaError_t (*cudaDeviceReset)();
};
}  // namespace own
namespace taken {
using ::cudaDeviceReset;
using ::cudaMalloc;
}  // namespace taken

struct Place {
  void *at;
  operator void **() { return &at; }  // NOLINT
};
template <typename T>
T *array(size_t size) {
  T *at = nullptr;
  RIGHT(cudaMalloc(&at, size * sizeof(T)));
  return at;
}
template <typename Function>
cudaError_t called(Function function, void **at) {
  return function(at, 8);
}

int main() {
  void *any = nullptr;
  int *ints = nullptr;
  const float *floats = nullptr;
  int(*rows)[8] = nullptr;
  Place place = {};
  RIGHT(cudaMalloc(&ints, 8));
  RIGHT(cudaMalloc((void **)&floats, 8));  // NOLINT
  RIGHT(cudaMalloc(&rows, 64));
  RIGHT(cudaMalloc(place, 8));
  RIGHT(::cudaMalloc(&any, 8));
  RIGHT(taken::cudaMalloc(&any, 8));
  NAMED(Malloc, &any, 8);
  GIVEN(cudaMalloc, &any, 8);
  expect(cudaMalloc(nullptr, 8) == cudaErrorInvalidValue, "memory at no place");
  (void)cudaGetLastError();
  expect(array<double>(4) != nullptr, "an array");
  size_t pitch = 0;
  RIGHT(cudaMallocPitch(&ints, &pitch, 8, 2));
  RIGHT(cudaMallocManaged(&ints, 8));
  RIGHT(cudaMallocAsync(&ints, 8, 0));  // a name that may be a macro already

  own::Allocator allocator;
  RIGHT(allocator.cudaMalloc(&any, 8));
  RIGHT(allocator.twice(&any, 8));
  RIGHT(allocator.once(&any, 8));
  RIGHT(own::resource<own::cudaMallocManaged>(&any));
  expect(own::cudaMalloc(1) == 2, "a function of the program");

  // The memory that tracing has taken is the program's through a pointer as well.
  RIGHT(cudaMalloc(&ints, sizeof *ints));
  int blocks = 0;
  count<<<++blocks, 32>>>(ints);  // whose configuration has names of ours in front of the program, where it is traced
  expect(blocks == 1, "a configuration that is evaluated twice");
  RIGHT(cudaDeviceSynchronize());
  const own::Table table = {(Malloc)cudaMalloc, (cudaError_t(*)())cudaDeviceReset};  // NOLINT
  RIGHT(table.cudaMalloc(&any, 56 << 20));
  RIGHT(called(table.cudaMalloc, &any));
  RIGHT(table.cudaDeviceReset());
  RIGHT(taken::cudaDeviceReset());
  return wrong;
}
