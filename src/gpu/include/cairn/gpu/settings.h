// What the environment says of tracing kernels. Host only; read once, when the first kernel is launched.
//
//   CAIRN_GPU=off           no kernel is traced
//   CAIRN_GPU_MEMORY=2G     of a device, for all launches in flight (an eighth of what is free, at most 4G);
//                           where streams are drained of the host, for each launch (16M)
//   CAIRN_GPU_FULL=wait     a launch for which there is no memory waits for one in flight to end; `skip`: is not traced
//   CAIRN_GPU_POLICY=stop   keep the beginning of each warp; `ring`: its end; `drain`: all, through the host
//   CAIRN_GPU_RING=8x256    chunks of a warp, words of a chunk
//   CAIRN_GPU_KERNELS=a,b*  only kernels of these names (`*` at the end: any that begin so)
//   CAIRN_GPU_BLOCKS=0-99   only these blocks
//   CAIRN_GPU_WARPS=4       only one warp in 4
//   CAIRN_GPU_CLOCKS=1      also when each warp began and ended, and on which multiprocessor; `only`: nothing else
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "stream.h"

namespace cairn::gpu {

struct Settings {
  bool on = true;
  uint64_t memory = 0;  ///< 0: not said
  bool wait = true;     ///< where launches in flight have all of it
  Policy policy = Policy::stop;
  uint32_t ring_chunks = 8;
  uint32_t ring_words = 256;
  std::string kernels;
  uint32_t first_block = 0;
  uint32_t end_block = UINT32_MAX;
  uint32_t one_in = 1;
  bool clocks = false;       ///< of warps, too
  bool clocks_only = false;  ///< and no events

  /// Of the ring through which streams are drained.
  [[nodiscard]] uint32_t drain_slots() const {
    const uint64_t bytes = memory == 0 ? uint64_t{16} << 20 : memory;
    uint32_t slots = 16;
    while (slots < 1u << 24 && uint64_t{2} * slots * sizeof(DrainSlot) <= bytes) slots *= 2;
    return slots;
  }
  [[nodiscard]] bool traces(const char *kernel) const {
    if (!on) return false;
    if (kernels.empty()) return true;
    const std::string name = kernel == nullptr ? "" : kernel;
    for (size_t at = 0; at <= kernels.size();) {
      const size_t end = kernels.find(',', at) == std::string::npos ? kernels.size() : kernels.find(',', at);
      const std::string wanted = kernels.substr(at, end - at);
      const bool begins = !wanted.empty() && wanted.back() == '*';
      if (begins ? name.compare(0, wanted.size() - 1, wanted, 0, wanted.size() - 1) == 0 : name == wanted) return true;
      at = end + 1;
    }
    return false;
  }
};

/// What cannot be understood is told on stderr and left as it is without it.
inline const Settings &settings() {
  static const Settings *const read = [] {
    auto *made = new Settings;
    const auto complain = [](const char *name, const char *value, const char *as_in) {
      std::fprintf(stderr, "cairn: %s=%s is not understood; write it as in %s=%s\n", name, value, name, as_in);
    };
    const auto value_of = [](const char *name) {
      const char *value = std::getenv(name);
      return value == nullptr || *value == '\0' ? nullptr : value;
    };
    if (const char *value = value_of("CAIRN_GPU")) {
      made->on = std::strcmp(value, "off") != 0 && std::strcmp(value, "0") != 0;
    }
    if (const char *value = value_of("CAIRN_GPU_MEMORY")) {
      char unit = 0;
      unsigned long long size = 0;
      const int read_now = std::sscanf(value, "%llu%c", &size, &unit);
      const int shift = unit == 'K' ? 10 : unit == 'M' ? 20 : unit == 'G' ? 30 : 0;
      if (read_now < 1 || (read_now == 2 && shift == 0) || (size << shift) < 65536) {
        complain("CAIRN_GPU_MEMORY", value, "2G");
      } else {
        made->memory = size << shift;
      }
    }
    if (const char *value = value_of("CAIRN_GPU_FULL")) {
      made->wait = std::strcmp(value, "skip") != 0;
      if (made->wait && std::strcmp(value, "wait") != 0) complain("CAIRN_GPU_FULL", value, "skip");
    }
    if (const char *value = value_of("CAIRN_GPU_POLICY")) {
      if (std::strcmp(value, "ring") == 0) {
        made->policy = Policy::ring;
      } else if (std::strcmp(value, "drain") == 0) {
        made->policy = Policy::drain;
      } else if (std::strcmp(value, "stop") != 0) {
        complain("CAIRN_GPU_POLICY", value, "ring");
      }
    }
    if (const char *value = value_of("CAIRN_GPU_RING")) {
      unsigned chunks = 0;
      unsigned words = 0;
      if (std::sscanf(value, "%ux%u", &chunks, &words) != 2 || chunks < 2 || words < 64 || words > 65536) {
        complain("CAIRN_GPU_RING", value, "8x256");
      } else {
        made->ring_chunks = chunks;
        made->ring_words = words;
      }
    }
    if (const char *value = value_of("CAIRN_GPU_KERNELS")) made->kernels = value;
    if (const char *value = value_of("CAIRN_GPU_BLOCKS")) {
      unsigned first = 0;
      unsigned last = 0;
      const int read_now = std::sscanf(value, "%u-%u", &first, &last);
      if (read_now == 1) last = first;
      if (read_now < 1 || last < first) {
        complain("CAIRN_GPU_BLOCKS", value, "0-99");
      } else {
        made->first_block = first;
        made->end_block = last == UINT32_MAX ? last : last + 1;
      }
    }
    if (const char *value = value_of("CAIRN_GPU_WARPS")) {
      unsigned one_in = 0;
      if (std::sscanf(value, "%u", &one_in) != 1 || one_in == 0) {
        complain("CAIRN_GPU_WARPS", value, "4");
      } else {
        made->one_in = one_in;
      }
    }
    if (const char *value = value_of("CAIRN_GPU_CLOCKS")) {
      made->clocks_only = std::strcmp(value, "only") == 0;
      made->clocks = made->clocks_only || std::strcmp(value, "1") == 0;
      if (!made->clocks && std::strcmp(value, "0") != 0) complain("CAIRN_GPU_CLOCKS", value, "1");
    }
    return made;
  }();
  return *read;
}

}  // namespace cairn::gpu
