// Inside the emulator: a block's shared memory, put aside while another block runs. Under the emulator `__shared__` is
// thread-local, so it is the thread-local data of the program itself, and what `extern __shared__` names.
//
// Owned by the launch. The running lane's pointer is among the data: it is left as it is. Cost: two copies a turn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cairn::emulator {

/// The calling thread's own data of the main program, in which what is `__shared__` lies.
std::span<uint8_t> thread_local_data();

class SharedImage {
 public:
  /// As it is now, with the first `dynamic_bytes` at `dynamic`.
  SharedImage(uint8_t *dynamic, size_t dynamic_bytes);
  /// Back to where the program sees it.
  void put() const;
  /// As it is now, again.
  void take();

 private:
  uint8_t *dynamic_;
  std::vector<uint8_t> dynamic_copy_;
  std::vector<uint8_t> copy_;
};

}  // namespace cairn::emulator
