// TimingLog: the times of one thread's calls while it is recorded.
//
// Pairs (gap, duration) fill a chunk in the arena; full chunks are compressed and appended to a file in the spool,
// which outlives the process; without a spool, or once its disk has no room, to memory of their own, as much as the
// recorder may have altogether. Owned by one thread. When neither has room the log stops, once and for all, and says
// so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/arena.h"
#include "base/bytes.h"
#include "timing/lossless.h"

namespace cairn::recorder {

class TimingLog {
 public:
  /// `folder`: the spool, or nullptr. False without memory.
  bool open(Arena &arena, const char *folder, const char *host, int pid, uint32_t thread);
  /// Makes `next` the empty log that goes on where this one, of the thread's `segment`-th sequence, ends: from then on
  /// this one may only be read and released. False, with nothing changed, without memory.
  bool begin_next(Arena &arena, uint32_t segment, TimingLog *next) const;

  void add(uint64_t gap, uint64_t duration) {
    if (writer_ != nullptr && !writer_->add(gap, duration) && flush()) writer_->add(gap, duration);
  }

  enum class Owner : uint8_t { living, dead };
  /// Everything since `open`, as a stream of chunks; of a dead process up to where it went on in memory.
  [[nodiscard]] Bytes read(Owner owner = Owner::living) const;
  /// Times are missing in what `read` gives.
  [[nodiscard]] bool stopped(Owner owner = Owner::living) const {
    return stopped_ || (owner == Owner::dead && memory_size_ != 0);
  }
  /// Forgets everything; the file goes.
  void reset();
  /// That, and gives back what `begin_next` did not hand on. By any thread.
  void release(Arena &arena);

 private:
  bool flush();
  bool keep(const uint8_t *bytes, size_t size);
  bool keep_in_file(const uint8_t *bytes, size_t size);
  bool keep_in_memory(const uint8_t *bytes, size_t size);

  timing::LosslessWriter *writer_;
  uint8_t *pending_;
  uint8_t *out_;
  void *workspace_;
  uint8_t *memory_;  ///< chunks that are in no file, in a mapping that grows
  size_t memory_size_;
  size_t memory_room_;
  size_t memory_most_;
  bool in_file_;
  bool file_is_full_;  ///< later chunks are in memory
  bool stopped_;
  int folder_and_name_;  ///< length of the part of `path_` that all logs of the thread have
  char path_[512];
};

}  // namespace cairn::recorder
