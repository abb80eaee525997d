// What a reader of a file lets its bytes stand for: few may name much, but not so much that reading them would be a way
// to take all memory. A writer asks the same, and tells what would not be allowed in full, value by value: so whatever
// was written can be read. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cairn::trace {

/// So much whatever the bytes are: of values, 32 MiB.
constexpr uint64_t kFreely = uint64_t{1} << 22;

/// Values, bytes or rows that so many bytes of a section may have led to.
constexpr uint64_t most_after(size_t position) { return kFreely + 1000 * static_cast<uint64_t>(position); }

/// Memory that what is made of a file of so many bytes may take, in all. Irregular programs make traces that take up to
/// 300 times their bytes, and a quarter of a gigabyte is what the arrays may need that kFreely allows.
constexpr uint64_t memory_for(uint64_t file_bytes) { return (uint64_t{256} << 20) + 1024 * file_bytes; }

/// How much the bytes of one section have stood for so far.
class StoodFor {
 public:
  [[nodiscard]] bool allows(uint64_t more, size_t position) const {
    const uint64_t most = most_after(position);
    return so_far_ <= most && more <= most - so_far_;
  }
  /// False if that is too much.
  bool add(uint64_t more, size_t position) {
    const bool allowed = allows(more, position);
    if (allowed) so_far_ += more;
    return allowed;
  }

 private:
  uint64_t so_far_ = 0;
};

}  // namespace cairn::trace
