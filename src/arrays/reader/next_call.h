// What this library stands in front of: the C library's own calls.
#pragma once

#include <dlfcn.h>
#include <sys/types.h>

namespace cairn::arrays {

/// What this library stands in front of; nullptr: the C library has no such function.
template <typename F>
F *next_call(const char *name) {
  return reinterpret_cast<F *>(dlsym(RTLD_NEXT, name));
}
#define CAIRN_CALL(TYPE, NAME)                       \
  ([]() {                                            \
    static auto *const call = next_call<TYPE>(NAME); \
    return call;                                     \
  }())

using OpenCall = int(const char *, int, mode_t);
using OpenAtCall = int(int, const char *, int, mode_t);
using CloseCall = int(int);

inline int close_for_real(int file) { return CAIRN_CALL(CloseCall, "close")(file); }

}  // namespace cairn::arrays
