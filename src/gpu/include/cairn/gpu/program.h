// What `cairn instrument` says of a source file: its trace points, its kernels, and which point can follow which.
// The same in memory as the structures of collect.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collect.h"

namespace cairn::gpu {

/// What a trace point stands at. The numbers stand in files.
enum class Kind : uint8_t {
  point,  ///< one put there by hand
  entry,
  then,
  otherwise,
  loop,
  label,
  ternary,
  short_circuit,
  branch,  ///< the lanes that ask for a condition
  taken,   ///< those for which it holds; the id after the branch's
  value,   ///< a point where each lane tells a value
  load,    ///< where each lane tells what it is about to read, as access_bits has it (access.h)
  store,   ///< to write
  update,  ///< to read and then write
  atomic,  ///< to change in one go
};
constexpr uint8_t kKinds = 15;
/// Whether lanes tell of memory at points of this kind; and whether they tell anything.
constexpr bool is_access(Kind kind) { return kind > Kind::value; }
constexpr bool has_values(Kind kind) { return kind >= Kind::value; }

struct Location {
  uint16_t id;
  Kind kind;
  const char *function;
  const char *file;
  uint32_t line;
  uint32_t column = 0;  ///< of an access, counted from 1; 0: not told
};

struct Program {
  const char *file;
  uint64_t source_hash;
  const Location *locations;
  uint32_t location_count;
  const char *const *kernels;
  uint32_t kernel_count;
  const uint16_t *successors;
};

static_assert(sizeof(Location) == sizeof(cairn_gpu_location) && sizeof(Program) == sizeof(cairn_gpu_program));
static_assert(offsetof(Location, line) == offsetof(cairn_gpu_location, line) &&
              offsetof(Location, column) == offsetof(cairn_gpu_location, column) &&
              offsetof(Program, successors) == offsetof(cairn_gpu_program, successors));

}  // namespace cairn::gpu
