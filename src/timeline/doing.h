// Doing: the sorts of MPI calls that a timeline tells apart where it is not asked for functions or call sites.
// Constant data; any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cairn::timeline {

enum class Doing : uint8_t {
  outside,     ///< MPI, between the first call of a thread and its last
  messages,    ///< calls that send, receive or probe
  completion,  ///< calls that complete requests, whatever these are of
  collective,
  one_sided,  ///< calls on windows
  files,
  init,  ///< MPI_Init and MPI_Finalize
  other,
};
constexpr size_t kDoings = 8;
/// "outside MPI", …
const char *name_of(Doing doing);
Doing doing_of(uint32_t function);

}  // namespace cairn::timeline
