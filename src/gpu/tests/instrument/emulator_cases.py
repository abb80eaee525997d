"""Cases of instrument_test.py: what is written for the emulator."""

import pathlib

from cases import Failure, case, expect

STUB = str(pathlib.Path(__file__).resolve().parents[2] / "instrument" / "testdata" / "include")


@case
def emulator(bench):
    bench.run("launches.cu", "-o", "out.cu", "--emulator", "--include", "/include")
    bench.golden("launches.emulator", bench.read("out.cu"))
    said = bench.run("launches.cu", "-o", "out.cu", "--emulator", "--no-points", "--include", "/include", "--force")
    expect("talk", said, "")
    bench.golden("launches.no_points", bench.read("out.cu"))


@case
def kernels_in_arrays_of_arguments(bench):
    """A cast around the kernel hides nothing; the emulator needs its type."""
    (bench.folder / "array.cu").write_text("""__global__ void k(int *p) { p[0] = 1; }
template <class T> __global__ void t(T *p) { p[0] = 1; }
void f(void **a) {
  cudaLaunchCooperativeKernel((void *)k, 1, 32, a, 0, 0);
  cudaLaunchKernel(reinterpret_cast<const void *>(&t<int>), 1, 32, a, 0, 0);
}
""")
    expect("talk", bench.run("array.cu", "-o", "out.cu", "--include", STUB), "")
    lines = [line.strip() for line in bench.read("out.cu").decode().splitlines() if "Kernel" in line]
    expect("launches", lines, ["CAIRN_LAUNCH_ARRAY(1, cairn_program(), 0, cudaLaunchCooperativeKernel)((void *)k, 1, 32, a, 0, 0);",
                               "CAIRN_LAUNCH_ARRAY(1, cairn_program(), 1, cudaLaunchKernel)(reinterpret_cast<const void *>(&t<int>), 1, 32, a, 0, 0);"])
    bench.run("array.cu", "-o", "em.cu", "--emulator", "--no-points", "--include", STUB)
    lines = [line.strip() for line in bench.read("em.cu").decode().splitlines() if "Kernel" in line]
    expect("launches", lines, ["cudaLaunchCooperativeKernel(k, 1, 32, a, 0, 0);", "cudaLaunchKernel(t<int>, 1, 32, a, 0, 0);"])


@case
def emulated_without_points(bench):
    """Loops let the others have their turn, and a null pointer stays one."""
    (bench.folder / "spins.cu").write_text("""__global__ void k(volatile int *p, float *q) {
  while (p[0] == 0);
  do { p[1] += 1; } while (p[1] < 3);
}
void host(int *p) {
  for (int i = 0; i < 3; ++i) k<<<1, 32>>>(p, NULL);
}
""")
    expect("talk", bench.run("spins.cu", "-o", "out.cu", "--emulator", "--no-points", "--include", STUB), "")
    expect("lines", [line for line in bench.read("out.cu").decode().splitlines() if "CAIRN" in line], [
        "  while (p[0] == 0) { CAIRN_TURN();; }", "  do { CAIRN_TURN(); p[1] += 1; } while (p[1] < 3);",
        "  for (int i = 0; i < 3; ++i) CAIRN_EMULATOR_LAUNCH((k), (1), ( 32), (0), (0), p, nullptr);"])


@case
def inline_ptx(bench):
    (bench.folder / "ptx.cu").write_text("""__device__ unsigned lane() { unsigned l; asm volatile("mov.u32 %0, " "%%laneid;" : "=r"(l)); return l; }
__global__ void k(int *p, int v) { asm("st.global.s32 [%0], %1;" :: "l"(p + lane()), "r"(v) : "memory"); if (v) __asm__("trap;"); }
void host() { asm("nop"); }
""")
    bench.run("ptx.cu", "-o", "out.cu", "--emulator", "--no-points", "--include", STUB)
    text = bench.read("out.cu").decode()
    for call in ('::cairn::emulator::ptx("mov.u32 %0, " "%%laneid;" , ::cairn::emulator::outputs((l)));',
                 '::cairn::emulator::ptx("st.global.s32 [%0], %1;" , ::cairn::emulator::outputs(), (p + lane()), (v));',
                 '::cairn::emulator::ptx("trap;" , ::cairn::emulator::outputs());', 'asm("nop");'):
        if call not in text:
            raise Failure(f"there is no {call} in\n{text}")
    bench.run("ptx.cu", "-o", "cuda.cu", "--include", STUB)
    if b'asm volatile("mov.u32 %0, " "%%laneid;" : "=r"(l));' not in bench.read("cuda.cu"):
        raise Failure("changed for CUDA too")


@case
def dynamic_shared_memory(bench):
    (bench.folder / "shared.cu").write_text("""extern __shared__ __align__(16) unsigned char bytes[];
extern double __shared__ plane[][8];
template <class T> __global__ void k(T *p) {
  extern __shared__ T of_block[];
  of_block[threadIdx.x] = bytes[0] + plane[0][1];
}
""")
    bench.run("shared.cu", "-o", "out.cu", "--emulator", "--no-points", "--include", STUB)
    expect("declarations", [line for line in bench.read("out.cu").decode().splitlines() if "extern" in line or "dynamic" in line], [
        "static   unsigned char (&bytes)[] = ::cairn::emulator::dynamic_array<decltype(bytes)>();",
        "static double  (&plane)[][8] = ::cairn::emulator::dynamic_array<decltype(plane)>();",
        "  static  T (&of_block)[] = ::cairn::emulator::dynamic_array<decltype(of_block)>();"])
    bench.run("shared.cu", "-o", "cuda.cu", "--include", STUB)
    if b"extern __shared__ T of_block[];" not in bench.read("cuda.cu"):
        raise Failure("changed for CUDA too")
