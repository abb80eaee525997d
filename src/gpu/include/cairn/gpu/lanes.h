// A warp's lanes, as CUDA, HIP and the emulator have them: who is here, who leads, and whose turn it is to record.
//
// One lane of those that are at a point together records for all of them. Since Volta the parts of a warp that has
// diverged run independently, so that another part may be in a point, too; then they take turns. No atomic operation
// is used for that, and nothing that is volatile: where a function has one, nvcc's assembler begins it with YIELD,
// since its caller may be waiting for something, and what YIELD does is to let lanes that wait for this one go on
// without it. The warp then stays in pieces for as long as its loops run; a program that was traced so ran 10 times
// slower than with plain loads and stores (seen on an H200). What one lane of a warp stores to shared memory, the
// others see at once, in order, since a warp's accesses go one way one after another; so turns are taken as Dekker's
// algorithm does: say that one wants to, look whether anybody else does. What cannot do without an atomic operation,
// finding room for more words, is done apart, by a function that all lanes that are here call together.
#pragma once

#include "hot_word.h"

#if defined(CAIRN_GPU_EMULATOR)
#include <cuda_runtime.h>
#endif

#if defined(__CUDACC__) || defined(__HIPCC__) || defined(CAIRN_GPU_EMULATOR)

namespace cairn::gpu {

#if defined(CAIRN_GPU_EMULATOR)
inline LaneMask lanes_here(uint32_t location) { return emulator::converge(location); }
inline uint32_t lane_of_thread() { return emulator::lane_index(); }
inline LaneMask lanes_before() { return (LaneMask{1} << lane_of_thread()) - 1; }
inline LaneMask lanes_for(LaneMask here, bool condition) { return __ballot_sync(here, condition ? 1 : 0); }
inline void stay_together(LaneMask) {}
inline void see_values(LaneMask) {}                                          // lanes come to a point one after another
inline LaneMask lanes_leaving() { return LaneMask{1} << lane_of_thread(); }  // one after another
/// Lanes come here one after another, so that only the first of them sees what was there before.
inline bool may_ask(LaneMask here) { return (here & lanes_before()) == 0; }
constexpr uint32_t kLanes = 32;
#elif defined(__HIP_PLATFORM_AMD__)
__device__ inline LaneMask lanes_here(uint32_t) { return __ballot(1); }
__device__ inline uint32_t lane_of_thread() { return __lane_id(); }
__device__ inline LaneMask lanes_before() { return (LaneMask{1} << lane_of_thread()) - 1; }
__device__ inline LaneMask lanes_for(LaneMask, bool condition) { return __ballot(condition); }
__device__ inline void stay_together(LaneMask) {}
__device__ inline void see_values(LaneMask) { __threadfence_block(); }
__device__ inline LaneMask lanes_leaving() { return __ballot(1); }
__device__ inline bool may_ask(LaneMask) { return true; }
constexpr uint32_t kLanes = 64;
#else
__device__ inline LaneMask lanes_here(uint32_t) { return __activemask(); }
__device__ inline uint32_t lane_of_thread() {
  uint32_t lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}
__device__ inline LaneMask lanes_before() {
  LaneMask mask;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
  return mask;
}
__device__ inline LaneMask lanes_for(LaneMask here, bool condition) { return __ballot_sync(here, condition); }
__device__ inline void stay_together(LaneMask mask) { __syncwarp(mask); }
/// What each of `mask` has written before is seen by all of them.
__device__ inline void see_values(LaneMask mask) { __syncwarp(mask); }
__device__ inline LaneMask lanes_leaving() { return __activemask(); }
__device__ inline bool may_ask(LaneMask) { return true; }
constexpr uint32_t kLanes = 32;
#endif

/// One lane records for all that are in a point together.
__device__ inline bool leads(LaneMask here) { return (here & lanes_before()) == 0; }
__device__ inline uint32_t leader_of(LaneMask here) { return ones((here & (~here + 1)) - 1); }

#if defined(__CUDA_ARCH__)
namespace lanes_detail {
template <typename T>
__device__ inline uint32_t shared_address(const T &at) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(&at));
}
__device__ inline void say(const Turns &turns, uint32_t lane, uint32_t wants) {
  asm volatile("st.shared.u8 [%0], %1;" ::"r"(shared_address(turns) + lane), "r"(wants) : "memory");
}
/// False: somebody else wants to, too.
__device__ inline bool is_turn(const Turns &turns, uint32_t lane) {
  say(turns, lane, Turns::kTurn);
  uint32_t any = 0;
  for (uint32_t i = 0; i < sizeof turns.wants; i += 16) {
    uint32_t word[4];
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
                 : "r"(shared_address(turns) + i)
                 : "memory");
    for (uint32_t w = 0; w < 4; ++w) any += __popc(word[w] & 0x01010101u * Turns::kTurn);
  }
  return any == 1;
}
/// Apart from take_turn, which so has no loop. The loads are volatile for the YIELD: without it whoever has the turn
/// might never be run.
__device__ __noinline__ inline void wait_for_turn(Turns &turns, uint32_t lane) {
  do {
    say(turns, lane, 0);
#pragma unroll 1
    for (uint32_t i = 0; i <= lane; ++i) (void)*static_cast<const volatile uint8_t *>(turns.wants);
  } while (!is_turn(turns, lane));
}
}  // namespace lanes_detail

/// Orders what was stored before what is stored afterwards.
__device__ inline void settle() { asm volatile("fence.acq_rel.cta;" ::: "memory"); }
__device__ inline void take_turn(Turns &turns, uint32_t lane) {
  if (!lanes_detail::is_turn(turns, lane)) lanes_detail::wait_for_turn(turns, lane);
  settle();
}
/// `then`: 0, or Turns::kRoom.
__device__ inline void end_turn(Turns &turns, uint32_t lane, uint32_t then) {
  settle();
  lanes_detail::say(turns, lane, then);
}
/// What `lane` said when it ended its turn.
__device__ inline bool wants_room(const Turns &turns, uint32_t lane) {
  uint32_t wants = 0;
  asm volatile("ld.shared.u8 %0, [%1];" : "=r"(wants) : "r"(lanes_detail::shared_address(turns) + lane) : "memory");
  return wants == Turns::kRoom;
}
__device__ inline HotWord<LaneMask> look_at(const HotWord<LaneMask> &word) {
  HotWord<LaneMask> now;
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];"
               : "=r"(now.previous), "=r"(now.rest)
               : "r"(lanes_detail::shared_address(word))
               : "memory");
  return now;
}
__device__ inline void put(HotWord<LaneMask> &word, const HotWord<LaneMask> &next) {
  asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(lanes_detail::shared_address(word)), "r"(next.previous),
               "r"(next.rest)
               : "memory");
}
#else
// Parts of a warp are never in a point at once: the emulator runs lanes one by one, a wavefront runs in lockstep.
CAIRN_GPU_BOTH void settle() {}
CAIRN_GPU_BOTH void take_turn(Turns &, uint32_t) {}
CAIRN_GPU_BOTH void end_turn(Turns &turns, uint32_t lane, uint32_t then) { turns.wants[lane] = then & 0xff; }
CAIRN_GPU_BOTH bool wants_room(const Turns &turns, uint32_t lane) { return turns.wants[lane] == Turns::kRoom; }
CAIRN_GPU_BOTH HotWord<LaneMask> look_at(const HotWord<LaneMask> &word) { return word; }
CAIRN_GPU_BOTH void put(HotWord<LaneMask> &word, const HotWord<LaneMask> &next) { word = next; }
#endif

}  // namespace cairn::gpu

#endif
