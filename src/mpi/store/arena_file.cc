#include "mpi/store/arena_file.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/file_lock.h"
#include "base/file_size.h"
#include "base/uncancelled.h"
#include "mpi/names/handles.h"
#include "mpi/store/descriptors.h"
#include "mpi/store/spool_file.h"

namespace cairn::recorder {
namespace {

/// Far from where Linux puts programs, heaps, libraries and stacks.
constexpr uintptr_t kUsualAddress = 0x1ca100000000;
/// Below half a terabyte, which ThreadSanitizer and MemorySanitizer leave to programs. They end a process that maps
/// memory elsewhere.
constexpr uintptr_t kLowAddress = 0x6ca1000000;
constexpr size_t kStep = size_t{1} << 20;
/// What is made present at once: a page fault of a file costs more than the kernel needs to zero the page.
constexpr size_t kPresent = size_t{64} << 10;
/// A large block's pages come as they are touched: a megabyte of them at once would take a call a millisecond.
constexpr size_t kMostPresent = 2 * kPresent;
/// What is written ahead of that: see `write_ahead`.
constexpr size_t kWritten = size_t{256} << 10;
/// The Process stands at the front, the Arena hands out what is behind it.
constexpr size_t kFront = (sizeof(Process) + sizeof(Arena) + 4095) & ~size_t{4095};

uintptr_t address;
char arena_path[768];
size_t arena_size;
size_t reserved;
size_t present;  ///< all up to here; 0 before the first step was used up
size_t written;  ///< zeros up to here

/// Touches what lies there, where the disk has blocks for it: false otherwise, and where the kernel is older than that.
bool populate(size_t from, size_t bytes) {
#ifdef MADV_POPULATE_WRITE
  constexpr int kPopulate = MADV_POPULATE_WRITE;
#else
  constexpr int kPopulate = 23;  // an older kernel refuses it
#endif
  return madvise(reinterpret_cast<void *>(address + from), bytes, kPopulate) == 0;
}

/// Reserves disk blocks up to `wanted`. The file is opened anew each time: descriptors belong to the program. Where it
/// cannot be (there is no descriptor left, or the program has become another user or has another root) they are
/// reserved by touching them, which takes longer.
void reserve(size_t wanted) {
  const Uncancelled guard;
  const size_t target = std::min((wanted + kStep - 1) / kStep * kStep, arena_size);
  const int file = open(arena_path, O_RDWR | O_CLOEXEC);
  const size_t more = target - reserved;
  const bool have_blocks = has_room(arena_path, 0) && (file >= 0 ? posix_fallocate(file, static_cast<off_t>(reserved),
                                                                                   static_cast<off_t>(more)) == 0
                                                                 : populate(reserved, more));
  if (file >= 0) close(file);
  if (have_blocks) {
    reserved = target;
    return;
  }
  // The disk is full: go on in memory that does not outlive the process.
  void *rest = mmap(reinterpret_cast<void *>(address + reserved), arena_size - reserved, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (rest == MAP_FAILED) return;
  reserved = arena_size;
  reinterpret_cast<Process *>(address)->run.cut = true;
}

/// Writes zeros into what was reserved, to be made present from `from` on. Disk blocks that were never written cost the
/// kernel some two microseconds a page when a mapping touches them, since the file system begins a transaction for
/// each; such as are in its cache half of one, and the writing the other half. If it fails that is all that is lost.
void write_ahead(size_t from, size_t wanted) {
  static uint8_t zeros[kPresent];
  const Run &run = reinterpret_cast<Process *>(address)->run;
  if (run.cut || run.pid != getpid()) return;  // what is in the file is not what is in memory
  const Uncancelled guard;
  const size_t target = std::min((wanted + kWritten - 1) / kWritten * kWritten, reserved);
  if (!may_grow_to(target)) return;  // the program has lowered its limit meanwhile
  const int file = open(arena_path, O_WRONLY | O_CLOEXEC);
  for (size_t at = from; file >= 0 && at < target; at += sizeof zeros) {
    if (pwrite(file, zeros, std::min(sizeof zeros, target - at), static_cast<off_t>(at)) < 0) break;
  }
  if (file >= 0) close(file);
  written = target;
}

/// The Arena's `commit`.
size_t commit(size_t wanted) {
  const size_t end = kFront + wanted;
  if (present == 0) present = reserved;  // small programs do with what they touch of the first step
  if (end > reserved) reserve(end);
  if (end > reserved) return reserved - kFront;
  const size_t target = std::min((end + kPresent - 1) / kPresent * kPresent, reserved);
  if (target > present) {
    const size_t fresh = target - present;
    if (fresh <= kMostPresent && target > written) write_ahead(std::max(written, present), target);
    if (fresh <= kMostPresent) populate(present, fresh);
    present = target;
  }
  return present - kFront;
}

uint64_t layout() {
  const size_t sizes[] = {
      sizeof(Process),   sizeof(RecordedThread), sizeof(Signature),  sizeof(Sequence),    sizeof(Site),
      sizeof(Arena),     sizeof(Modules),        sizeof(ModuleInfo), sizeof(Memo),        sizeof(grammar::Builder),
      sizeof(TimingLog), sizeof(ClosedSequence), sizeof(Frame),      sizeof(HandleTable), sizeof(HandleEntry)};
  uint64_t hash = Process::kMagic;
  for (const size_t size : sizes) hash = hash * 1099511628211u ^ size;
  return hash;
}

bool has_sanitizer() {
  return dlsym(RTLD_DEFAULT, "__tsan_init") != nullptr || dlsym(RTLD_DEFAULT, "__msan_init") != nullptr;
}

/// `*used_up`: there was no descriptor for it.
void *map_file(size_t size, bool *locked, bool *used_up) {
  const int file = open(arena_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  *used_up = file < 0 && errno == EMFILE;
  if (file < 0) return MAP_FAILED;
  // Before it can be taken for what a dead process left.
  *locked = lock_file(file);
  void *memory = MAP_FAILED;
  if (ftruncate(file, static_cast<off_t>(size)) == 0 &&
      posix_fallocate(file, 0, static_cast<off_t>(std::max(kFront, kStep))) == 0) {
    memory = mmap(reinterpret_cast<void *>(address), size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE,
                  file, 0);
    if (memory != MAP_FAILED && memory != reinterpret_cast<void *>(address)) {  // an old kernel ignores the flag
      munmap(memory, size);
      memory = MAP_FAILED;
    }
    // One page at a time. Read ahead, the kernel would zero megabytes of pages at once, in one call of the program.
    if (memory != MAP_FAILED) madvise(memory, size, MADV_RANDOM);
  }
  close(file);
  if (memory == MAP_FAILED) unlink(arena_path);
  return memory;
}

/// Why the arena is in no file.
const char *why_lost(const Config &config, bool used_up) {
  if (used_up) return "the program had used up the descriptors that it may have; raise ulimit -n";
  if (!may_grow_to(arena_size)) return "files may not become that large; raise ulimit -f, or lower --memory";
  if (!has_room(config.spool, kStep))
    return "its disk has no room; make room there, or choose another place with --spool";
  return "memory cannot be kept in a file there; choose another place with --spool";
}

}  // namespace

size_t arena_front() { return kFront; }

bool has_room(const char *folder, uint64_t bytes) {
  // The last of it is for the trace itself.
  constexpr uint64_t kForTheTrace = 16u << 20;
  struct statvfs disk {};
  return statvfs(folder, &disk) != 0 || uint64_t{disk.f_bavail} * disk.f_frsize > kForTheTrace + bytes;
}

Process *make_process(const Config &config) {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  address = has_sanitizer() ? kLowAddress : kUsualAddress;
  arena_size = (config.memory + kStep - 1) / kStep * kStep + kFront;
  reserved = std::max(kFront, kStep);
  void *memory = MAP_FAILED;
  bool locked = false;
  bool used_up = false;
  arena_path[0] = '\0';
  if (config.spool != nullptr && may_grow_to(arena_size) && has_room(config.spool, 0) &&
      snprintf(arena_path, sizeof arena_path, "%s/%s.%d.arena", config.spool, host, getpid()) <
          static_cast<int>(sizeof arena_path)) {
    with_descriptors([&] { memory = map_file(arena_size, &locked, &used_up); });
  }
  const bool in_file = memory != MAP_FAILED;
  if (!in_file) {
    arena_path[0] = '\0';
    memory = mmap(nullptr, arena_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  if (memory == MAP_FAILED) return nullptr;
  auto *of = static_cast<Process *>(memory);
  void *rest = static_cast<uint8_t *>(memory) + kFront;
  void *behind = static_cast<uint8_t *>(memory) + (sizeof(Process) + 63) / 64 * 64;
  const size_t size = arena_size - kFront;
  of->arena = in_file ? new (behind) Arena(rest, size, reserved - kFront, commit) : new (behind) Arena(rest, size);
  of->run.config = config;
  of->self = of;
  of->run.pid = getpid();
  of->layout = layout();
  of->run.locked = locked;
  memcpy(of->run.host, host, sizeof host);
  of->magic = Process::kMagic;
  if (!in_file && config.spool != nullptr) leave_lost(of->run, why_lost(config, used_up));
  return of;
}

void remove_arena_file(const Process &of) {
  if (arena_path[0] != '\0') unlink(arena_path);
  remove_lost(of.run);
}

void give_back_arena(const Process &of) {
  constexpr size_t kPage = 4096;
  auto *free_in_page = static_cast<uint32_t *>(calloc(of.arena->limit() / kPage + 1, sizeof(uint32_t)));
  if (free_in_page == nullptr) return;
  of.arena->surrender(free_in_page, [](void *pages, size_t bytes) {
    // Of a file that goes with its blocks on the disk; what lies in no file is forgotten.
    if (madvise(pages, bytes, MADV_REMOVE) != 0) madvise(pages, bytes, MADV_DONTNEED);
  });
  free(free_in_page);
}

void leave_arena_to_parent(const Process &of) {
  if (arena_path[0] == '\0') return;
  // Not unmapped: calls of the child that were on their way when it was forked return through frames in it.
  [[maybe_unused]] const void *own =
      mmap(of.self, arena_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  arena_path[0] = '\0';
}

namespace {

/// What stands at the front of an arena's file, which may be any file.
class Front {
 public:
  explicit Front(const std::string &path) : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)) {
    whole_ = file_ >= 0 && pread(file_, bytes_, sizeof bytes_, 0) == static_cast<ssize_t>(sizeof bytes_);
  }
  Front(const Front &) = delete;
  Front &operator=(const Front &) = delete;
  ~Front() {
    if (file_ >= 0) close(file_);
  }
  [[nodiscard]] bool opened() const { return file_ >= 0; }
  [[nodiscard]] int file() const { return file_; }
  [[nodiscard]] const Process &process() const { return *reinterpret_cast<const Process *>(bytes_); }
  [[nodiscard]] bool of_this_version() const {
    return whole_ && process().magic == Process::kMagic && process().layout == layout();
  }
  [[nodiscard]] bool of_this_host() const {
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    return strncmp(host, process().run.host, sizeof host) == 0;
  }
  [[nodiscard]] bool untouched() const {
    return std::all_of(bytes_, bytes_ + sizeof bytes_, [](uint8_t byte) { return byte == 0; });
  }
  [[nodiscard]] bool locked() const { return file_ >= 0 && is_locked(file_); }

 private:
  int file_;
  bool whole_ = false;
  alignas(Process) uint8_t bytes_[sizeof(Process)] = {};
};

}  // namespace

bool is_untouched_arena(const std::string &path) {
  const Front front(path);
  return front.opened() && front.untouched();
}

bool is_arena(const std::string &path) {
  const Front front(path);
  return front.opened() && (front.untouched() || front.of_this_version());
}

bool is_cut(const std::string &path) {
  const Front front(path);
  return front.of_this_version() && front.process().run.cut;
}

bool is_held(const std::string &path) {
  const Front front(path);
  if (front.locked()) return true;
  if (!front.of_this_version() || front.process().run.locked) return false;
  const Run &run = front.process().run;
  return front.of_this_host() && (kill(run.pid, 0) == 0 || errno == EPERM);
}

bool is_of_this_host(const std::string &path) {
  const Front front(path);
  return front.of_this_version() && front.of_this_host();
}

Result<std::unique_ptr<DeadProcess>> DeadProcess::open(const std::string &path, Access access) {
  const auto failure = [&](const char *message) {
    Error error{ErrorKind::unreadable, message, path, Error::kNoOffset, "use the cairn that recorded it"};
    return tl::unexpected(error);
  };
  const Front front(path);
  if (!front.opened()) return failure(strerror(errno));
  struct stat status {};
  if (fstat(front.file(), &status) != 0 || !front.of_this_version()) {
    return failure("not the memory of a recording process of this version");
  }
  const auto size = static_cast<size_t>(status.st_size);
  void *wanted = front.process().self;
  const int protection = access == Access::own_copy ? PROT_READ | PROT_WRITE : PROT_READ;
  void *memory = mmap(wanted, size, protection, MAP_PRIVATE | MAP_FIXED_NOREPLACE, front.file(), 0);
  if (memory == MAP_FAILED) return failure("the address it lived at is taken here");
  if (memory != wanted) {
    munmap(memory, size);
    return failure("the address it lived at is taken here");
  }
  return std::unique_ptr<DeadProcess>(new DeadProcess(memory, size));
}

DeadProcess::~DeadProcess() { munmap(memory_, size_); }

}  // namespace cairn::recorder
