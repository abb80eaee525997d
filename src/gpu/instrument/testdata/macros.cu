// Macros: what can be told from the file is traced, the rest is said to be left out.
#include <cuda_runtime.h>
#define RETURN_IF(x) if (x) return
#define GUARD(x) if (!(x)) { return; }
#define EACH(i, n) for (int i = 0; i < (n); i++)
#define DO(x) do { x; } while (0)
#define MAXIMUM(a, b) ((a) > (b) ? (a) : (b))
#define NOTHING
#define CALL(x) side(x)
#define LABEL case 5:
#define BEGIN {
#define END }
#define DEVICE __device__ __forceinline__
#define KERNEL(name) __global__ void name(int *p)
#define SAME(x) x

DEVICE int side(int x) { return x ? x : 1; }
KERNEL(made) { if (p[0]) p[1] = 1; }
__global__ void used(int *p, int n) {
  RETURN_IF(n > 3);
  if (n > 4) GUARD(p[0])
  if (n > 5) RETURN_IF(p[0]); else p[1] = 1;
  EACH(i, n) { if (p[i]) p[i] = 2; }
  if (n > 6) DO(p[0]++);
  p[2] = MAXIMUM(p[0], p[1]);
  if (n > 7) NOTHING;
  if (n > 8) CALL(n);
  p[3] = n > 9 ? CALL(n) : MAXIMUM(n, 3);
  if (n && CALL(n)) p[4] = 1;
  if (SAME(n && p[1])) p[5] = SAME(n ? 1 : 2);
  if (SAME(n) && SAME(p)[1]) p[5] = SAME(n) ? SAME(1) : SAME(2);
  switch (n) { LABEL p[6] = 1; break; case 6: p[6] = 2; }
  if (n > 10) BEGIN p[7] = 1; END
  SAME(if (n > 11) p[8] = 1;)
#if __CUDA_ARCH__ >= 700
  if (n > 12) p[9] = 1;
#else
  if (n > 13) p[9] = 2;
#endif
#if 0
  if (n > 14) {{{
#endif
}
