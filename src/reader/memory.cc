// Memory that cannot be had. Without exceptions nothing can go on: the module ends, and says how much it was.
#include <cstdlib>
#include <new>
#ifdef __wasm__
#include <__verbose_abort>
#endif

#include "reader/reader.h"

#ifdef __wasm__
namespace {

size_t missing = 0;

void *take(size_t bytes) {
  void *block = std::malloc(bytes == 0 ? 1 : bytes);
  if (block != nullptr) return block;
  missing = bytes;
  __builtin_trap();
}

}  // namespace

void *operator new(size_t bytes) { return take(bytes); }
void *operator new[](size_t bytes) { return take(bytes); }
void operator delete(void *block) noexcept { std::free(block); }
void operator delete[](void *block) noexcept { std::free(block); }
void operator delete(void *block, size_t /*bytes*/) noexcept { std::free(block); }
void operator delete[](void *block, size_t /*bytes*/) noexcept { std::free(block); }

uint32_t reader_wanted_memory() { return static_cast<uint32_t>(missing); }

// What LLVM's library does where something cannot be: it would print, which takes all of printf.
void std::__libcpp_verbose_abort(const char * /*format*/, ...) { __builtin_trap(); }
extern "C" void abort_message(const char * /*format*/, ...) { __builtin_trap(); }
#else
uint32_t reader_wanted_memory() { return 0; }
#endif
