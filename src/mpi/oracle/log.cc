#include "mpi/oracle/log.h"

#include <fcntl.h>
#include <linux/limits.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "base/uncancelled.h"
#include "mpi/oracle/format.h"

namespace cairn::oracle {

void *const *pmpi = nullptr;

namespace {

constexpr size_t kWindow = 1 << 20;  // of the file, mapped at a time
constexpr uint32_t kMaxOpen = 1 << 14;
constexpr size_t kMaxConstants = 4096;
constexpr int64_t kMaxElements = 1 << 26;  // a longer array is a mistake of ours or a crash in the making

// The C library's mmap may be watched by the recorder under test.
void *map(size_t size, int protection, int flags, int fd, off_t offset) {
  const long result = syscall(SYS_mmap, nullptr, size, protection, flags, fd, offset);
  return result == -1 ? nullptr : reinterpret_cast<void *>(result);
}
void *map_memory(size_t size) { return map(size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }
void unmap(void *start, size_t size) { syscall(SYS_munmap, start, size); }

struct Open {
  uintptr_t stack;
  size_t offset;  // of its values in scratch
  uint64_t begin_ticket;
  uint32_t function;
  int saved_errno;
  uint8_t phase;
};

struct Process {
  char directory[PATH_MAX];
  char host[64];
  char job[64];
  int32_t rank = -1;
  int32_t told_rank = -1;
  int32_t size = 0;
  uint32_t threads = 0;
  uint64_t tickets = 0;
  ThreadLog *logs = nullptr;
  const volatile uint32_t *epoch = nullptr;
  uint32_t (*thread_number)() = nullptr;
  const void **(*unwanted)() = nullptr;
  uint64_t constants[2 * kMaxConstants];
  uint32_t constant_count = 0;
  pthread_key_t key;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
};
Process process;

__attribute__((tls_model("initial-exec"))) thread_local ThreadLog *this_thread = nullptr;

}  // namespace

struct ThreadLog {
  Header *header;
  uint8_t *scratch;
  size_t scratch_size;
  size_t used;
  Open *open;
  uint32_t depth;
  uint8_t *window;
  size_t window_offset;  // of the window in the file
  size_t position;       // in the window
  uint32_t recorded_thread;
  ThreadLog *next;
  bool dead;
  char path[PATH_MAX + 128];

  bool room(size_t more) {
    if (used + more <= scratch_size) return true;
    size_t size = scratch_size * 2;
    while (size < used + more) size *= 2;
    const long moved = syscall(SYS_mremap, scratch, scratch_size, size, MREMAP_MAYMOVE, nullptr);
    if (moved == -1) return false;
    scratch = reinterpret_cast<uint8_t *>(moved);
    scratch_size = size;
    return true;
  }

  void cut() {
    dead = true;
    if (header != nullptr) header->cut_short = 1;
  }

  void append(const void *bytes, size_t size) {
    if (dead) return;
    if (!room(size)) return cut();
    memcpy(scratch + used, bytes, size);
    used += size;
  }
  void byte(uint8_t value) { append(&value, 1); }
  void word(uint64_t value) { append(&value, 8); }
  void varint(uint64_t value) {
    uint8_t bytes[10];
    size_t n = 0;
    for (; value >= 0x80; value >>= 7) bytes[n++] = static_cast<uint8_t>(value | 0x80);
    bytes[n++] = static_cast<uint8_t>(value);
    append(bytes, n);
  }

  // Maps the file from the page of `offset` on, with room for at least `size` bytes from there.
  bool move_window(size_t offset, size_t size) {
    const Uncancelled guard;
    const size_t page = 4096;
    const size_t start = offset / page * page;
    size_t length = kWindow;
    while (start + length < offset + size + 8) length += kWindow;
    const int fd = static_cast<int>(::open(path, O_RDWR | O_CLOEXEC));
    if (fd < 0) return false;
    // fallocate, not ftruncate: a full disk must be an error here and not a SIGBUS later.
    const bool room_on_disk = posix_fallocate(fd, static_cast<off_t>(start), static_cast<off_t>(length)) == 0;
    void *mapped =
        room_on_disk ? map(length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(start)) : nullptr;
    close(fd);
    if (mapped == nullptr) return false;
    if (window != nullptr) unmap(window, window_size_);
    window = static_cast<uint8_t *>(mapped);
    window_size_ = length;
    window_offset = start;
    position = offset - start;
    return true;
  }

  // The record of open[index], whose values end at `end` in scratch, goes to the file.
  void write(uint32_t index, size_t end, RecordState state) {
    if (dead) return;
    const Open &call = open[index];
    const size_t mark = used;  // the record's head is put together behind everything, then moved
    varint(call.function);
    varint(index);
    varint(call.begin_ticket);
    varint(__atomic_fetch_add(&process.tickets, 1, __ATOMIC_SEQ_CST));
    varint(process.epoch == nullptr ? 0 : uint64_t{*process.epoch} + 1);
    byte(static_cast<uint8_t>(state));
    if (dead) return;
    const size_t head = used - mark;
    const size_t values = end - call.offset;
    used = mark;
    const size_t size = head + values;
    if (size > UINT32_MAX) return cut();
    if (position + 4 + size + 4 > window_size_ && !move_window(window_offset + position, 4 + size + 4)) return cut();
    uint8_t *at = window + position;
    memcpy(at + 4, scratch + mark, head);
    memcpy(at + 4 + head, scratch + call.offset, values);
    const auto length = static_cast<uint32_t>(size);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    memcpy(at, &length, 4);
    position += 4 + size;
  }

  // Calls above `depth_wanted` were left by an exception or longjmp.
  void leave(uint32_t depth_wanted) {
    while (depth > depth_wanted) {
      write(depth - 1, used, RecordState::left);
      used = open[depth - 1].offset;
      --depth;
    }
  }

  size_t window_size_;
};

namespace {

void publish_rank(ThreadLog *log) {
  if (log->header == nullptr) return;
  log->header->rank = process.rank < 0 ? process.told_rank : process.rank;
  log->header->size = process.size;
}

bool start_file(ThreadLog *log, uint32_t number) {
  const Uncancelled guard;
  for (int attempt = 0; attempt < 100; ++attempt) {
    char again[16] = "";  // the process id of an earlier program in the same directory
    if (attempt > 0) snprintf(again, sizeof again, "+%d", attempt);
    snprintf(log->path, sizeof log->path, "%s/%s-%d%s.%u.log", process.directory, process.host, getpid(), again,
             number);
    const int fd = ::open(log->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) {
      if (errno == EEXIST) continue;
      return false;
    }
    close(fd);
    const size_t constants = size_t{16} * process.constant_count;
    if (!log->move_window(0, sizeof(Header) + constants)) return false;
    // The header is mapped a second time: it is written to until the end, and the window moves on.
    const int second = ::open(log->path, O_RDWR | O_CLOEXEC);
    if (second < 0) return false;
    log->header = static_cast<Header *>(map(4096, PROT_READ | PROT_WRITE, MAP_SHARED, second, 0));
    close(second);
    if (log->header == nullptr) return false;
    Header *header = log->header;
    memcpy(header->magic, kMagic, sizeof kMagic);
    header->version = kLogVersion;
    header->thread = number;
    header->recorded_thread = log->recorded_thread;
    header->pid = static_cast<uint64_t>(getpid());
    header->constants = process.constant_count;
    memcpy(header->host, process.host, sizeof header->host);
    memcpy(header->job, process.job, sizeof header->job);
    memcpy(log->window + sizeof(Header), process.constants, constants);
    log->position = sizeof(Header) + constants;
    return true;
  }
  return false;
}

uint32_t recorded_thread() { return process.thread_number == nullptr ? 0 : process.thread_number(); }

ThreadLog *make_log() {
  auto *log = static_cast<ThreadLog *>(map_memory(sizeof(ThreadLog)));
  if (log == nullptr) return nullptr;
  log->scratch_size = 1 << 16;
  log->recorded_thread = recorded_thread();
  log->scratch = static_cast<uint8_t *>(map_memory(log->scratch_size));
  log->open = static_cast<Open *>(map_memory(kMaxOpen * sizeof(Open)));
  const uint32_t number = __atomic_fetch_add(&process.threads, 1, __ATOMIC_SEQ_CST);
  log->dead = log->scratch == nullptr || log->open == nullptr || !start_file(log, number);
  pthread_mutex_lock(&process.mutex);
  log->next = process.logs;
  process.logs = log;
  publish_rank(log);
  pthread_mutex_unlock(&process.mutex);
  pthread_setspecific(process.key, log);
  return log;
}

void thread_ended(void *p) {
  auto *log = static_cast<ThreadLog *>(p);
  // A program may have thousands of threads. Calls under way are void without their end; the header stays mapped.
  if (!log->dead && log->header != nullptr) {
    constexpr size_t kHeaderPage = 4096;
    constexpr size_t kEnd = 4;
    const size_t used = log->window_offset + log->position + kEnd;
    [[maybe_unused]] const int ignored =
        truncate(log->path, static_cast<off_t>(used < kHeaderPage ? kHeaderPage : used));
  }
  if (log->scratch != nullptr) unmap(log->scratch, log->scratch_size);
  if (log->open != nullptr) unmap(log->open, kMaxOpen * sizeof(Open));
  if (log->window != nullptr) unmap(log->window, log->window_size_);
  log->scratch = nullptr;
  log->open = nullptr;
  log->window = nullptr;
  log->dead = true;
  this_thread = nullptr;  // a later destructor that calls MPI starts a log of its own
}

void learn_rank() {
  int rank = -1;
  int size = 0;
  if (!world_rank(&rank, &size)) return;
  pthread_mutex_lock(&process.mutex);
  process.rank = rank;
  process.size = size;
  for (ThreadLog *log = process.logs; log != nullptr; log = log->next) publish_rank(log);
  pthread_mutex_unlock(&process.mutex);
}

}  // namespace

namespace {

const void *take_unwanted() {
  if (process.unwanted == nullptr) return nullptr;
  const void **place = process.unwanted();
  const void *status = *place;
  *place = nullptr;
  return status;
}

}  // namespace

Entry::Entry(uint32_t function) : log_(this_thread), unwanted_(take_unwanted()) {
  const int saved = errno;
  // Destructors of a thread may call MPI when the recorder has let it go.
  if (log_ != nullptr && !log_->dead && log_->recorded_thread != recorded_thread()) {
    thread_ended(log_);
    log_ = nullptr;
  }
  if (log_ == nullptr) log_ = this_thread = make_log();
  if (log_ == nullptr) return;
  if (log_->dead) {
    log_ = nullptr;
    errno = saved;
    return;
  }
  const auto stack = reinterpret_cast<uintptr_t>(this);
  uint32_t depth = log_->depth;
  while (depth > 0 && log_->open[depth - 1].stack <= stack) --depth;
  log_->leave(depth);
  if (log_->depth == kMaxOpen) {
    log_->cut();
    log_ = nullptr;
    return;
  }
  log_->open[log_->depth++] =
      Open{stack, log_->used, __atomic_fetch_add(&process.tickets, 1, __ATOMIC_SEQ_CST), function, saved, 0};
}

void Entry::put_word(unsigned parameter, Tag tag, uint64_t word) {
  if (log_ == nullptr) return;
  log_->byte(static_cast<uint8_t>(parameter));
  log_->byte(static_cast<uint8_t>(static_cast<uint8_t>(tag) | log_->open[log_->depth - 1].phase));
  log_->word(word);
}

namespace {

// The parameter and tag of a value that is more than a word; false: `p` is NULL and nothing follows.
bool start_value(ThreadLog *log, unsigned parameter, Tag tag, const void *p) {
  log->byte(static_cast<uint8_t>(parameter));
  const Tag written = p == nullptr ? Tag::null : tag;
  log->byte(static_cast<uint8_t>(static_cast<uint8_t>(written) | log->open[log->depth - 1].phase));
  return p != nullptr;
}

// The same, and the number of elements; false also where they are too many.
bool start_list(ThreadLog *log, unsigned parameter, Tag tag, const void *p, int64_t *n) {
  if (log == nullptr || !start_value(log, parameter, tag, p)) return false;
  if (*n < 0) *n = 0;
  if (*n > kMaxElements) log->cut();
  log->varint(static_cast<uint64_t>(*n));
  return !log->dead;
}

uint64_t element(const void *p, int64_t index, size_t size, bool is_signed) {
  const auto *at = static_cast<const uint8_t *>(p) + static_cast<size_t>(index) * size;
  uint64_t value = 0;
  memcpy(&value, at, size);
  if (is_signed && size < 8) {
    const auto shift = static_cast<unsigned>(64 - 8 * size);
    value = static_cast<uint64_t>(static_cast<int64_t>(value << shift) >> shift);
  }
  return value;
}

void put_list(ThreadLog *log, const char *const *s, int64_t n) {
  if (n < 0) {
    n = 0;
    while (s != nullptr && s[n] != nullptr) ++n;
  }
  log->varint(static_cast<uint64_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    if (s[i] == nullptr) {
      log->varint(0);
    } else {
      const size_t length = strlen(s[i]);
      log->varint(length + 1);
      log->append(s[i], length);
    }
  }
}

}  // namespace

void Entry::put_array(unsigned parameter, Tag tag, const void *p, int64_t n, size_t size) {
  if (!start_list(log_, parameter, tag, p, &n)) return;
  const bool is_signed = tag == Tag::values;
  for (int64_t i = 0; i < n; ++i) log_->word(element(p, i, size, is_signed));
}

void Entry::string(unsigned parameter, const char *s, size_t max) {
  if (log_ == nullptr || !start_value(log_, parameter, Tag::string, s)) return;
  const size_t length = strnlen(s, max);
  log_->varint(length);
  log_->append(s, length);
}

void Entry::strings(unsigned parameter, const char *const *s, int64_t n) {
  if (log_ == nullptr || !start_value(log_, parameter, Tag::strings, s)) return;
  if (n > kMaxElements) return log_->cut();
  put_list(log_, s, n);
}

void Entry::argvs(unsigned parameter, char *const *const *s, int64_t n) {
  if (!start_list(log_, parameter, Tag::argvs, s, &n)) return;
  for (int64_t i = 0; i < n; ++i) put_list(log_, s[i], -1);
}

void Entry::statuses(unsigned parameter, const void *p, int64_t n) {
  if (!start_list(log_, parameter, Tag::statuses, p, &n)) return;
  for (int64_t i = 0; i < n; ++i) {
    int64_t fields[5] = {0, 0, 0, 0, 0};
    read_status(static_cast<const uint8_t *>(p) + static_cast<size_t>(i) * status_size, fields);
    log_->append(fields, sizeof fields);
  }
}

void Entry::errors(unsigned parameter, const int *p, int64_t n, int64_t (*class_of)(int64_t)) {
  if (!start_list(log_, parameter, Tag::errors, p, &n)) return;
  for (int64_t i = 0; i < n; ++i) {
    log_->word(static_cast<uint64_t>(int64_t{p[i]}));
    log_->word(static_cast<uint64_t>(class_of(p[i])));
  }
}

void Entry::members(unsigned parameter, int64_t count, int64_t smallest, int64_t place) {
  const int64_t all[3] = {count, smallest, place};
  put_array(kMembers + parameter, Tag::values, all, 3, sizeof all[0]);
}

void Entry::called(bool may_not_return) {
  if (log_ == nullptr) return;
  Open &call = log_->open[log_->depth - 1];
  if (may_not_return) log_->write(log_->depth - 1, log_->used, RecordState::open);
  errno = call.saved_errno;
}

// Back from the real call: inner calls that a longjmp within a callback left behind end here.
void Entry::resume() {
  const int saved = errno;
  if (log_ == nullptr) return;
  uint32_t depth = log_->depth;
  while (depth > 0 && log_->open[depth - 1].stack != reinterpret_cast<uintptr_t>(this)) --depth;
  if (depth == 0) {
    log_ = nullptr;
    return;
  }
  log_->leave(depth);
  log_->open[depth - 1].saved_errno = saved;
  log_->open[depth - 1].phase = kAfter;
}

void Entry::returned(int64_t code, int64_t error_class) {
  resume();
  if (log_ == nullptr) return;
  start_value(log_, kReturn, Tag::errors, this);
  log_->varint(1);
  log_->word(static_cast<uint64_t>(code));
  log_->word(static_cast<uint64_t>(error_class));
}

void Entry::returned_value(int64_t value) {
  resume();
  put_word(kReturn, Tag::value, static_cast<uint64_t>(value));
}

void Entry::returned_double(double value) {
  resume();
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof bits);
  put_word(kReturn, Tag::value, bits);
}

void Entry::returned_handle(const void *p, size_t size) {
  resume();
  put_array(kReturn, Tag::handles, p, 1, size);
}

void Entry::end() {
  if (log_ == nullptr) return;
  const Open call = log_->open[log_->depth - 1];
  log_->write(log_->depth - 1, log_->used, RecordState::returned);
  log_->used = call.offset;
  --log_->depth;
  if (process.rank < 0) learn_rank();
  errno = call.saved_errno;
}

}  // namespace cairn::oracle

extern "C" __attribute__((visibility("default"))) int cairn_oracle_attach(void *const *pmpi_functions, void **table) {
  using namespace cairn::oracle;
  const char *directory = getenv("CAIRN_ORACLE");
  if (directory == nullptr || strlen(directory) >= sizeof process.directory) return -1;
  strcpy(process.directory, directory);
  if (mkdir(directory, 0777) != 0 && errno != EEXIST) return -1;
  gethostname(process.host, sizeof process.host - 1);
  for (const char *name : {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "PMI_JOBID", "SLURM_STEP_ID"}) {
    const char *job = getenv(name);
    if (job == nullptr) continue;
    strncpy(process.job, job, sizeof process.job - 1);
    break;
  }
  // Programs that have sessions only never learn their rank in MPI_COMM_WORLD; launchers tell it, too.
  for (const char *name : {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID"}) {
    const char *rank = getenv(name);
    if (rank == nullptr) continue;
    process.told_rank = static_cast<int32_t>(strtol(rank, nullptr, 10));
    break;
  }
  if (pthread_key_create(&process.key, thread_ended) != 0) return -1;
  pmpi = pmpi_functions;
  fill_loggers(table);
  local_constants(
      [](void *, ConstantValue constant) {
        if (process.constant_count == kMaxConstants) return;
        process.constants[size_t{2} * process.constant_count] = constant.id;
        process.constants[size_t{2} * process.constant_count + 1] = constant.value;
        ++process.constant_count;
      },
      nullptr);
  return 0;
}

extern "C" __attribute__((visibility("default"))) void cairn_oracle_watch(const volatile uint32_t *epoch) {
  cairn::oracle::process.epoch = epoch;
}

extern "C" __attribute__((visibility("default"))) void cairn_oracle_threads(uint32_t (*number)()) {
  cairn::oracle::process.thread_number = number;
}

extern "C" __attribute__((visibility("default"))) void cairn_oracle_unwanted(const void **(*place)()) {
  cairn::oracle::process.unwanted = place;
}
