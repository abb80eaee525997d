// Launches, and other ways to start or name a kernel.
#include <cuda_runtime.h>
#define LAUNCH(kernel, n) kernel<<<n, 32>>>(n)
#define CHECKED(call) call; if (cudaGetLastError()) return 1
#define GRID 3

template <class T> __global__ void typed(T *p, int n) {}
template <class T, int N> __global__ void sized(T n) {}
__global__ void simple(int n) {}
__global__ void in_macro(int n) {}
__global__ void by_address(int n) {}
__global__ void by_runtime(int n) {}
__global__ void asked(int n) {}
constexpr unsigned up(unsigned a, unsigned b) { return (a + b - 1) / b; }
int count();
template <class F> void start(F f, int n) { f<<<1, n>>>(n); }

int main() {
  int n = 5, *p = 0;
  cudaStream_t stream = 0, streams[2] = {};
  dim3 grid(3, 2), block = 32;
  simple<<<1, 32>>>(n);
  simple<<<grid, block, 64, streams[1]>>>(n);
  simple<<<up(n, 32), dim3(32, 2)>>>(n);
  simple<<<GRID,  // blocks
           32 /* threads */>>>(n);
  simple <<< (n + 31) / 32, 32, 0, stream >>> ( n + 1 ) ;
  typed<int><<<1, 32>>>(p, n);
  typed<<<1, 32, n++>>>(p, n);
  sized<int, 4><<<n > 2 ? 1 : 2, 32>>>(n);
  simple<<<count(), 32>>>(n);
  simple<<<1, n += 1>>>(n);
  CHECKED((simple<<<1, 2>>>(n)));
  LAUNCH(in_macro, 3);
  void (*f)(int) = by_address;
  f<<<1, 2>>>(n);
  void *arguments[] = {&n};
  cudaLaunchKernel(by_runtime, dim3(1), dim3(2), arguments);
  cudaFuncSetAttribute(asked, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024);
  asked<<<1, 2>>>(n);
  if (n) for (int i = 0; i < n; i++) simple<<<1, i>>>(i);
}
