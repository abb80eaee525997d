#include "mpi/names/python_frames.h"

#include <dlfcn.h>

#include <atomic>

#include "mpi/names/dl_error.h"
#include "mpi/names/spin_lock.h"

namespace cairn::recorder::cpython {
namespace {

constexpr unsigned long kVersion = 0x030b;  // major and minor

/// The table of locations (CPython's Objects/locations.md): entries of which the first byte alone has its highest bit.
class Locations {
 public:
  Locations(const uint8_t *table, size_t size) : at_(table), end_(table + size) {}

  [[nodiscard]] bool at_end() const { return at_ >= end_; }
  [[nodiscard]] const uint8_t *at() const { return at_; }
  /// How many instructions the next entry is of; adds to the line what it says.
  size_t next(int64_t *line) {
    constexpr int kOneLine = 10;
    constexpr int kNoColumns = 13;
    constexpr int kLong = 14;
    const uint8_t first = *at_++;
    const int kind = first >> 3 & 15;
    if (kind >= kOneLine && kind < kNoColumns) *line += kind - kOneLine;
    if (kind == kNoColumns || kind == kLong) *line += signed_number();
    while (at_ < end_ && (*at_ & 0x80) == 0) ++at_;
    return (first & 7U) + 1;
  }

 private:
  int64_t signed_number() {
    uint64_t value = 0;
    for (unsigned shift = 0; at_ < end_ && (*at_ & 0x80) == 0 && shift < 60; shift += 6) {
      const uint8_t byte = *at_++;
      value |= uint64_t{byte & 0x3fU} << shift;
      if ((byte & 0x40) == 0) break;
    }
    const auto magnitude = static_cast<int64_t>(value >> 1);
    return (value & 1) != 0 ? -magnitude : magnitude;
  }

  const uint8_t *at_;
  const uint8_t *end_;
};

uint32_t character(const uint8_t *from, unsigned bytes_each, size_t i) {
  switch (bytes_each) {
    case 1:
      return from[i];
    case 2:
      return reinterpret_cast<const uint16_t *>(from)[i];
    default:
      return reinterpret_cast<const uint32_t *>(from)[i];
  }
}

/// At most 4 bytes; gives how many.
size_t encode(uint32_t character, char *to) {
  constexpr uint32_t kUndecoded = 0xdc00;  // "surrogateescape"
  if (character >= kUndecoded + 0x80 && character <= kUndecoded + 0xff)
    character -= kUndecoded;
  else if (character >= 0x80) {
    const size_t size = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    for (size_t i = size - 1; i > 0; --i, character >>= 6) to[i] = static_cast<char>(0x80 | (character & 0x3f));
    to[0] = static_cast<char>((0xf00U >> size & 0xf0U) | character);
    return size;
  }
  to[0] = static_cast<char>(character);
  return 1;
}

}  // namespace

const Interpreter *Interpreter::find() {
  static constinit Interpreter found = {};
  static constinit SpinLock lock;
  static constinit std::atomic<bool> is_there = false;
  if (is_there.load(std::memory_order_acquire)) return &found;
  const KeptDlError kept;
  const auto symbol = [](const char *name) { return dlsym(RTLD_DEFAULT, name); };
  const auto *version = static_cast<const unsigned long *>(symbol("Py_Version"));
  if (version == nullptr || *version >> 16 != kVersion) return nullptr;
  Interpreter interpreter = {reinterpret_cast<int (*)()>(symbol("Py_IsInitialized")),
                             reinterpret_cast<const ThreadState *(*)()>(symbol("PyGILState_GetThisThreadState")),
                             symbol("PyCode_Type")};
  if (interpreter.is_initialized == nullptr || interpreter.state_of_this_thread == nullptr ||
      interpreter.code_type == nullptr) {
    return nullptr;
  }
  const SpinGuard guard(lock);
  if (is_there.load(std::memory_order_relaxed)) return &found;
  found = interpreter;
  is_there.store(true, std::memory_order_release);
  return &found;
}

Line line_of(const Code &code, size_t place) {
  int64_t line = code.first_line;
  const uint8_t *table = code.locations->data;
  Locations locations(table, static_cast<size_t>(code.locations->size));
  for (size_t passed = 0; !locations.at_end();) {
    passed += locations.next(&line);
    if (passed > place) break;
  }
  return {line, static_cast<size_t>(locations.at() - table)};
}

const uint8_t *characters(const Unicode &text) {
  if (!text.is_compact()) return nullptr;
  const auto *ascii = reinterpret_cast<const uint8_t *>(&text.utf8_length);
  return text.is_ascii() ? ascii : reinterpret_cast<const uint8_t *>(&text + 1);
}

bool copy_text(const Unicode &text, char *to, size_t room) {
  const uint8_t *from = characters(text);
  if (from == nullptr || room == 0) return false;
  size_t used = 0;
  for (size_t i = 0; i < static_cast<size_t>(text.length); ++i) {
    char bytes[4];
    const uint32_t next = character(from, text.bytes_each(), i);
    const size_t size = encode(next, bytes);
    if (next == 0 || used + size >= room) break;
    for (size_t k = 0; k < size; ++k) to[used++] = bytes[k];
  }
  to[used] = '\0';
  return used != 0;
}

}  // namespace cairn::recorder::cpython
