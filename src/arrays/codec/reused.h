// Reused: an array in which a codec works, without values at first. Its memory is not given back to the system when it
// goes, but kept for the next one of this thread: fresh pages cost more than what most codecs do with them, box after
// box.
//
// A thread keeps at most 16 MiB, the last used, until it ends. With an address sanitizer nothing is kept, so that it
// sees what is out of bounds. Throws as `new` does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace cairn::codec {

struct ReusedMemory {
  uint8_t *at = nullptr;
  size_t size = 0;
};
/// At least so many bytes, aligned for any number.
ReusedMemory take_reused(size_t bytes);
void keep_reused(ReusedMemory memory) noexcept;

template <typename T>
class Reused {
  static_assert(std::is_trivial_v<T>);

 public:
  Reused() = default;
  explicit Reused(size_t count) : memory_(take_reused(count * sizeof(T))) {}
  Reused(Reused &&other) noexcept : memory_(std::exchange(other.memory_, {})) {}
  Reused &operator=(Reused &&other) noexcept {
    std::swap(memory_, other.memory_);
    return *this;
  }
  Reused(const Reused &) = delete;
  Reused &operator=(const Reused &) = delete;
  ~Reused() {
    if (memory_.at != nullptr) keep_reused(memory_);
  }
  [[nodiscard]] T *get() const { return reinterpret_cast<T *>(memory_.at); }
  T &operator[](size_t i) const { return get()[i]; }

 private:
  ReusedMemory memory_;
};

}  // namespace cairn::codec
