// HIP, by its file's name.
#include <hip/hip_runtime.h>
__global__ void k(unsigned long long *p) {
  if (p[1]) p[0] = __ballot(1);
}
int main() {
  unsigned long long *p = nullptr;
  if (hipMalloc(&p, 16) != hipSuccess) return 1;
  k<<<1, 64>>>(p);
}
