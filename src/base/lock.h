// Lock, and Locked, which holds one as long as it lives: of std::mutex; where a program can have one thread only
// (WebAssembly), neither is anything.
#pragma once

#ifdef __STDCPP_THREADS__
#include <mutex>
#endif

namespace cairn {

#ifdef __STDCPP_THREADS__
using Lock = std::mutex;
using Locked = std::lock_guard<Lock>;
#else
struct Lock {};
struct [[maybe_unused]] Locked {
  explicit Locked(Lock & /*lock*/) {}
};
#endif

}  // namespace cairn
