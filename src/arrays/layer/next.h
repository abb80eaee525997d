// next_function: what would have been called without this layer: the next definition of a name behind this library, be
// it another tool's or the library's own. Looked up once.
#pragma once

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace cairn::arrays {

/// Ends the program if there is none: whoever calls a function of PnetCDF or MPI has its library.
template <typename F>
F *next_function(F *, const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) {
    fprintf(stderr, "cairn arrays: %s was called, but no library behind libcairn-arrays.so has it\n", name);
    abort();
  }
  return reinterpret_cast<F *>(found);
}

}  // namespace cairn::arrays

/// The function NAME behind this library.
#define CAIRN_NEXT(NAME)                                                                                    \
  ([]() {                                                                                                   \
    static const auto found = ::cairn::arrays::next_function(static_cast<decltype(&NAME)>(nullptr), #NAME); \
    return found;                                                                                           \
  }())
