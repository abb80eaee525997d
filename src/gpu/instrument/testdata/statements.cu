// Every statement that decides, with and without braces.
#include <cuda_runtime.h>

__global__ void branches(int *p, int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n) p[i] = 1;
  if (i < n)  // a comment between
    p[i] = 2;
  else  /* and here */
    p[i] = 3;
  if (i < n) {
    p[i] = 4;
  } else if (i == n) {
    p[i] = 5;
  } else if (i == n + 1)
    p[i] = 6;
  else
    p[i] = 7;
  if (int k = p[i]; k > 2) {
    if (k) ; else p[i] = k;
  }
  if (n) if (i) p[0] = 1; else p[0] = 2;
}

__global__ void loops(int *p, int n) {
  for (int i = 0; i < n; i++) p[i]++;
  for (;;) {
    if (p[0]) break;
    if (p[1]) continue;
    p[2] = 1;
  }
  for (int i = 0, j = 1; i < n; i++)
    for (int k = j; k < n; k++)
      if (p[k]) p[i] = k;
  while (p[0] < n) p[0]++;
  while (int k = p[0]) {
    p[0] = k - 1;
  }
  do p[0]++; while (p[0] < n);
  do {
    p[0]--;
  } while (p[0] > 0);
  int list[3] = {1, 2, 3};
  for (int each : list) p[0] += each;
  for (int i = 0; i < n; i++) ;
  if (n)
#pragma unroll
    for (int i = 0; i < 4; i++) p[i] = i;
}

__global__ void labels(int *p, int n) {
  switch (p[0]) {
    case 0:
      p[1] = 1;  // falls through
    case 1: case 2: p[1] = 2; break;
    case 3: {
      int k = 1;
      p[k] = k;
      break;
    }
    case (4 > 3 ? 5 : 6): return;
    case 7 ... 9: p[1] = 3;
    default:
      p[1] = 4;
  }
  switch (n) case 1: p[2] = 1;
  switch (n) {
    case 1:
      p[2] = 2;
  }
again:
  if (p[0]++ < n) goto again;
  for (int i = 0; i < n; i++)
    switch (i)
    default: p[i] = 1;
}
