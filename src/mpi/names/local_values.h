// LocalValues: what the named constants of MPI are in the library that is recorded, and how large its types are. In the
// arena, so that who reads it from outside needs no MPI. Written when the recorder is attached, then only read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "spec/ids.h"
#include "spec/spec.h"

namespace cairn::recorder {

struct LocalValues {
  struct Constant {
    uint64_t word;  ///< the value as an argument's word
    bool present;   ///< the library has it
  };
  Constant constants[spec::constant_id::kCount];
  uint32_t handle_size;  ///< of every handle but MPI_File, which is a pointer
  uint32_t status_size;

  /// The id of the constant of `domain` that has this value, or -1.
  [[nodiscard]] int constant_of(uint8_t domain, uint64_t value) const {
    if (domain == 0) return -1;
    for (const uint16_t id : spec::domain(domain)) {
      if (constants[id].present && constants[id].word == value) return id;
    }
    return -1;
  }
  /// Bytes of one element of a parameter in memory.
  [[nodiscard]] size_t element_size(const spec::Parameter &parameter) const {
    switch (parameter.element) {
      case spec::Element::none:
      case spec::Element::character:
        return 1;
      case spec::Element::i32:
        return 4;
      case spec::Element::i64:
      case spec::Element::f64:
      case spec::Element::pointer:
        return 8;
      case spec::Element::handle:
        return parameter.kind == spec::Kind::file ? sizeof(void *) : handle_size;
      case spec::Element::status:
        return status_size;
    }
    return 1;
  }
  /// Its value as a word.
  [[nodiscard]] uint64_t element_word(const spec::Parameter &parameter, const void *array, size_t index) const {
    const size_t size = element_size(parameter);
    const auto *at = static_cast<const uint8_t *>(array) + index * size;
    if (size == 4) {
      int32_t value = 0;
      memcpy(&value, at, sizeof value);
      return static_cast<uint64_t>(int64_t{value});
    }
    if (size == 8) {
      uint64_t value = 0;
      memcpy(&value, at, sizeof value);
      return value;
    }
    return *at;
  }
};

}  // namespace cairn::recorder
