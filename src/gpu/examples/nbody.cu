// N-Body: all pairs of bodies attract each other; a thread a body. Regular.
//   nbody BODIES STEPS
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void accelerate(int bodies, const float4 *position, float3 *velocity, float step) {
  const int own = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (own >= bodies) return;
  const float4 here = position[own];
  float ax = 0;
  float ay = 0;
  float az = 0;
  for (int other = 0; other < bodies; ++other) {
    const float4 there = position[other];
    const float dx = there.x - here.x;
    const float dy = there.y - here.y;
    const float dz = there.z - here.z;
    const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.0025f);
    const float scale = there.w * inverse * inverse * inverse;
    ax += dx * scale;
    ay += dy * scale;
    az += dz * scale;
  }
  velocity[own].x += ax * step;
  velocity[own].y += ay * step;
  velocity[own].z += az * step;
}

__global__ void move(int bodies, float4 *position, const float3 *velocity, float step) {
  const int own = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (own < bodies) {
    position[own].x += velocity[own].x * step;
    position[own].y += velocity[own].y * step;
    position[own].z += velocity[own].z * step;
  }
}

int main(int argc, char **argv) {
  const int bodies = argc > 1 ? std::atoi(argv[1]) : 5000;
  const int steps = argc > 2 ? std::atoi(argv[2]) : 2;
  if (bodies < 1 || bodies > 10'000'000 || steps < 0) {
    std::fprintf(stderr, "usage: nbody [BODIES [STEPS]]: 1 to 10000000, 0 and more\n");
    return 2;
  }
  const size_t n = static_cast<size_t>(bodies);
  std::vector<float4> start(n);
  unsigned long long seed = 7;
  const auto draw = [&] {
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<float>(seed >> 40) / static_cast<float>(1 << 24) - 0.5f;
  };
  for (float4 &body : start) body = make_float4(draw(), draw(), draw(), 1.0f / static_cast<float>(bodies));
  float4 *position = nullptr;
  float3 *velocity = nullptr;
  cudaMalloc(&position, n * sizeof *position);
  cudaMalloc(&velocity, n * sizeof *velocity);
  cudaMemset(velocity, 0, n * sizeof *velocity);
  cudaMemcpy(position, start.data(), n * sizeof *position, cudaMemcpyHostToDevice);
  const unsigned blocks = static_cast<unsigned>((bodies + 255) / 256);
  for (int i = 0; i < steps; ++i) {
    accelerate<<<blocks, 256>>>(bodies, position, velocity, 0.01f);
    move<<<blocks, 256>>>(bodies, position, velocity, 0.01f);
  }
  cudaMemcpy(start.data(), position, n * sizeof *position, cudaMemcpyDeviceToHost);
  cudaFree(position);
  cudaFree(velocity);
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) {
    std::fprintf(stderr, "nbody: %s\n", cudaGetErrorString(error));
    return 1;
  }
  double sum = 0;
  for (const float4 &body : start) sum += std::sqrt(body.x * body.x + body.y * body.y + body.z * body.z);
  std::printf("nbody %d %d: mean distance %.4f\n", bodies, steps, sum / bodies);
  return 0;
}
