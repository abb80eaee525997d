// One of two files of a program, whose locations have 16 bits here and 8 in narrow.cc. By hand, for the emulator.
#define CAIRN_GPU_LOCATION_BITS 16
#include <cairn/gpu.h>

namespace {

void kernel(cairn::gpu::Trace trace) {
  CAIRN_KERNEL(trace);
  CAIRN_POINT(300);
}

const cairn::gpu::Location locations[] = {{300, cairn::gpu::Kind::point, "kernel", "wide.cc", 9}};
const char *const kernels[] = {"wide"};
const cairn::gpu::Program program = {"wide.cc", 300, locations, 1, kernels, 1, nullptr};

}  // namespace

void run_wide();
void run_wide() {
  CAIRN_EMULATOR_LAUNCH((kernel), (1), (32), (0), (nullptr), CAIRN_LAUNCH(program, 0, 1, 32, nullptr));
}
