#!/usr/bin/env python3
"""What docs/gpu.md says of programs of others under the emulator, to the letter, with nothing but what is installed.

installed_test.py --cairn CAIRN --build BUILD/src/gpu
Another program stands for the one that is named there, and a folder of the test for /usr/local.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = """#include <cuda_runtime.h>
#include <stdio.h>
// Blocks hand a sum from one to the next; the first waits for the last.
__global__ void chain(const uchar4 *in, volatile int *sums, int n) {
  extern __shared__ int part[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = i < n ? in[i].w : 0;
  const int many = __syncthreads_count(i < n);
  for (int by = blockDim.x / 2; by != 0; by /= 2) {
    if (threadIdx.x < by) part[threadIdx.x] += part[threadIdx.x + by];
    __syncthreads();
  }
  if (threadIdx.x != 0) return;
  const int next = (blockIdx.x + 1) % gridDim.x;
  if (next != 0) while (sums[next] < 0);
  sums[blockIdx.x] = part[0] + (next != 0 ? sums[next] : 0) + 0 * many;
}
int main(int argc, char **argv) {
  const int n = 3000, block = 128, grid = (n + block - 1) / block;
  uchar4 *in = nullptr;
  int *sums = nullptr;
  cudaMallocManaged(&in, n * sizeof(uchar4));
  cudaMallocManaged(&sums, grid * sizeof(int));
  int expected = 0;
  for (int i = 0; i < n; ++i) expected += (in[i] = make_uchar4(0, 0, 0, i % 7)).w;
  for (int i = 0; i < grid; ++i) sums[i] = -1;
  chain<<<grid, block, block * sizeof(int)>>>(in, sums, n);
  cudaError_t error = cudaDeviceSynchronize();
  printf("%s %s\\n", cudaGetErrorName(error), sums[0] == expected && argc == 4 && argv[3][0] == '5' ? "right" : "wrong");
}
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cairn", required=True)
    parser.add_argument("--build", required=True)
    arguments = parser.parse_args()
    text = (ROOT / "docs" / "gpu.md").read_text()
    recipe = text[text.index("    cairn instrument pathfinder.cu"):]
    recipe = recipe[:recipe.index("\n\n")]
    with tempfile.TemporaryDirectory() as folder:
        prefix = pathlib.Path(folder) / "prefix"
        subprocess.run(["cmake", f"-DCMAKE_INSTALL_PREFIX={prefix}", "-P", f"{arguments.build}/cmake_install.cmake"], check=True, capture_output=True)
        (pathlib.Path(folder) / "pathfinder.cu").write_text(PROGRAM)
        # The verb itself belongs to no part of this room; it starts this program.
        recipe = recipe.replace("cairn instrument", f"{prefix}/libexec/cairn/cairn-instrument").replace("/usr/local", str(prefix))
        for emulated in ("", "--no-points"):
            lines = recipe.replace("--emulator", f"--emulator --cuda-path none --force {emulated}")
            done = subprocess.run(["bash", "-ec", lines], cwd=folder, capture_output=True, text=True, timeout=300,
                                  env={**os.environ, "CAIRN_QUIET": "1", "CAIRN_GPU_OUTPUT": "app.cairn"})
            if (done.returncode, done.stdout, done.stderr) != (0, "cudaSuccess right\n", ""):
                sys.exit(f"{lines}\n{done.returncode}\n{done.stdout}{done.stderr}")
        subprocess.run([arguments.cairn, "verify", "app.cairn"], cwd=folder, check=True, capture_output=True)


main()
