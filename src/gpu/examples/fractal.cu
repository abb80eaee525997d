// Fractal: a square picture of a part of the Mandelbrot set, a thread a pixel. Regular, but for how long each pixel
// takes.
//   fractal WIDTH DEPTH
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void fractal(int width, int depth, double left, double top, double step, unsigned short *pixels) {
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (at >= width * width) return;
  const double cx = left + at % width * step;
  const double cy = top + at / width * step;
  double x = cx;
  double y = cy;
  int left_over = depth;
  double x2 = 0;
  double y2 = 0;
  do {
    x2 = x * x;
    y2 = y * y;
    y = 2 * x * y + cy;
    x = x2 - y2 + cx;
    --left_over;
  } while (left_over > 0 && x2 + y2 < 5.0);
  pixels[at] = static_cast<unsigned short>(left_over);
}

int main(int argc, char **argv) {
  const int width = argc > 1 ? std::atoi(argv[1]) : 512;
  const int depth = argc > 2 ? std::atoi(argv[2]) : 1024;
  if (width < 1 || width > 16384 || depth < 1 || depth > 65535) {
    std::fprintf(stderr, "usage: fractal [WIDTH [DEPTH]]: 1 to 16384, 1 to 65535\n");
    return 2;
  }
  const size_t pixels = static_cast<size_t>(width) * static_cast<size_t>(width);
  unsigned short *device = nullptr;
  cudaMalloc(&device, pixels * sizeof *device);
  const double delta = 0.00304;
  const unsigned blocks = static_cast<unsigned>((pixels + 255) / 256);
  fractal<<<blocks, 256>>>(width, depth, -0.74453892 - delta, 0.12172412 - delta, 2 * delta / width, device);
  std::vector<unsigned short> host(pixels);
  cudaMemcpy(host.data(), device, pixels * sizeof *device, cudaMemcpyDeviceToHost);
  cudaFree(device);
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) {
    std::fprintf(stderr, "fractal: %s\n", cudaGetErrorString(error));
    return 1;
  }
  unsigned long long sum = 0;
  for (const unsigned short pixel : host) sum += pixel;
  std::printf("fractal %d %d: %llu\n", width, depth, sum);
  return 0;
}
