// What a trace point does in a kernel: CUDA, HIP, or the emulator.
//
// The kernel's begin gives each warp of the block a LiveWarp in shared memory; a point looks there (a predicate, where
// the warp is not traced), agrees on who is here, and lets one lane record it. Where the event is as predicted and the
// mask is that of the event before, all that changes is the hot word, and no call is made; else one function, of which
// there is one copy, records it. Since Volta the parts of a warp that has diverged run independently and may be in a
// point at the same time: they take turns (lanes.h). A LiveWarp goes home when its last lane leaves the kernel, which a
// destructor tells (KernelScope).
//
// One lane records for all: a stream a lane would be 32 times the state, and would not say who was together. Who is
// here is asked for (`__activemask`) and not brought together: waiting for the others of a warp at each point could
// hang a program that does not, and would change what is traced.
//
// Cost of a point whose event was predicted: some 30 instructions, two loads that stay in L1, and a store to shared
// memory; 90 more, of one lane, where other lanes of the warp are elsewhere. One that was not: some 600 of one lane.
#pragma once

#include <stddef.h>
#include <string.h>

#include <type_traits>

#include "access.h"
#include "lanes.h"
#include "predict.h"
#include "raw.h"
#include "stream.h"
#include "warp_clock.h"

#if defined(CAIRN_GPU_CODER_RAW)
#define CAIRN_GPU_CODER ::cairn::gpu::Raw
#else
#define CAIRN_GPU_CODER ::cairn::gpu::Predict
#endif

#if defined(__CUDACC__) || defined(__HIPCC__) || defined(CAIRN_GPU_EMULATOR)

namespace cairn::gpu {

using Coder = CAIRN_GPU_CODER<LaneMask>;
using TracedWarp = Warp<Coder>;
using Live = LiveWarp<Coder>;

/// The block's warps. One object for all functions of a program.
__device__ inline Live *block_warps() {
  __shared__ Live warps[1024 / kLanes];
  return warps;
}

__device__ inline uint32_t thread_in_block() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
/// All lanes that the warp has: a block's last warp may have fewer than the others.
__device__ inline LaneMask lanes_at_begin() {
#if defined(__CUDA_ARCH__)
  const uint32_t left = blockDim.x * blockDim.y * blockDim.z - thread_in_block() / kLanes * kLanes;
  const LaneMask all = left >= kLanes ? ~LaneMask{0} : (LaneMask{1} << left) - 1;
  stay_together(all);
  return all;
#else
  return lanes_here(0);
#endif
}
__device__ inline Live &this_warp() { return block_warps()[thread_in_block() / kLanes]; }

/// The calling lane takes its turn and records for its warp.
class Recording {
 public:
  __device__ explicit Recording(Live &live) : live_(live) {
    take_turn(live.turns, lane_of_thread());
    take_hits(live_, look_at(live.hot));
  }
  struct HasTurn {};
  __device__ Recording(Live &live, HasTurn) : live_(live) { take_hits(live_, look_at(live.hot)); }
  __device__ ~Recording() {
    if (live_.home->head.open == 0) save_warp(live_);  // a point behind the kernel's end
    put(live_.hot, next_hot_word(live_));
    settle();
    live_.alive &= ~leaving_;  // who finds itself alone by this must find all else done
    end_turn(live_.turns, lane_of_thread(), then_);
  }
  /// What record_event and its like gave.
  __device__ void done(bool well) { then_ = well ? 0 : Turns::kRoom; }
  __device__ void leave(LaneMask lanes) {
    leave_warp(live_, lanes);
    leaving_ = lanes;
  }
  Recording(const Recording &) = delete;
  Recording &operator=(const Recording &) = delete;

 private:
  Live &live_;
  LaneMask leaving_ = 0;
  uint32_t then_ = 0;
};

/// What a point looks at first, in as few loads as there can be.
struct Glance {
  const TracedWarp *home;
  HotWord<LaneMask> hot;
  LaneMask alive;
};
__device__ inline Glance glance(const Live &live) {
#if defined(__CUDA_ARCH__)
  static_assert(offsetof(Live, home) == 0 && offsetof(Live, hot) == 8, "one load of 16 bytes");
  uint32_t low = 0;
  uint32_t high = 0;
  Glance seen;
  const uint32_t at = lanes_detail::shared_address(live);
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(low), "=r"(high), "=r"(seen.hot.previous), "=r"(seen.hot.rest)
               : "r"(at)
               : "memory");
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(seen.alive) : "r"(at + uint32_t{offsetof(Live, alive)}) : "memory");
  seen.home = reinterpret_cast<const TracedWarp *>(uint64_t{high} << 32 | low);
  return seen;
#else
  return {live.home, live.hot, live.alive};
#endif
}

/// The warp's word after a hit or two, if that is all that happens.
struct QuickHits {
  HotWord<LaneMask> now;
  bool are;
};
__device__ inline QuickHits quick_hit(const Glance &seen, LaneMask here, uint32_t location) {
  return {seen.hot.after(location), Coder::is_quick_hit(seen.hot, seen.home->tables, location, here)};
}
__device__ inline QuickHits quick_hits(const Glance &seen, LaneMask here, LaneMask taken, uint32_t location) {
  const QuickHits first = quick_hit(seen, here, location);
  const bool second = Coder::is_quick_hit(first.now, seen.home->tables, location + 1, taken);
  return {first.now.after(location + 1), first.are && second};
}
/// For all that are `here`, together: puts the hits down, if nobody else of the warp can be in a point. False: nothing
/// happened. All of them store, the same: whichever of them comes next knows the word, also from a register.
__device__ inline bool put_hits(Live &live, const Glance &seen, LaneMask here, const QuickHits &hits) {
  if (!hits.are || here != seen.alive) return false;
  put(live.hot, hits.now);
  return true;
}

// The long way: one copy for all points of a kernel. One lane of those that are `here` records; where it says that it
// wants room (wants_room), all of them call the function that finds some and records then.
__device__ CAIRN_GPU_NOT_INLINE inline void record_point(Live &live, LaneMask here, uint32_t location, bool looked) {
  take_turn(live.turns, lane_of_thread());
  // Of a warp some of whose lanes have left a loop, most events are as expected all the same.
  const Glance seen = glance(live);
  const QuickHits hits = quick_hit(seen, here, location);
  if (hits.are) {
    put(live.hot, hits.now);
    return end_turn(live.turns, lane_of_thread(), 0);
  }
  Recording recording(live, Recording::HasTurn());
  recording.done(record_event(live, location, here, looked));
}
/// Events at `location` and the one after it, with nothing between them.
__device__ CAIRN_GPU_NOT_INLINE inline void record_branch(Live &live, LaneMask here, LaneMask taken, uint32_t location,
                                                          bool looked) {
  Recording recording(live);
  const bool may = may_record(live, 2 * Coder::kMostWords, looked);
  if (may) {
    CAIRN_GPU_ROLLED for (uint32_t i = 0; i < 2; ++i) record_event(live, location + i, i == 0 ? here : taken, true);
  }
  recording.done(may);
}
__device__ CAIRN_GPU_NOT_INLINE inline void record_values(Live &live, LaneMask here, uint32_t location, ValueType type,
                                                          bool looked) {
  Recording recording(live);
  recording.done(record_value_event(live, location, here, type, looked));
}
/// Gives true. Lanes that have nothing to do here would return before the others if there were nothing to give.
__device__ CAIRN_GPU_NOT_INLINE inline bool find_room_for(Live &live, LaneMask here, uint32_t most) {
  if (leads(here)) {
    const Recording recording(live);
    find_room(live, most);
  }
  return !look_at(live.hot).is_nothing();
}
/// For all that are `here`, together.
template <typename Record>
__device__ inline void record_slowly(Live &live, LaneMask here, uint32_t most, const Record &record) {
  if (leads(here)) record(false);
  while (wants_room(live.turns, leader_of(here))) {
    if (find_room_for(live, here, most) && leads(here)) record(true);
  }
}
__device__ CAIRN_GPU_NOT_INLINE inline void leave(Live &live, LaneMask here) {
  cairn_gpu_clock *const clock = live.home == nullptr ? live.only_clock : live.home->head.clock;
  if (clock != nullptr) end_clock(*clock);
  if (live.home == nullptr) return;
  Recording recording(live);
  recording.leave(here);
}

/// The kernel's part of the trace, for as long as the calling thread is in it. To be made first in every kernel from
/// which points can be reached, by all lanes together, with an empty Trace too.
class KernelScope {
 public:
  __device__ explicit KernelScope(const Trace &trace) {
    const LaneMask all = lanes_at_begin();
    begin(trace.buffers, all);
    stay_together(all);
  }
  __device__ ~KernelScope() {
    Live &live = this_warp();
    if (live.home == nullptr && live.only_clock == nullptr) return;
    const LaneMask here = lanes_leaving();
    if (leads(here)) leave(live, here);
  }
  KernelScope(const KernelScope &) = delete;
  KernelScope &operator=(const KernelScope &) = delete;

 private:
  __device__ CAIRN_GPU_NOT_INLINE static void begin(Buffers *buffers, LaneMask all) {
    Live &live = this_warp();
    const uint32_t thread = thread_in_block();
    const uint32_t lane = ones(all & lanes_before());
    const uint32_t block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    const bool traced = buffers != nullptr && block >= buffers->first_block && block < buffers->end_block;
    const uint32_t index = traced ? (block - buffers->first_block) * buffers->warps_per_block + thread / kLanes : 0;
    if (!traced || index % buffers->one_in != 0) {
      if (lane == 0) no_events(live, nullptr);
      return;
    }
    const uint32_t place = index / buffers->one_in;
    cairn_gpu_clock *const clock = buffers->clocks == nullptr ? nullptr : buffers->clocks + place;
    if (clock != nullptr && lane == 0) begin_clock(*clock);
    TracedWarp &warp = static_cast<TracedWarp *>(buffers->warps)[place];
    const uint32_t number = block * buffers->warps_per_block + thread / kLanes;
    if (buffers->clocks_only != 0) {
      if (lane == 0) {
        no_events(live, clock);
        leave_empty(warp, buffers, number, all);
      }
      return;
    }
    begin_warp(live, warp, buffers, number, all, lane, ones(all));
    if (lane == 0) warp.head.clock = clock;
  }
  __device__ static void no_events(Live &live, cairn_gpu_clock *clock) {
    live.home = nullptr;
    live.only_clock = clock;
  }
};

#if defined(CAIRN_GPU_EMULATOR)
/// Not on the host. Where the warp is not recorded, points are still where lanes let others have their turn.
inline bool is_traced() {
  if (!emulator::in_kernel()) return false;
  if (this_warp().home != nullptr) return true;
  emulator::pause();
  return false;
}
#endif

/// On the host, where functions for both sides run as well, nothing.
__host__ __device__ inline void point(uint32_t location) {
#if defined(CAIRN_GPU_EMULATOR) || defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#if defined(CAIRN_GPU_EMULATOR)
  if (!is_traced()) return;
#endif
  Live &live = this_warp();
  const LaneMask here = lanes_here(location);
  const Glance seen = glance(live);
  if (seen.home == nullptr) return;
  if (!may_ask(here)) return;
  if (put_hits(live, seen, here, quick_hit(seen, here, location))) return;
  record_slowly(live, here, Coder::kMostWords, [&](bool looked) { record_point(live, here, location, looked); });
#else
  (void)location;
#endif
}

/// Records who asks, and at the next location who of them goes in; gives `condition`.
__host__ __device__ inline bool branch(uint32_t location, bool condition) {
#if defined(CAIRN_GPU_EMULATOR) || defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#if defined(CAIRN_GPU_EMULATOR)
  if (!is_traced()) return condition;
#endif
  Live &live = this_warp();
  const LaneMask here = lanes_here(location);
  const Glance seen = glance(live);
  if (seen.home == nullptr) return condition;
  const LaneMask taken = lanes_for(here, condition);
  if (!may_ask(here)) return condition;
  if (put_hits(live, seen, here, quick_hits(seen, here, taken, location))) return condition;
  record_slowly(live, here, 2 * Coder::kMostWords,
                [&](bool looked) { record_branch(live, here, taken, location, looked); });
#else
  (void)location;
#endif
  return condition;
}

/// A value as its bits, in 32 or 64 of them.
template <typename T>
CAIRN_GPU_BOTH uint64_t value_bits(const T &value) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<uint64_t>(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "float or double");
    std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t> bits = 0;
    memcpy(&bits, &value, sizeof value);
    return bits;
  } else {
    static_assert(std::is_integral_v<T> || std::is_enum_v<T>, "a value is a number, an enumerator or a pointer");
    const auto bits = static_cast<uint64_t>(value);
    return sizeof(T) == 8 ? bits : static_cast<uint32_t>(bits);
  }
}
template <typename T>
constexpr ValueType kValueType = std::is_floating_point_v<T> ? (sizeof(T) == 8 ? ValueType::f64 : ValueType::f32)
                                 : std::is_integral_v<T> &&std::is_signed_v<T>
                                     ? (sizeof(T) == 8 ? ValueType::i64 : ValueType::i32)
                                     : (sizeof(T) == 8 ? ValueType::u64 : ValueType::u32);

/// As `point`, with a value of each lane; gives `value`. The program's table must have the location as Kind::value.
template <typename T>
__host__ __device__ inline T value_point(uint32_t location, T value) {
#if defined(CAIRN_GPU_EMULATOR) || defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#if defined(CAIRN_GPU_EMULATOR)
  if (!is_traced()) return value;
#endif
  Live &live = this_warp();
  if (live.home == nullptr) return value;
  WarpValues<LaneMask> *values = values_of(*live.home);
  if (values == nullptr) {
    point(location);
    return value;
  }
  values->lane[lane_of_thread()] = value_bits(value);
  const LaneMask here = lanes_here(location);
  see_values(here);
  if (!may_ask(here)) return value;
  record_slowly(live, here, Coder::kMostWords + kMostValueWords<LaneMask>,
                [&](bool looked) { record_values(live, here, location, kValueType<T>, looked); });
#else
  (void)location;
#endif
  return value;
}

/// What lies there, for a lane.
CAIRN_GPU_BOTH Access access_to(const volatile void *place, size_t bytes) {
  Access access = {reinterpret_cast<uint64_t>(place),
                   static_cast<uint32_t>(bytes < Access::kMostBytes ? bytes : Access::kMostBytes), Space::global};
#if defined(CAIRN_GPU_EMULATOR)
  const emulator::Where where = emulator::where(const_cast<const void *>(place));
  access.space = where.memory == emulator::Where::shared  ? Space::shared
                 : where.memory == emulator::Where::stack ? Space::local
                                                          : Space::global;
  if (access.space == Space::shared) access.address = where.offset;
#elif defined(__CUDA_ARCH__)
  const void *at = const_cast<const void *>(place);
  if (__isShared(at)) {
    access.space = Space::shared;
    access.address = __cvta_generic_to_shared(at);
  } else if (!__isGlobal(at)) {
    access.space = __isLocal(at) ? Space::local : Space::other;
  }
#elif defined(__HIP_DEVICE_COMPILE__)
  const void *at = const_cast<const void *>(place);
  if (__builtin_amdgcn_is_shared((const __attribute__((address_space(0))) void *)at)) {
    access.space = Space::shared;
    access.address &= UINT32_MAX;
  } else if (__builtin_amdgcn_is_private((const __attribute__((address_space(0))) void *)at)) {
    access.space = Space::local;
  }
#endif
  return access;
}

/// As `value_point`, of what is read or written there; gives `place` itself. The program's table must have the location
/// as one of the kinds of accesses.
template <typename T>
__host__ __device__ inline T &access_point(uint32_t location, T &place) {
#if defined(CAIRN_GPU_EMULATOR) || defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  value_point(location, bits_of(access_to(__builtin_addressof(place), sizeof place)));
#else
  (void)location;
#endif
  return place;
}
/// The same by the address, which it gives.
template <typename T>
__host__ __device__ inline T *access_through(uint32_t location, T *place) {
  access_point(location, *place);
  return place;
}

}  // namespace cairn::gpu

#endif
