// An Arena over zeroed heap pages, for tests and benches.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>

#include "base/arena.h"

namespace cairn::grammar {

class TestMemory {
 public:
  explicit TestMemory(size_t size) : memory_(std::calloc(1, size + kPage), &std::free), arena_(aligned(), size) {}
  Arena &arena() { return arena_; }
  [[nodiscard]] uint8_t *bytes() const { return static_cast<uint8_t *>(aligned()); }

 private:
  static constexpr size_t kPage = 4096;
  [[nodiscard]] void *aligned() const {
    return reinterpret_cast<void *>((reinterpret_cast<uintptr_t>(memory_.get()) + kPage - 1) / kPage * kPage);
  }
  std::unique_ptr<void, decltype(&std::free)> memory_;
  Arena arena_;
};

}  // namespace cairn::grammar
