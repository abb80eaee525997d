// One body, compiled twice: for any CPU, and for those with AVX2 and BMI2, chosen when the program runs. Both give the
// same bytes. A body is marked CAIRN_BODY and called by on_this_cpu. What is written for AVX2 by hand is marked
// CAIRN_AVX2, and called where cpu_has_avx2.
#pragma once

#define CAIRN_BODY [[gnu::always_inline]] inline

#if defined(__x86_64__) && defined(__GNUC__)
#define CAIRN_HAS_AVX2 1
#define CAIRN_AVX2 [[gnu::target("avx2,bmi,bmi2,lzcnt,popcnt")]]
/// A step of a function that is marked so.
#define CAIRN_STEP CAIRN_AVX2 [[gnu::always_inline]] static inline
#endif

namespace cairn::codec {

/// Set by a test that compares both, before and after it calls a codec; nobody else writes it.
inline bool portable_only = false;

inline bool cpu_has_avx2() {
#ifdef CAIRN_HAS_AVX2
  static const bool has = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("bmi") != 0 &&
                          __builtin_cpu_supports("bmi2") != 0 && __builtin_cpu_supports("popcnt") != 0;
  return has && !portable_only;
#else
  return false;
#endif
}

#ifdef CAIRN_HAS_AVX2
template <auto body, typename... Arguments>
CAIRN_AVX2 auto with_avx2(Arguments &&...arguments) {
  return body(arguments...);
}
#endif

/// Calls `body` as it was compiled for this CPU.
template <auto body, typename... Arguments>
auto on_this_cpu(Arguments &&...arguments) {
#ifdef CAIRN_HAS_AVX2
  if (cpu_has_avx2()) return with_avx2<body>(arguments...);
#endif
  return body(arguments...);
}

}  // namespace cairn::codec
