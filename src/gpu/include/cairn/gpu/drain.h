// How full chunks leave the device while a kernel runs (policy `drain`): a ring of slots in the host's memory, which
// the device maps.
//
// A warp collects words in a chunk of its own, in device memory. When there is no room in it, the warp claims the
// ring's next slot, copies its words there and publishes them by the slot's sequence number; a thread of the host
// (drain_host.h) takes the slots in order. A slot is held only while it is copied: neither warps that have ended nor
// those that wait for others hold any, so that all warps of a launch can share a ring of any size. The host's thread
// calls nothing of the GPU's run-time library, so it needs nobody who may be waiting for the kernel.
//
// A warp that finds the ring full looks again, `waits` times; then it gives up, counts what it loses, and tells the
// others (`stalled`) not to wait either until there is room again. So a host that does not drain costs one such wait
// and never the kernel's end. One caller at a time for a warp, all warps at once.
#pragma once

#include "portability.h"

#if !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
#include <time.h>
#endif

namespace cairn::gpu {

/// Words of a warp's own chunk, with its head. It holds the largest event of every coder.
constexpr uint32_t kDrainChunk = 4 * 8 * sizeof(LaneMask) + 4;
constexpr uint32_t kDrainWords = kDrainChunk - 4;
/// How often a warp that finds the ring full looks again: a second or so.
#if defined(__CUDACC__) || defined(__HIPCC__)
constexpr uint32_t kDrainWaits = 200'000;
#else
constexpr uint32_t kDrainWaits = 100'000;
#endif

struct DrainSlot {
  uint32_t sequence;  ///< 1 + how many slots were claimed before, when all else is written
  uint32_t warp;      ///< among those that are traced
  uint32_t words;
  uint32_t unused;
  uint32_t data[kDrainWords];
};

struct DrainRing {
  DrainSlot *slots;          ///< of the host, as the device sees them
  const uint32_t *consumed;  ///< so many the host has taken since it began; of the host
  uint32_t count;            ///< of slots: a power of two
  unsigned int tail;         ///< slots claimed
  uint32_t seen;             ///< `consumed`, when somebody last looked: it is far away
  uint32_t waits;
  uint32_t stalled;  ///< somebody waited in vain
};

namespace drain_detail {

CAIRN_GPU_BOTH uint32_t look(const uint32_t *at) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return *static_cast<const volatile uint32_t *>(at);
#else
  return __atomic_load_n(at, __ATOMIC_ACQUIRE);
#endif
}

/// All that was written before is seen by whoever sees this.
CAIRN_GPU_BOTH void publish(uint32_t *at, uint32_t value) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  __threadfence_system();
  *static_cast<volatile uint32_t *>(at) = value;
#else
  __atomic_store_n(at, value, __ATOMIC_RELEASE);
#endif
}

CAIRN_GPU_BOTH bool advance(unsigned int *at, uint32_t from) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  if (atomicCAS(at, from, from + 1) != from) return false;
  __threadfence();
  return true;
#else
  if (*at != from) return false;
  *at = from + 1;
  return true;
#endif
}

CAIRN_GPU_BOTH void wait_a_little() {
#if defined(__CUDA_ARCH__)
  __nanosleep(4000);
#elif defined(__HIP_DEVICE_COMPILE__)
  __builtin_amdgcn_s_sleep(127);
#else
  // The host's thread runs beside us. Lanes must not: this warp is in the middle of an event.
  const timespec brief{0, 10'000};
  nanosleep(&brief, nullptr);
#endif
}

}  // namespace drain_detail

/// The number of a slot that the caller may fill now. False: none came free.
CAIRN_GPU_BOTH bool claim_slot(DrainRing &ring, uint32_t &number) {
  using namespace drain_detail;
  uint32_t left = look(&ring.stalled) != 0 ? 0 : ring.waits;
  for (;;) {
    const uint32_t tail = look(&ring.tail);
    if (tail - look(&ring.seen) >= ring.count) {
      const uint32_t consumed = look(ring.consumed);
      // Others may have claimed slots since we looked, and the host may have taken them: `tail` is old then.
      if (static_cast<int32_t>(consumed - tail) > 0) continue;
      ring.seen = consumed;
      if (tail - consumed >= ring.count) {
        if (left-- == 0) {
          ring.stalled = 1;
          return false;
        }
        wait_a_little();
        continue;
      }
    }
    if (!advance(&ring.tail, tail)) continue;
    if (look(&ring.stalled) != 0) ring.stalled = 0;
    number = tail;
    return true;
  }
}

/// Sends `count` words of a warp to the host. False: the ring stayed full, and nothing was sent.
CAIRN_GPU_BOTH bool send_words(DrainRing &ring, uint32_t warp, const uint32_t *words, uint32_t count) {
  uint32_t number = 0;
  if (!claim_slot(ring, number)) return false;
  DrainSlot &slot = ring.slots[number & (ring.count - 1)];
  slot.warp = warp;
  slot.words = count;
  CAIRN_GPU_ROLLED for (uint32_t i = 0; i < count; ++i) slot.data[i] = words[i];
  drain_detail::publish(&slot.sequence, number + 1);
  return true;
}

}  // namespace cairn::gpu
