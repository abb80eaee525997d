// Launch: an object around a kernel's launch. It brings the memory that the kernel's warps write to and, when it goes,
// sees to it that what they wrote reaches the trace. `cairn instrument` makes one an argument of every launch:
//
//   kernel<<<grid, block, 0, stream>>>(args, CAIRN_LAUNCH(program, 0, grid, block, stream));
//
// Any threads, streams and devices. On a GPU nothing here waits for the kernel: its end is gathered on its own stream,
// and a thread of ours takes it from there; memory is used again, and where all is in use, the launch waits until some
// comes back (memory_device.h). A launch that cannot be traced (no memory, a graph is being captured) runs untraced, is
// in the trace as one without warps, and the first is told on stderr; without the library nothing is traced. Host only.
#pragma once

#include "calls.h"
#include "device.h"
#include "library.h"
#include "memory_device.h"
#include "program.h"
#include "settings.h"

namespace cairn::gpu {

#if defined(CAIRN_GPU_CODER_RAW)
constexpr uint8_t kCoderNumber = 0;
#else
constexpr uint8_t kCoderNumber = 2;
#endif

class Launch {
 public:
  using Passed = Trace;  ///< to the kernel
  /// `location_bits` is 8 or 16. An argument, since files of one program may differ in it.
  Launch(const Program &program, uint32_t kernel, dim3 grid, dim3 block, uint32_t location_bits, Stream stream)
      : stream_(stream) {
    const Settings &wanted = settings();
    const char *name = kernel < program.kernel_count ? program.kernels[kernel] : nullptr;
    if (!wanted.traces(name) || library() == nullptr) return;
    const uint64_t blocks = uint64_t{grid.x} * grid.y * grid.z;
    if (blocks == 0 || blocks > UINT32_MAX) return;
    Buffers buffers{};
    buffers.policy = wanted.policy;
    buffers.location_bits = location_bits;
    buffers.warps_per_block = (block.x * block.y * block.z + kLanes - 1) / kLanes;
    buffers.first_block = wanted.first_block;
    buffers.end_block = wanted.end_block < blocks ? wanted.end_block : static_cast<uint32_t>(blocks);
    buffers.one_in = wanted.one_in;
    if (buffers.first_block >= buffers.end_block) return;
    const uint64_t warps = uint64_t{buffers.end_block - buffers.first_block} * buffers.warps_per_block;
    buffers.warp_count = static_cast<uint32_t>((warps + buffers.one_in - 1) / buffers.one_in);
    buffers.ring_words = wanted.ring_words;
    buffers.ring_chunks = wanted.ring_chunks;
    // Words that each warp has for itself.
    constexpr uint32_t kLeast = kChunkHead + Coder::kMostWords + kMostValueWords<LaneMask>;
    if (has_values(program) && buffers.ring_words < kLeast) buffers.ring_words = kLeast;
    buffers.clocks_only = wanted.clocks_only ? 1 : 0;
    if (wanted.clocks_only) buffers.policy = Policy::stop;
    const uint64_t own = buffers.policy == Policy::ring    ? uint64_t{buffers.ring_words} * buffers.ring_chunks
                         : buffers.policy == Policy::drain ? kDrainChunk
                                                           : 0;
    if (buffers.policy == Policy::drain) buffers.drain.count = wanted.drain_slots();
    add_successors(buffers.guesses, program.successors);
    cairn_gpu_launch what{};
    what.program = reinterpret_cast<const cairn_gpu_program *>(&program);
    what.kernel = kernel;
    what.stream = reinterpret_cast<uint64_t>(stream);
    const uint32_t sizes[] = {grid.x, grid.y, grid.z, block.x, block.y, block.z};
    for (int i = 0; i < 3; ++i) {
      what.grid[i] = sizes[i];
      what.block[i] = sizes[i + 3];
    }
    what.coder = kCoderNumber;
    what.location_bits = static_cast<uint8_t>(location_bits);
    what.lanes = static_cast<uint8_t>(kLanes);
    what.policy = buffers.policy == Policy::ring ? 1 : 0;
    what.first_block = buffers.first_block;
    what.end_block = buffers.end_block;
    what.one_in = buffers.one_in;
    if (own * buffers.warp_count > kMostWords - kChunkHead) {
      (void)Collector::one().untraced(what, {CAIRN_GPU_MEMORY,
                                             "they have more warps than can be traced at once: trace "
                                             "one warp in 4 with CAIRN_GPU_WARPS=4"});
      return;
    }
    buffers.capacity = own == 0 ? 0 : static_cast<uint32_t>(own * buffers.warp_count + kChunkHead);
    if (wanted.clocks_only) buffers.capacity = kChunkHead;
    memory_ = take_memory(buffers, has_values(program), what, stream);
  }
  ~Launch() {
    if (memory_ != nullptr) collect(memory_, stream_);
  }
  Launch(const Launch &) = delete;
  Launch &operator=(const Launch &) = delete;

  operator Trace() const { return memory_ == nullptr ? Trace() : memory_->trace(); }  // NOLINT: an argument of kernels

 private:
  static bool has_values(const Program &program) {
    for (uint32_t i = 0; i < program.location_count; ++i) {
      if (cairn::gpu::has_values(program.locations[i].kind)) return true;
    }
    return false;
  }

  Stream stream_;
  Memory *memory_ = nullptr;
};

}  // namespace cairn::gpu
