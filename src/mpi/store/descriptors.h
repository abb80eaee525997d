// Descriptors of the recorder's own, for where the program has used up all that its process may have.
//
// A thread may have a table of descriptors apart from that of its process. So what only opens, reads, writes and closes
// files can be done by a thread that is made for it: the program's table stays as it is, and so does its limit. Takes a
// few microseconds to find out that none is needed, and some tens where one is. Where the kernel or a sandbox refuses,
// things are done on the calling thread and fail as they would.
#pragma once

#include <type_traits>

namespace cairn::recorder {

/// Whether the calling thread could open as many files as the recorder ever has open at once.
bool has_descriptors();

/// From now on the calling thread, which must be one of the recorder's, has a table of its own, empty now. False: not.
/// `for_long`: not where copies of the program's descriptors would stay in it, since a pipe ends with the last of them.
bool take_own_descriptors(bool for_long);

/// Whether the calling thread has one: what it opens is nothing to others.
bool has_own_descriptors();

/// A thread of the recorder's is being made by the calling one.
bool is_making_thread();
class MakesThread {
 public:
  MakesThread();
  ~MakesThread();
  MakesThread(const MakesThread &) = delete;
  MakesThread &operator=(const MakesThread &) = delete;
};

void with_descriptors(void (*run)(void *), void *argument);

/// Calls `run`, which opens files, asks MPI nothing, throws nothing and leaves nothing open; on a thread with a table
/// of its own if the process has no descriptors left.
template <typename Run>
void with_descriptors(Run &&run) {
  with_descriptors([](void *it) { (*static_cast<std::remove_reference_t<Run> *>(it))(); }, &run);
}

}  // namespace cairn::recorder
