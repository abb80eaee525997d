// Where functions begin, and what calls what.
#include <cuda_runtime.h>

extern "C" __global__ void c_kernel();
__global__ void later(int *, int);
namespace space {
namespace {
__device__ __noinline__ int plain(int x);
}
struct Shape {
  int n;
  __device__ Shape(int a) : n(a ? a : 1) { if (a) n = a; }
  __host__ __device__ int area() const { return n > 2 ? n : 2; }
  __device__ int operator()(int x) { if (x) return n; return 0; }
  template <class T> __device__ T scaled(T x) {
    struct Local {
      int v;
      __device__ int get() const { return v ? v : 1; }
    };
    return x * Local{n}.get();
  }
  __device__ ~Shape() {}
};
namespace {
__device__ int plain(int x) { return x ? plain(x - 1) : 0; }
}
template <class T> __device__ T twice(T x) { return x + x; }
template <> __device__ int twice<int>(int x) { return x << 1; }
__global__ void __launch_bounds__(256, 2) k(int *p) {
  Shape s(p[0]);
  p[1] = s.area() + s(3) + s.scaled(2) + plain(4) + twice(5) + twice(6.0f);
  auto square = [=](int x) { if (x) return x * x; return p[0]; };
  auto outer = [&] { return [&](int y) { return y ? 1 : 2; }(p[2]); };
  p[2] = square(3) + outer();
}
}
__device__ constexpr int fixed(int x) { return x ? 1 : 2; }
__host__ int host_only(int x) { if (x) return 1; return 2; }
extern "C" __global__ void c_kernel() { if (threadIdx.x) return; }
__global__ void empty(void) {}
__global__ void spaced( void /* none */ ) {}
__global__ void later(int *p, int n) { p[0] = fixed(n); }
template <class T, int N = 4> __global__ void tiles(T *p, T (*f)(T) = nullptr);
template <class T, int N> __global__ void tiles(T *p, T (*f)(T)) { if (N > 2) p[0] = f(p[1]); }
template __global__ void tiles<float, 8>(float *, float (*)(float));
extern template __global__ void tiles<int>(int *, int (*)(int));
template <class... A> __global__ void pack(A... a) {}
template <class F> __global__ void apply(F f) { f(threadIdx.x); }

int main() {
  int *p = 0;
  space::k<<<1, 1>>>(p);
  c_kernel<<<1, 1>>>();
  empty<<<dim3(1), 1, 16>>>();
  pack<<<1, 1>>>(1, 2);
  apply<<<1, 32>>>([=] __device__(int i) { if (i) p[i] = 1; });
  tiles<double><<<1, 1>>>((double *)0, nullptr);
  tiles<double><<<1, 1>>>((double *)0);
  return host_only(1);
}
