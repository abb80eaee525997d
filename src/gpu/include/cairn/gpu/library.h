// libcairn-gpu.so, loaded when the first kernel is traced: $CAIRN_GPU_LIBRARY, or the one that was installed with this
// header, or where the loader looks. Host only.
#pragma once

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "collect.h"

namespace cairn::gpu {

struct Library {
  decltype(&cairn_gpu_collect) collect = nullptr;
  decltype(&cairn_gpu_write) write = nullptr;
  // nullptr in a library that keeps no moments.
  decltype(&cairn_gpu_now) now = nullptr;
  decltype(&cairn_gpu_begin) begin = nullptr;  ///< nullptr in one that does not keep what is in flight
  decltype(&cairn_gpu_collect_at) collect_at = nullptr;
  decltype(&cairn_gpu_collect_clocks) collect_clocks = nullptr;      ///< likewise no clocks
  decltype(&cairn_gpu_collect_untraced) collect_untraced = nullptr;  ///< likewise not why
};

/// nullptr if there is none; then stderr has said so.
inline const Library *library() {
  static const Library *const loaded = []() -> const Library * {
    const std::string header = __FILE__;  // PREFIX/include/cairn/gpu/library.h
    const size_t include = header.rfind("/include/cairn/");
    const std::string prefix = include == std::string::npos ? "" : header.substr(0, include);
    const char *named = std::getenv("CAIRN_GPU_LIBRARY");
    const std::string candidates[] = {named == nullptr ? "" : named, prefix + "/lib/libcairn-gpu.so",
                                      prefix + "/lib/x86_64-linux-gnu/libcairn-gpu.so",
                                      prefix + "/build/lib/libcairn-gpu.so", "libcairn-gpu.so"};
    void *handle = nullptr;
    for (const std::string &path : candidates) {
      if (!path.empty() && handle == nullptr) handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    }
    if (handle == nullptr) {
      std::fprintf(stderr,
                   "cairn: libcairn-gpu.so was not found, so kernels are not traced; say where it is with "
                   "CAIRN_GPU_LIBRARY\n");
      return nullptr;
    }
    auto *made = new Library;
    const auto open = reinterpret_cast<decltype(&cairn_gpu_open)>(dlsym(handle, "cairn_gpu_open"));
    made->collect = reinterpret_cast<decltype(&cairn_gpu_collect)>(dlsym(handle, "cairn_gpu_collect"));
    made->write = reinterpret_cast<decltype(&cairn_gpu_write)>(dlsym(handle, "cairn_gpu_write"));
    made->now = reinterpret_cast<decltype(&cairn_gpu_now)>(dlsym(handle, "cairn_gpu_now"));
    made->begin = reinterpret_cast<decltype(&cairn_gpu_begin)>(dlsym(handle, "cairn_gpu_begin"));
    made->collect_at = reinterpret_cast<decltype(&cairn_gpu_collect_at)>(dlsym(handle, "cairn_gpu_collect_at"));
    made->collect_clocks =
        reinterpret_cast<decltype(&cairn_gpu_collect_clocks)>(dlsym(handle, "cairn_gpu_collect_clocks"));
    made->collect_untraced =
        reinterpret_cast<decltype(&cairn_gpu_collect_untraced)>(dlsym(handle, "cairn_gpu_collect_untraced"));
    if (open == nullptr || made->collect == nullptr || made->write == nullptr || open(CAIRN_GPU_COLLECT_VERSION) != 0) {
      return nullptr;
    }
    return made;
  }();
  return loaded;
}

}  // namespace cairn::gpu
