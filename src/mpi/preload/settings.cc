// What the process was given of CAIRN_ variables when it began: a program may clear its environment before it calls
// MPI, and one that is called from .preinit_array sees none yet.
//
// Copied once, by a constructor or whoever asks before it has run; read by any thread.
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mpi/preload/state.h"

namespace cairn::preload {
namespace {

constexpr const char *kPrefix = "CAIRN_";
constexpr size_t kPrefixSize = 6;

const char *settings;  ///< NAME=value, each ended by a NUL, and an empty one
bool taken;

bool is_setting(const char *text) { return strncmp(text, kPrefix, kPrefixSize) == 0; }

__attribute__((constructor)) void take_settings() {
  if (environ == nullptr || __atomic_exchange_n(&taken, true, __ATOMIC_ACQ_REL)) return;
  size_t size = 1;
  for (char **each = environ; *each != nullptr; ++each) size += is_setting(*each) ? strlen(*each) + 1 : 0;
  if (size == 1) return;
  void *memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  auto *at = static_cast<char *>(memory);
  for (char **each = environ; *each != nullptr; ++each) {
    if (is_setting(*each)) at = stpcpy(at, *each) + 1;
  }
  __atomic_store_n(&settings, static_cast<const char *>(memory), __ATOMIC_RELEASE);
}

}  // namespace

bool has_begun() {
  take_settings();
  return __atomic_load_n(&taken, __ATOMIC_ACQUIRE);
}

const char *setting(const char *name) {
  if (const char *now = getenv(name); now != nullptr) return now;
  if (!has_begun()) return nullptr;
  const size_t length = strlen(name);
  const char *each = __atomic_load_n(&settings, __ATOMIC_ACQUIRE);
  for (; each != nullptr && *each != '\0'; each += strlen(each) + 1) {
    if (strncmp(each, name, length) == 0 && each[length] == '=') return each + length + 1;
  }
  return nullptr;
}

}  // namespace cairn::preload
