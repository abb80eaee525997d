// The kernels of turns.c. By hand, for the emulator.
#include <cairn/gpu.h>

namespace {

void spin(cairn::gpu::Trace trace) {
  CAIRN_KERNEL(trace);
  for (int i = 0; i < 100; ++i) CAIRN_POINT(1);
}

void odd(cairn::gpu::Trace trace) {
  CAIRN_KERNEL(trace);
  if (threadIdx.x % 2 != 0) CAIRN_POINT(2);
}

const cairn::gpu::Location locations[] = {{1, cairn::gpu::Kind::loop, "spin", "turns_kernels.cc", 8},
                                          {2, cairn::gpu::Kind::then, "odd", "turns_kernels.cc", 13}};
const char *const kernels[] = {"spin", "odd"};
const cairn::gpu::Program program = {"turns_kernels.cc", 7, locations, 2, kernels, 2, nullptr};

}  // namespace

extern "C" void launch_spin(unsigned blocks);
extern "C" void launch_odd();

void launch_spin(unsigned blocks) {
  CAIRN_EMULATOR_LAUNCH((spin), (blocks), (64), (0), (nullptr), CAIRN_LAUNCH(program, 0, blocks, 64, nullptr));
}
void launch_odd() { CAIRN_EMULATOR_LAUNCH((odd), (1), (32), (0), (nullptr), CAIRN_LAUNCH(program, 1, 1, 32, nullptr)); }
