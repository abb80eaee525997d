// Posted: what the call that made a request asked for, to code its status against (status_code.h).
#pragma once

#include <cstdint>

namespace cairn::recorder {

/// What the status of a request carries.
enum class PostedKind : uint8_t {
  nothing,   ///< sends, collectives: no field of it means anything but error and cancelled
  bytes,     ///< file access: how much was moved
  envelope,  ///< receives: source, tag and bytes
  empty,     ///< no request: MPI's empty status
};

struct Posted {
  PostedKind kind;
  int32_t source;  ///< MPI_UNDEFINED: not known
  int32_t tag;
  int64_t bytes;  ///< -1: not known
};

constexpr Posted kEmptyStatus = {PostedKind::empty, 0, 0, 0};

}  // namespace cairn::recorder
