// pthread_create, pthread_join and its like, and pthread_detach, forwarded: so that a thread of the program has a
// number from when it is made, and not from when it happens to call MPI first.
//
// A number is the lowest one that is free when the thread is made, and is free again when the thread has been joined,
// or has ended if nobody is to join it. So the threads that a step makes have the numbers that those of the last step
// had, in whatever order they run. The thread that the process began with has number 0.
//
// A made thread enters the program's function through `begin`, which jumps there: it has no frame of its own. What is
// kept of a thread lies in a table; one that finds no place there, or that no recorder wants to be told of, is made as
// if this were not here. Nothing here allocates. Threads that C11's thrd_create makes, which does not come by here, get
// a number at their first MPI call.
//
// Any thread; `lock` is held for some steps through the table.
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "mpi/preload/state.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace cairn::preload {
namespace {

using Routine = void *(*)(void *);

struct Place {
  Routine routine;
  void *argument;
  pthread_t id;   ///< once `has_id`
  uint64_t made;  ///< which of all threads this one is
  bool taken;
  bool has_id;
  bool is_to_join;  ///< a join gives the place up
  bool has_ended;
};

constexpr uint32_t kPlaces = kCairnThreadNumbers;

Place places[kPlaces];
uint32_t used;  ///< no place from here on was ever taken
uint64_t made_count;
bool lock;
bool wanted;  ///< CAIRN_OUTPUT is set
pthread_key_t key;

constexpr uint32_t kNone = 0;
thread_local uint32_t own = kNone;  ///< 1 + the number of this thread

class Guard {
 public:
  Guard() {
    while (__atomic_exchange_n(&lock, true, __ATOMIC_ACQUIRE)) sched_yield();
  }
  ~Guard() { __atomic_store_n(&lock, false, __ATOMIC_RELEASE); }
  Guard(const Guard &) = delete;
  Guard &operator=(const Guard &) = delete;
};

CairnThreads *told() {
  CairnThreads *threads = __atomic_load_n(&shared.threads, __ATOMIC_ACQUIRE);
  return threads != nullptr && getpid() == shared.recording_process ? threads : nullptr;
}

/// nullptr: all are taken.
Place *take_place(Routine routine, void *argument, bool is_to_join) {
  const Guard guard;
  uint32_t number = 0;
  while (number < used && places[number].taken) ++number;
  if (number == kPlaces) return nullptr;
  if (number == used) ++used;
  places[number] = {routine, argument, {}, ++made_count, true, false, is_to_join, false};
  return &places[number];
}

uint32_t number_of(const Place *place) { return static_cast<uint32_t>(place - places); }

void give_up(Place *place) {
  const Guard guard;
  place->taken = false;
}

void *begin(void *argument) {
  auto *place = static_cast<Place *>(argument);
  const Routine routine = place->routine;
  void *const given = place->argument;
  own = number_of(place) + 1;
  pthread_setspecific(key, place);
  {
    const Guard guard;
    place->id = pthread_self();
    place->has_id = true;
  }
  return routine(given);
}

/// Before whoever joins it goes on.
void end(void *argument) {
  auto *place = static_cast<Place *>(argument);
  if (CairnThreads *threads = told()) threads->ends();
  const Guard guard;
  place->has_ended = true;
  if (place->is_to_join || number_of(place) == 0) return;  // destructors that run after this one may call MPI
  place->taken = false;
  own = kNone;
}

/// The place of a thread that can be joined, or has been; of several that had this id the first: another may have got
/// it since. nullptr: it has none.
Place *find(pthread_t id, bool has_ended) {
  Place *found = nullptr;
  for (uint32_t i = 0; i < used; ++i) {
    Place &each = places[i];
    if (!each.taken || !each.has_id || !each.is_to_join || each.has_ended < has_ended) continue;
    if (pthread_equal(each.id, id) != 0 && (found == nullptr || each.made < found->made)) found = &each;
  }
  return found;
}

void after_join(pthread_t id) {
  if (!wanted) return;
  Place *place = nullptr;
  {
    const Guard guard;
    place = find(id, true);
  }
  if (place == nullptr) return;
  if (CairnThreads *threads = told()) threads->joined(number_of(place));
  give_up(place);
}

bool can_be_joined(const pthread_attr_t *attributes) {
  int state = PTHREAD_CREATE_JOINABLE;
  return attributes == nullptr || pthread_attr_getdetachstate(attributes, &state) != 0 ||
         state == PTHREAD_CREATE_JOINABLE;
}

template <typename Function, typename... Rest>
int join(Function *&function, const char *name, pthread_t id, Rest... rest) {
  Function *const found = next_of(function, name);
  const int error = found == nullptr ? ENOSYS : found(id, rest...);
  if (error == 0) after_join(id);
  return error;
}

int (*next_create)(pthread_t *, const pthread_attr_t *, Routine, void *);
int (*next_join)(pthread_t, void **);
int (*next_tryjoin)(pthread_t, void **);
int (*next_timedjoin)(pthread_t, void **, const timespec *);
int (*next_clockjoin)(pthread_t, void **, clockid_t, const timespec *);
int (*next_detach)(pthread_t);

bool prepared;

__attribute__((constructor)) void prepare() {
  if (__atomic_exchange_n(&prepared, true, __ATOMIC_ACQ_REL)) return;
  if (setting("CAIRN_OUTPUT") == nullptr || setting("CAIRN_OFF") != nullptr) return;
  // A forked child is not recorded, and whoever held the lock is not in it.
  const auto in_child = [] { wanted = lock = false; };
  if (pthread_key_create(&key, end) != 0 || pthread_atfork(nullptr, nullptr, in_child) != 0) return;
  take_place(nullptr, nullptr, false);
  own = 1;
  wanted = true;
}

}  // namespace

void prepare_threads() { prepare(); }

uint32_t thread_number() {
  if (!wanted) return kCairnNoNumber;
  if (own == kNone) {
    Place *place = take_place(nullptr, nullptr, false);
    if (place == nullptr) return kCairnNoNumber;
    own = number_of(place) + 1;
  }
  pthread_setspecific(key, &places[own - 1]);
  return own - 1;
}

}  // namespace cairn::preload

using namespace cairn::preload;

EXPORTED int pthread_create(pthread_t *id, const pthread_attr_t *attributes, Routine routine, void *argument) {
  auto *function = next_of(next_create, "pthread_create");
  if (function == nullptr) return EAGAIN;
  // Threads of threads that are not the program's are none of its either.
  if (!wanted || own == kNone) return function(id, attributes, routine, argument);
  CairnThreads *const threads = told();
  if (threads != nullptr && !threads->is_the_programs()) return function(id, attributes, routine, argument);
  Place *const place = take_place(routine, argument, can_be_joined(attributes));
  if (place == nullptr) return function(id, attributes, routine, argument);
  const uint64_t made = place->made;
  if (threads != nullptr) threads->made(number_of(place));
  const int error = function(id, attributes, begin, place);
  if (error != 0) {
    if (threads != nullptr) threads->not_made(number_of(place));
    give_up(place);
    return error;
  }
  const Guard guard;
  // Where it has begun it has told that itself, and may have given back the memory that `id` is in.
  if (place->taken && place->made == made && !place->has_id) {
    place->id = *id;
    place->has_id = true;
  }
  return 0;
}

EXPORTED int pthread_join(pthread_t id, void **result) { return join(next_join, "pthread_join", id, result); }

EXPORTED int pthread_tryjoin_np(pthread_t id, void **result) {
  return join(next_tryjoin, "pthread_tryjoin_np", id, result);
}

EXPORTED int pthread_timedjoin_np(pthread_t id, void **result, const timespec *until) {
  return join(next_timedjoin, "pthread_timedjoin_np", id, result, until);
}

EXPORTED int pthread_clockjoin_np(pthread_t id, void **result, clockid_t clock, const timespec *until) {
  return join(next_clockjoin, "pthread_clockjoin_np", id, result, clock, until);
}

EXPORTED int pthread_detach(pthread_t id) {
  auto *function = next_of(next_detach, "pthread_detach");
  if (function == nullptr) return ENOSYS;
  if (wanted) {
    const Guard guard;
    if (Place *place = find(id, false)) {
      place->is_to_join = false;
      if (place->has_ended) place->taken = false;
    }
  }
  return function(id);
}
