// CUDA's atomic functions, for the emulator, of whatever scope. Lanes run one at a time, so that what is between two
// waits is atomic; where a lane spins, the others must get their turn.
#pragma once

#include "lane_functions.h"

template <typename T, typename F>
T cairn_atomic(T *at, F change) {
  cairn::emulator::pause();
  const T old = *at;
  *at = static_cast<T>(change(old));
  return old;
}
#define CAIRN_ATOMIC_NAMED(name, changed)                    \
  template <typename T>                                      \
  T name(T *at, std::type_identity_t<T> by) {                \
    return cairn_atomic(at, [&](T old) { return changed; }); \
  }                                                          \
  template <typename T>                                      \
  T name(volatile T *at, std::type_identity_t<T> by) {       \
    return name(const_cast<T *>(at), by);                    \
  }
#define CAIRN_ATOMIC(name, changed)         \
  CAIRN_ATOMIC_NAMED(name, changed)         \
  CAIRN_ATOMIC_NAMED(name##_block, changed) \
  CAIRN_ATOMIC_NAMED(name##_system, changed)
CAIRN_ATOMIC(atomicAdd, old + by)
CAIRN_ATOMIC(atomicSub, old - by)
CAIRN_ATOMIC(atomicMin, by < old ? by : old)
CAIRN_ATOMIC(atomicMax, old < by ? by : old)
CAIRN_ATOMIC(atomicAnd, old &by)
CAIRN_ATOMIC(atomicOr, old | by)
CAIRN_ATOMIC(atomicXor, old ^ by)
CAIRN_ATOMIC(atomicExch, ((void)old, by))
CAIRN_ATOMIC(atomicInc, old >= by ? 0 : old + 1)
CAIRN_ATOMIC(atomicDec, old == 0 || old > by ? by : old - 1)
#undef CAIRN_ATOMIC
#undef CAIRN_ATOMIC_NAMED
#define CAIRN_ATOMIC_CAS(name)                                                              \
  template <typename T>                                                                     \
  T name(T *at, std::type_identity_t<T> expected, std::type_identity_t<T> value) {          \
    return cairn_atomic(at, [&](T old) { return old == expected ? value : old; });          \
  }                                                                                         \
  template <typename T>                                                                     \
  T name(volatile T *at, std::type_identity_t<T> expected, std::type_identity_t<T> value) { \
    return name(const_cast<T *>(at), expected, value);                                      \
  }
CAIRN_ATOMIC_CAS(atomicCAS)
CAIRN_ATOMIC_CAS(atomicCAS_block)
CAIRN_ATOMIC_CAS(atomicCAS_system)
#undef CAIRN_ATOMIC_CAS
