// Accesses to memory at trace points: where each lane reads or writes, how many bytes, and in which memory, as one
// value of 64 bits (values.h), so that addresses of neighbours cost nothing.
//
// The address says which memory it is when the kernel runs, whatever the type of the pointer. Arrays of a thread's own
// lie in registers or in memory that is laid out by lanes: of them nothing is to be learnt from addresses.
#pragma once

#include "portability.h"

namespace cairn::gpu {

/// The numbers stand in streams.
enum class Space : uint8_t {
  global,
  shared,  ///< of the block: addresses count from where that begins
  local,   ///< the thread's own
  other,   ///< constants, a kernel's arguments
};

/// What a lane is about to touch.
struct Access {
  static constexpr uint32_t kAddressBits = 52;
  static constexpr uint32_t kSizeBits = 10;
  static constexpr uint64_t kMostBytes = (uint64_t{1} << kSizeBits) - 1;  ///< larger ones are told as so many
  uint64_t address = 0;
  uint32_t bytes = 0;
  Space space = Space::global;
};

CAIRN_GPU_BOTH uint64_t bits_of(const Access &access) {
  return (access.address & ((uint64_t{1} << Access::kAddressBits) - 1)) |
         static_cast<uint64_t>(access.bytes) << Access::kAddressBits |
         static_cast<uint64_t>(access.space) << (Access::kAddressBits + Access::kSizeBits);
}

CAIRN_GPU_BOTH Access access_of(uint64_t bits) {
  return {bits & ((uint64_t{1} << Access::kAddressBits) - 1),
          static_cast<uint32_t>(bits >> Access::kAddressBits & Access::kMostBytes),
          static_cast<Space>(bits >> (Access::kAddressBits + Access::kSizeBits))};
}

}  // namespace cairn::gpu
