// A program that is run with libcairn.so preloaded. The first argument says what it does; it ends with 0 if all went as
// it should. Linked with -DLATE it doesn't link MPI but loads a plugin that does.
#include "mpi/preload/preload.h"

#include <dirent.h>
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "mpi/preload/preload_test_mpi.h"

#define CHECK(condition)                                                            \
  do {                                                                              \
    if (!(condition)) {                                                             \
      fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
      _exit(1);                                                                     \
    }                                                                               \
  } while (false)

namespace {

bool is_in(const void *address, const char *function) {
  Dl_info info = {};
  return dladdr(address, &info) != 0 && info.dli_sname != nullptr && strcmp(info.dli_sname, function) == 0;
}

void check_seen(const Seen &seen, const char *by, const char *site) {
  for (int i = 0; i < 13; ++i) CHECK(seen.whole[i] == i + 1);
  for (int i = 0; i < 10; ++i) CHECK(seen.broken[i] == i + 1.5);
  CHECK(strcmp(seen.by, by) == 0);
  CHECK(is_in(seen.return_address, site));
}

/// The line that the preload left, or "".
std::string reason() {
  const std::string path = std::string(getenv("CAIRN_SPOOL")) + "/unrecorded." + std::to_string(getpid());
  FILE *file = fopen(path.c_str(), "r");
  if (file == nullptr) return "";
  char line[512] = {};
  const bool got = fgets(line, sizeof line, file) != nullptr;
  fclose(file);
  unlink(path.c_str());
  return got ? line : "";
}

#ifdef LATE

/// MPI is loaded by a plugin and visible to nobody else.
void run(const std::string &what, const char *expected) {
  CHECK(what == "call");
  void *plugin = dlopen(PLUGIN, RTLD_NOW | RTLD_LOCAL);
  CHECK(plugin != nullptr);
  Dl_info info = {};
  CHECK(dladdr(dlsym(RTLD_DEFAULT, "PMPI_Init"), &info) != 0 && strstr(info.dli_fname, "libcairn.so") != nullptr);
  Seen *seen = nullptr;
  CHECK(reinterpret_cast<long (*)(Seen **)>(dlsym(plugin, "test_call"))(&seen) == 4711);
  check_seen(*seen, expected, "test_call");
}

#else

}  // namespace

extern "C" __attribute__((noinline, visibility("default"))) long call_site(int *with_errno) {
  errno = 77;
  const long result =
      MPI_Alltoallw(1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7, 7.5, 8, 8.5, 9, 9.5, 10, 10.5, 11, 12, 13);
  *with_errno = errno;
  return result;
}

extern "C" __attribute__((noinline, visibility("default"))) long fortran_call_site() {
  return mpi_alltoallw_(1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7, 7.5, 8, 8.5, 9, 9.5, 10, 10.5, 11, 12, 13);
}

#ifndef SERIAL
extern "C" __attribute__((noinline, visibility("default"))) long profiling_call_site() {
  return pmpi_alltoallw_(1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7, 7.5, 8, 8.5, 9, 9.5, 10, 10.5, 11, 12, 13);
}
#endif

namespace {

#ifndef SERIAL
/// What a binding calls by its PMPI_ name goes to the recorder, from the first call of the process on; what the program
/// calls by that name does not.
void profiling(const char *expected) {
  const bool recorded = strcmp(expected, "library") != 0;
  Seen *seen = nullptr;
  for (int round = 0; round < 2; ++round) {
    CHECK(profiling_call_site() == 4712);
    MPI_Get_processor_name(&seen);
    check_seen(*seen, expected, "pmpi_alltoallw_");
    if (recorded) CHECK(is_in(seen->fortran_site, "profiling_call_site") && seen->fortran_function == 36);
    memset(seen, 0, sizeof *seen);
    CHECK(PMPI_Alltoallw(1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8, 0, 9, 0, 10, 0, 11, 12, 13) == 4711);
    CHECK(!recorded || seen->by == nullptr);
  }
  // The recorder has one entry to itself; what answers none is counted by the next.
  CHECK(mpi_aint_diff_() == (recorded ? 105 : 5));
  CHECK(mpi_barrier_() == 6 && mpi_barrier_() == 6 && profiling_call_site() == 4712);
  CHECK(!recorded || seen->fortran_unanswered == 2);
}
#endif

/// A Fortran entry gets its arguments as they were, first and later, and its C function sees where it was called.
void fortran(const char *expected) {
  for (int round = 0; round < 2; ++round) {
    CHECK(fortran_call_site() == 4712);
    CHECK(errno == 78);
    Seen *seen = nullptr;
    MPI_Get_processor_name(&seen);
    check_seen(*seen, expected, "mpi_alltoallw_");
    CHECK(is_in(seen->fortran_site, "fortran_call_site"));  // and MPI_Alltoallw is function 36 for ever
    CHECK(seen->fortran_function == 36);
    const auto here = reinterpret_cast<unsigned long>(&seen);
    CHECK(seen->fortran_stack < here + 4096 && seen->fortran_stack > here - 4096);
    memset(seen, 0, sizeof *seen);
  }
  // Another thread has a note of its own.
  std::thread([] {
    MPI_Alltoallw(1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7, 7.5, 8, 8.5, 9, 9.5, 10, 10.5, 11, 12, 13);
  }).join();
  Seen *seen = nullptr;
  MPI_Get_processor_name(&seen);
  CHECK(seen->fortran_site == nullptr && seen->fortran_stack == 0);
  // Nobody has this one.
  auto missing = reinterpret_cast<int (*)(int *)>(dlsym(RTLD_DEFAULT, "mpi_comm_rank_"));
  int rank = 5;
  CHECK(missing != nullptr && missing(&rank) != 0 && rank == 5);
}

/// The first call of the process and a later one look the same to the callee.
void call(const char *expected) {
  for (int round = 0; round < 2; ++round) {
    int kept = 0;
    CHECK(call_site(&kept) == 4711);
    CHECK(kept == 77);
    Seen *seen = nullptr;
    MPI_Get_processor_name(&seen);
    check_seen(*seen, expected, "call_site");
    memset(seen, 0, sizeof *seen);
    CHECK(MPI_Wtime() == 2.5);
    CHECK(MPI_Pcontrol(3, 1.0, 2.0, 4.0) == 7.0);
  }
  CHECK(MPI_Finalize() == 2);
}

/// A function that neither library nor recorder has, which a program may look up to see whether it is there.
void missing() {
  auto missing = reinterpret_cast<int (*)(int *)>(dlsym(RTLD_DEFAULT, "MPI_Comm_rank"));
  int rank = 5;
  CHECK(missing != nullptr);
  CHECK(missing(&rank) != 0 && rank == 5);
}

void first_is_variadic() { CHECK(MPI_Pcontrol(4, 1.0, 2.0, 4.0, 8.0) == 15.0); }

void race(const char *expected) {
  constexpr int kThreads = 8;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  std::atomic<int> ready{0};
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&ready] {
      for (++ready; ready != kThreads;) std::this_thread::yield();
      int kept = 0;
      CHECK(call_site(&kept) == 4711);
    });
  }
  for (std::thread &thread : threads) thread.join();
  CHECK(MPI_Finalize() == kThreads);
  Seen *seen = nullptr;
  MPI_Get_processor_name(&seen);
  check_seen(*seen, expected, "call_site");
}

// What the preload forgot on this thread.
thread_local std::vector<uintptr_t> forgotten;
void forget(uintptr_t start) { forgotten.push_back(start); }

const CairnPreload *table() {
  MPI_Init();
  // The library has it by its profiling name alone: only looked up can the recorder's be reached.
  auto get = reinterpret_cast<const CairnPreload *(*)()>(dlsym(RTLD_DEFAULT, "MPI_Get_version"));
  CHECK(get != nullptr);
  const CairnPreload *preload = get();
  *preload->forget = forget;
  return preload;
}

struct Block {
  char *start;
  size_t size;
  bool tracked;
};

void look_up(const CairnPreload *preload, Block &block, size_t offset) {
  CairnAllocation found = {};
  const auto start = reinterpret_cast<uintptr_t>(block.start);
  CHECK(preload->find_allocation(start + offset, &found));
  CHECK(found.start == start);
  CHECK(found.size >= block.size);
  block.tracked = true;
}

/// The block has just been given up: it was forgotten if and only if it was tracked.
void check_forgotten(const CairnPreload *preload, uintptr_t start, bool tracked, uint32_t epoch_before) {
  CHECK(forgotten.size() == (tracked ? 1U : 0U));
  if (tracked) {
    CHECK(forgotten[0] == start);
    CHECK(*preload->epoch != epoch_before);
  }
  forgotten.clear();
}

size_t some_size(std::mt19937 &random) {
  switch (random() % 64) {
    case 0:
      return random() % (3 << 20);
    case 1:
      return (100 << 10) + random() % (60 << 10);
    case 2:
    case 3:
      return random() % 5000;
    default:
      return random() % 100;
  }
}

char *allocate(std::mt19937 &random, size_t size) {
  void *block = nullptr;
  const size_t alignment = size_t{16} << random() % 9;
  switch (random() % 8) {
    case 0:
      return static_cast<char *>(calloc(1, size));
    case 1:
      return static_cast<char *>(memalign(alignment, size));
    case 2:
      return posix_memalign(&block, alignment, size) == 0 ? static_cast<char *>(block) : nullptr;
    case 3:
      return static_cast<char *>(aligned_alloc(alignment, size));
    case 4:
      return static_cast<char *>(valloc(size));
    case 5:
      return static_cast<char *>(reallocarray(nullptr, 1, size));
    default:
      return static_cast<char *>(malloc(size));
  }
}

void hammer(const CairnPreload *preload, unsigned seed, int steps) {
  std::mt19937 random(seed);
  std::vector<Block> blocks;
  blocks.reserve(4096);
  forgotten.reserve(16);
  for (int step = 0; step < steps; ++step) {
    if (blocks.size() < 200 || (random() % 2 == 0 && blocks.size() < 4000)) {
      const size_t size = some_size(random);
      char *start = allocate(random, size);
      CHECK(start != nullptr);
      if (size != 0) start[0] = start[size - 1] = static_cast<char>(seed);
      blocks.push_back({start, size, false});
      continue;
    }
    const size_t i = random() % blocks.size();
    Block &block = blocks[i];
    if (random() % 4 == 0) look_up(preload, block, block.size == 0 ? 0 : random() % block.size);
    const uint32_t epoch = *preload->epoch;
    const auto old = reinterpret_cast<uintptr_t>(block.start);
    if (random() % 4 == 0) {
      const size_t size = some_size(random) + 1;
      block.start = static_cast<char *>(realloc(block.start, size));
      CHECK(block.start != nullptr);
      check_forgotten(preload, old, block.tracked, epoch);
      block.size = size;
      block.tracked = false;
      look_up(preload, block, size - 1);
    } else {
      free(block.start);
      check_forgotten(preload, old, block.tracked, epoch);
      block = blocks.back();
      blocks.pop_back();
    }
  }
  for (const Block &block : blocks) free(block.start);
}

void heap(int steps) {
  const CairnPreload *preload = table();
  if (const char *smallest = getenv("SMALLEST"); smallest != nullptr) {
    void *block = malloc(1);
    CHECK(malloc_usable_size(block) == strtoul(smallest, nullptr, 10));  // the allocator is the one we mean
    free(block);
  }
  hammer(preload, 1, steps);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) threads.emplace_back(hammer, preload, t + 2, steps);
  for (std::thread &thread : threads) thread.join();
}

std::string told_of_threads;
pthread_mutex_t telling = PTHREAD_MUTEX_INITIALIZER;

thread_local uint32_t number_here;

void tell(char what, uint32_t number) {
  pthread_mutex_lock(&telling);
  told_of_threads += what + std::to_string(number) + " ";
  pthread_mutex_unlock(&telling);
}

std::string told() { return std::exchange(told_of_threads, ""); }

void wait_until_told(const std::string &what) {
  for (bool is_there = false; !is_there; usleep(1000)) {
    pthread_mutex_lock(&telling);
    is_there = told_of_threads.find(what) != std::string::npos;
    pthread_mutex_unlock(&telling);
  }
}

/// No thread but this one is there.
void wait_until_alone() {
  const auto tasks = [] {
    size_t count = 0;
    DIR *folder = opendir("/proc/self/task");
    while (readdir(folder) != nullptr) ++count;
    closedir(folder);
    return count - 2;
  };
  while (tasks() != 1) usleep(1000);
}

/// A thread has the lowest number that is free when it is made, whichever calls MPI first, until it has been joined.
void threads() {
  const CairnPreload *preload = table();
  static const CairnPreload *known = preload;
  static bool is_the_programs = true;
  static CairnThreads wanted = {[] { return is_the_programs; }, [](uint32_t number) { tell('m', number); },
                                [](uint32_t number) { tell('n', number); }, [](uint32_t number) { tell('j', number); },
                                [] { tell('e', number_here); }};
  *preload->threads = &wanted;
  CHECK(preload->thread_number() == 0);
  const auto body = [](void *) -> void * {
    number_here = known->thread_number();
    return reinterpret_cast<void *>(static_cast<uintptr_t>(number_here));
  };
  pthread_t first;
  pthread_t second;
  void *number = nullptr;
  for (int step = 0; step < 3; ++step) {
    CHECK(pthread_create(&first, nullptr, body, nullptr) == 0);
    wait_until_told("e1");  // but it has not been joined
    CHECK(pthread_create(&second, nullptr, body, nullptr) == 0);
    CHECK(pthread_join(second, &number) == 0 && number == reinterpret_cast<void *>(2));
    CHECK(pthread_join(first, &number) == 0 && number == reinterpret_cast<void *>(1));
    CHECK(told() == "m1 e1 m2 e2 j2 j1 ");
  }
  // Nobody joins these: they have their numbers until they end.
  pthread_attr_t detached;
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  CHECK(pthread_create(&first, &detached, body, nullptr) == 0);
  wait_until_alone();
  CHECK(pthread_create(&first, nullptr, body, nullptr) == 0);
  wait_until_told("e1 m1 e1");
  CHECK(pthread_detach(first) == 0);
  CHECK(pthread_create(&second, nullptr, body, nullptr) == 0 && pthread_detach(second) == 0);
  wait_until_alone();
  CHECK(told() == "m1 e1 m1 e1 m1 e1 ");
  // One that could not be made.
  pthread_attr_setstacksize(&detached, size_t{1} << 46);
  CHECK(pthread_create(&first, &detached, body, nullptr) != 0);
  CHECK(told() == "m1 n1 ");
  // What is not the program's has no number, nor has what it makes, until it asks for one.
  is_the_programs = false;
  const auto other = [](void *given) -> void * {
    const auto nothing = [](void *it) { return it; };
    pthread_t inner;
    CHECK(pthread_create(&inner, nullptr, nothing, given) == 0 && pthread_join(inner, nullptr) == 0);
    number_here = known->thread_number();
    return reinterpret_cast<void *>(static_cast<uintptr_t>(number_here));
  };
  CHECK(pthread_create(&first, nullptr, other, nullptr) == 0);
  CHECK(pthread_join(first, &number) == 0 && number == reinterpret_cast<void *>(1));
  CHECK(told() == "e1 ");
  is_the_programs = true;
  // A forked child tells nothing.
  const pid_t child = fork();
  if (child == 0) {
    CHECK(pthread_create(&first, nullptr, body, nullptr) == 0 && pthread_join(first, nullptr) == 0 && told().empty());
    _exit(0);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
}

void edges() {
  const CairnPreload *preload = table();
  CairnAllocation found = {};
  int local = 0;
  static int fixed = 0;
  CHECK(!preload->find_allocation(reinterpret_cast<uintptr_t>(&local), &found));
  CHECK(!preload->find_allocation(reinterpret_cast<uintptr_t>(&fixed), &found));
  CHECK(!preload->find_allocation(0, &found));
  CHECK(!preload->find_allocation(UINTPTR_MAX, &found));

  // A failed realloc leaves the block where it is, and findable.
  Block block = {static_cast<char *>(malloc(500000)), 500000, false};
  look_up(preload, block, 499999);
  volatile size_t too_much = SIZE_MAX / 2;
  CHECK(realloc(block.start, too_much) == nullptr);
  CHECK(reallocarray(block.start, too_much, 4) == nullptr);
  look_up(preload, block, 300000);
  forgotten.clear();
  free(block.start);
  CHECK(forgotten.size() == 1);

  // realloc to nothing frees.
  block = {static_cast<char *>(malloc(50)), 50, false};
  look_up(preload, block, 1);
  forgotten.clear();
  block.start = static_cast<char *>(realloc(block.start, 0));
  CHECK(forgotten.size() == 1);
  free(block.start);

  // A forked child has no recorder to tell.
  block = {static_cast<char *>(malloc(50)), 50, false};
  look_up(preload, block, 1);
  forgotten.clear();
  const pid_t child = fork();
  if (child == 0) {
    free(block.start);
    _exit(forgotten.empty() ? 0 : 1);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  free(block.start);
  CHECK(forgotten.size() == 1);
}

void mappings() {
  const CairnPreload *preload = table();
  const auto map = [] { return mmap(nullptr, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); };
  void *seen = map();
  void *other = map();
  preload->watch(reinterpret_cast<uintptr_t>(seen), reinterpret_cast<uintptr_t>(seen) + (1 << 20));
  uint32_t epoch = *preload->epoch;
  uint32_t mapping_epoch = *preload->mapping_epoch;
  CHECK(munmap(other, 1 << 20) == 0);
  CHECK(*preload->epoch == epoch && *preload->mapping_epoch == mapping_epoch);
  seen = mremap(seen, 1 << 20, 2 << 20, MREMAP_MAYMOVE);
  CHECK(seen != MAP_FAILED);
  CHECK(*preload->epoch != epoch && *preload->mapping_epoch != mapping_epoch);
  // More of them than it can tell apart: none is missed.
  std::vector<void *> many;
  for (int i = 0; i < 300; ++i) {
    many.push_back(map());
    CHECK(mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
    preload->watch(reinterpret_cast<uintptr_t>(many.back()), reinterpret_cast<uintptr_t>(many.back()) + (1 << 20));
  }
  for (void *mapping : many) {
    epoch = *preload->epoch;
    munmap(mapping, 1 << 20);
    CHECK(*preload->epoch != epoch);
  }
  CHECK(munmap(reinterpret_cast<void *>(1), 4096) == -1 && errno == EINVAL);

  const uint32_t modules = *preload->module_epoch;
  void *library = dlopen(PLUGIN, RTLD_NOW | RTLD_LOCAL);
  void *again = dlopen(PLUGIN, RTLD_NOW | RTLD_LOCAL);
  CHECK(library != nullptr && again == library);
  CHECK(dlclose(again) == 0);
  CHECK(*preload->module_epoch == modules);
  CHECK(dlclose(library) == 0);
  CHECK(*preload->module_epoch != modules);
}

/// The program has too little address space for tracking: nothing is found, everything else goes on.
void untracked() {
  const CairnPreload *preload = table();
  void *block = malloc(100);
  CairnAllocation found = {};
  CHECK(!preload->find_allocation(reinterpret_cast<uintptr_t>(block), &found));
  free(realloc(block, 1 << 20));
  CHECK(forgotten.empty());
}

void run(const std::string &what, const char *expected) {
  if (what == "call") return call(expected);
  if (what == "fortran") return fortran(expected);
#ifndef SERIAL
  if (what == "profiling") return profiling(expected);
#endif
  if (what == "missing") return missing();
  if (what == "variadic") return first_is_variadic();
  if (what == "race") return race(expected);
  if (what == "heap") return heap(atoi(expected));
  if (what == "edges") return edges();
  if (what == "threads") return threads();
  if (what == "mappings") return mappings();
  if (what == "untracked") return untracked();
  CHECK(what == "known word");
}

#endif

}  // namespace

/// preload_test WHAT EXPECTED [REASON]
int main(int count, char **words) {
  CHECK(count >= 3);
  run(words[1], words[2]);
  if (getenv("CAIRN_SPOOL") != nullptr) {
    const std::string expected = count > 3 ? "cairn: " + std::string(words[3]) + "\n" : "";
    const std::string got = reason();
    if (got != expected) fprintf(stderr, "reason: '%s', expected '%s'\n", got.c_str(), expected.c_str());
    CHECK(got == expected);
  }
  return 0;
}
