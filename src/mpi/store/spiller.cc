#include "mpi/store/spiller.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <ctime>

#include "mpi/store/descriptors.h"
#include "mpi/store/segments.h"
#include "mpi/store/small_blocks.h"

namespace cairn::recorder {
namespace {

constexpr size_t kStack = size_t{1} << 20;
/// Until a spool that refused is asked again, in seconds: twice as long each time.
constexpr time_t kFirstPause = 1;
constexpr time_t kLongestPause = 256;

enum class State : int { none, beginning, running, ending };
std::atomic<State> state = State::none;
/// A closed sequence is there as a whole.
std::atomic<bool> sequence_is_ready = false;
pthread_t spiller;
sem_t work;

void be_modest() {
  pthread_setname_np(pthread_self(), "cairn-recorder");
  const sched_param parameters = {};
  sched_setscheduler(0, SCHED_BATCH, &parameters);
}

/// False if something else woke the thread.
bool wait_for_work(const Process &of, time_t pause) {
  if (!of.spilling.spool_refuses.load()) return sem_wait(&work) == 0;
  timespec until = {};
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += pause;
  sem_timedwait(&work, &until);
  return true;
}

void *run(void *argument) {
  auto &of = *static_cast<Process *>(argument);
  be_modest();
  time_t pause = kFirstPause;
  for (;;) {
    if (!wait_for_work(of, pause)) continue;
    if (state.load() == State::ending) return nullptr;
    if (!has_own_descriptors() && !has_descriptors()) take_own_descriptors(true);
    for (RecordedThread *thread = of.threads.first.load(); thread != nullptr; thread = thread->next) {
      thread->timing.work();
    }
    if (!sequence_is_ready.exchange(false) && !of.spilling.spool_refuses.load()) continue;
    pause = of.spilling.spool_refuses.load() ? std::min(2 * pause, kLongestPause) : kFirstPause;
    const SmallBlocks blocks;
    write_closed(of);
  }
}

bool begin(Process &of) {
  pthread_attr_t attributes;
  if (sem_init(&work, 0, 0) != 0 || pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setstacksize(&attributes, kStack);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // inherited
  bool began = false;
  {
    const MakesThread makes;
    began = pthread_create(&spiller, &attributes, run, &of) == 0;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return began;
}

}  // namespace

bool wake_spiller(Process &of) {
  sequence_is_ready.store(true);
  if (wake_recorder(of)) return true;
  // Another thread may be beginning it for the times of calls. Who takes this back writes the sequence, and nobody
  // else.
  return !sequence_is_ready.exchange(false);
}

bool wake_recorder(Process &of) {
  State none = State::none;
  if (state.compare_exchange_strong(none, State::beginning)) {
    state.store(begin(of) ? State::running : State::none);
  }
  return state.load() == State::running && sem_post(&work) == 0;
}

void stop_spiller() {
  State running = State::running;
  if (!state.compare_exchange_strong(running, State::ending)) return;
  sem_post(&work);
  pthread_join(spiller, nullptr);
  state.store(State::none);
}

void forget_spiller() { state.store(State::none); }

}  // namespace cairn::recorder
