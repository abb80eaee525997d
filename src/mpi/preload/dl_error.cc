// dlerror, forwarded, so that the program finds what its own requests to the dynamic linker left, and nothing of ours.
//
// The linker keeps one error a thread, which the next request replaces or takes away. One that the program has not
// asked for is taken out before requests of ours and kept here as a text. Afterwards a request that is sure to fail
// stands in for it, since a request of the program must still take it away: dlerror gives the kept text where it finds
// the stand-in. What dlerror gave stays as it was until the program asks again.
//
// Each thread has its own; a text that there is no memory for is the stand-in's.
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/preload/state.h"

namespace cairn::preload {
namespace {

constexpr const char *kStandIn = "cairn_an_earlier_error";

struct Texts {
  char *kept;      ///< which the stand-in stands for
  char *given;     ///< what dlerror gave last
  unsigned depth;  ///< of requests of ours
};
constinit thread_local Texts texts = {};

char *(*next_dlerror)();
pthread_key_t key;
bool has_key;

void let_go(void *of_thread) {
  auto *ended = static_cast<Texts *>(of_thread);
  free(ended->kept);
  free(ended->given);
  ended->kept = ended->given = nullptr;
}

char *copy_of(const char *text) {
  if (has_key) pthread_setspecific(key, &texts);
  return strdup(text);
}

__attribute__((constructor)) void prepare() {
  if (next_dlerror != nullptr) return;
  has_key = pthread_key_create(&key, let_go) == 0;
  next_dlerror = reinterpret_cast<char *(*)()>(dlsym(RTLD_NEXT, "dlerror"));
}

}  // namespace

void keep_dl_error() {
  if (texts.depth++ != 0) return;
  if (next_dlerror == nullptr) prepare();
  const char *message = next_dlerror == nullptr ? nullptr : next_dlerror();
  if (message != nullptr && strstr(message, kStandIn) != nullptr) return;  // what it stands for is kept already
  free(texts.kept);
  texts.kept = message == nullptr ? nullptr : copy_of(message);
}

void restore_dl_error() {
  if (--texts.depth != 0 || next_dlerror == nullptr) return;
  next_dlerror();
  if (texts.kept != nullptr) static_cast<void>(dlsym(RTLD_DEFAULT, kStandIn));
}

}  // namespace cairn::preload

using namespace cairn::preload;

extern "C" __attribute__((visibility("default"))) char *dlerror() {
  if (next_dlerror == nullptr) prepare();
  char *message = next_dlerror == nullptr ? nullptr : next_dlerror();
  if (message == nullptr) return nullptr;
  free(texts.given);
  const bool stands_in = texts.kept != nullptr && strstr(message, kStandIn) != nullptr;
  texts.given = stands_in ? texts.kept : copy_of(message);
  if (!stands_in) free(texts.kept);
  texts.kept = nullptr;
  return texts.given == nullptr ? message : texts.given;
}
