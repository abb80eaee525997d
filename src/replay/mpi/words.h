// Arguments of MPI functions as 64-bit words: integers sign-extended, handles and pointers as they are. Included by
// what is compiled for one MPI library alone.
#pragma once

// Its old functions too: what a program called is called again.
#define OMPI_OMIT_MPI1_COMPAT_DECLS 0
#include <mpi.h>

#include <bit>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "replay/mpi_side.h"

namespace cairn::replay {

template <typename T>
Word word(T value) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<Word>(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::bit_cast<Word>(static_cast<double>(value));
  } else {
    return static_cast<Word>(static_cast<int64_t>(value));
  }
}

/// Of a parameter that is declared as `T`: a function is a pointer to it.
template <typename T>
std::decay_t<T> from_word(Word value) {
  if constexpr (std::is_pointer_v<std::decay_t<T>>) {
    return reinterpret_cast<std::decay_t<T>>(value);  // NOLINT(performance-no-int-to-ptr): that is what it was
  } else {
    return static_cast<T>(value);
  }
}

}  // namespace cairn::replay
