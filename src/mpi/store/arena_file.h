// The arena of a recording process, as memory that outlives it.
//
// At an address that no other process uses for anything, so that a reader of the file finds tables by the pointers that
// are in them. Offsets instead of pointers would have served any address, at an addition for each access of every call.
//
// With a spool it is a shared mapping of `<spool>/<host>.<pid>.arena` at a fixed address: the kernel keeps what was
// written even if the process is killed. Disk blocks are reserved before they are touched (a page that the disk has no
// room for would be a SIGBUS in somebody else's program). Without a spool, or where the address is taken or the file
// system refuses, it is anonymous memory: then a line in the spool says that nothing is left of the process if it is
// killed. They are reserved by steps, not all at the beginning: most runs use one of them, and on a tmpfs 64 MiB take
// 24 ms and as much memory, on file systems that cannot reserve a write for each block.
//
// The process holds a lock on the file (base/file_lock.h) for as long as it lives, which its mapping keeps.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "mpi/store/process.h"

namespace cairn::recorder {

/// A zeroed Process with its Arena and config set; nullptr without memory. Texts of `config` stay where they are.
Process *make_process(const Config &config);
/// The process ended in order: nothing is left to recover.
void remove_arena_file(const Process &of);
/// The recording is over and lies in the spool: pages of the arena in which nothing else lies go back to the kernel.
void give_back_arena(const Process &of);
/// In a forked child: what it shares with its parent becomes memory of its own, without what was in it.
void leave_arena_to_parent(const Process &of);

/// Whether `bytes` may be reserved on the disk of `folder`; true if that cannot be told.
bool has_room(const char *folder, uint64_t bytes);

/// Whether the file is an arena of this version, be it an untouched one.
bool is_arena(const std::string &path);
/// Its process was killed before it wrote anything.
bool is_untouched_arena(const std::string &path);
/// There was no room for all of it; what the file lacks is gone with its process.
bool is_cut(const std::string &path);
/// Whether a living process records into that file. Where the file system knows no locks: whether a process of that
/// number lives, if it was on this host.
bool is_held(const std::string &path);

/// Bytes in front of what the Arena hands out: the Process and the Arena themselves.
size_t arena_front();

/// Whether its process runs, or ran, on this host.
bool is_of_this_host(const std::string &path);

/// The arena of a dead process, mapped for reading where it lived. One at a time. `read_only`, that of a living one: it
/// changes while it is read.
class DeadProcess {
 public:
  enum class Access : uint8_t { own_copy, read_only };
  static Result<std::unique_ptr<DeadProcess>> open(const std::string &path, Access access = Access::own_copy);
  DeadProcess(const DeadProcess &) = delete;
  DeadProcess &operator=(const DeadProcess &) = delete;
  ~DeadProcess();
  [[nodiscard]] const Process &process() const { return *process_; }
  [[nodiscard]] size_t size() const { return size_; }

 private:
  DeadProcess(void *memory, size_t size) : memory_(memory), size_(size), process_(static_cast<Process *>(memory)) {}
  void *memory_;
  size_t size_;
  Process *process_;
};

}  // namespace cairn::recorder
