// äö line ends of another system
#include <cuda_runtime.h>

__global__ void kern(int *p) {
  if (p[0])
    p[1] = 1;
  else // €
    p[2] = p[3] ? 1 : 2;
}

int main() {
  kern<<<1,
       32>>>((int *)0);
}