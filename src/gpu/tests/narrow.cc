// One of two files of a program, whose locations have 8 bits here and 16 in wide.cc. By hand, for the emulator.
#include <cairn/gpu.h>

namespace {

void kernel(cairn::gpu::Trace trace) {
  CAIRN_KERNEL(trace);
  CAIRN_POINT(7);
}

const cairn::gpu::Location locations[] = {{7, cairn::gpu::Kind::point, "kernel", "narrow.cc", 8}};
const char *const kernels[] = {"narrow"};
const cairn::gpu::Program program = {"narrow.cc", 7, locations, 1, kernels, 1, nullptr};

}  // namespace

void run_narrow();
void run_narrow() {
  CAIRN_EMULATOR_LAUNCH((kernel), (1), (32), (0), (nullptr), CAIRN_LAUNCH(program, 0, 1, 32, nullptr));
}

void run_wide();
int main() {
  run_narrow();
  run_wide();
}
