// TimingLog: the times of one thread's calls while it is recorded, where the timing mode keeps times.
//
// A call stores which row it is and its two readings of the clock, in ticks: 24 bytes, no more. They fill one half of a
// buffer in the arena (kMostBuffer, less where the arena is small); when it is full the other half is begun, and the
// recorder's own thread (spiller.h) makes a block of the full one (timing/stream.h) and appends it to a file in the
// spool, which outlives the process; without a spool, or once its disk has no room, to memory of their own, as much as
// the recorder may have altogether. Where there is no such thread, or it has not come to it when the next half is full,
// the call does that itself. When neither file nor memory has room the log stops, once and for all, and says so.
//
// *A reader of a dead process's arena* finds each call once: in the file as far as `kept` says, and in the halves that
// `kept` does not count. So all that keeping a half changes is told by one store.
//
// The owner adds; the recorder's thread, or the owner, holds `held_` while it makes a block.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/arena.h"
#include "base/bytes.h"
#include "mpi/store/clock.h"
#include "timing/setting.h"
#include "timing/stream.h"

namespace cairn::recorder {

class TimingLog {
 public:
  static constexpr size_t kMostBuffer = size_t{1} << 20;

  struct Place {
    const char *folder = nullptr;  ///< the spool, or nullptr
    const char *host = "";
    int pid = 0;
    uint32_t thread = 0;
    const CalibratedClock *clock = nullptr;
    const timing::Setting *setting = nullptr;  ///< of living processes
    /// Wakes the thread that calls `work`; false if there is none. nullptr: there is none.
    bool (*wake)() = nullptr;
  };
  /// False without memory.
  bool open(Arena &arena, const Place &place);
  [[nodiscard]] bool is_open() const { return next_ != nullptr; }
  /// Makes `next` the empty log that goes on where this one, of the thread's `segment`-th sequence, ends. False, with
  /// nothing changed, without memory. Until this log is told to `let_go`, or another takes its place, the recorder's
  /// own thread does nothing with it.
  bool begin_next(Arena &arena, uint32_t segment, TimingLog *next);
  void let_go() { held_.store(0, std::memory_order_release); }
  /// Takes the place of `other`, which may not be used any more. Nobody holds it then.
  void take(const TimingLog &other);

  /// When the log's first call, or the one that this is nested in, began, in ticks. Before that is added.
  void begin_at(uint64_t begin) { begin_ = begin; }
  /// A call of that packed row, which stays where it is while the log lives. Times in ticks.
  void add(const uint8_t *row, uint64_t begin, uint64_t end) {
    *next_ = {row, begin, end};
    if (++next_ == end_of_half_) [[unlikely]]
      turn();
  }

  /// By the recorder's own thread: makes a block of the half that is full, if any.
  void work();

  enum class Owner : uint8_t { living, dead };
  /// Everything since `open`, as a stream (timing/stream.h); of a dead process up to where it went on in memory.
  /// Without the last call if `all` is false and that has not been kept yet. `setting` is for what has not been kept.
  [[nodiscard]] Bytes read(const timing::Setting &setting, Owner owner = Owner::living, bool all = true,
                           timing::TimesCost *cost = nullptr) const;
  /// By which `read` tells times.
  [[nodiscard]] CalibratedClock clock(Owner owner = Owner::living) const;
  /// Times are missing in what `read` gives.
  [[nodiscard]] bool stopped(Owner owner = Owner::living) const {
    return stopped_ || (owner == Owner::dead && memory_size_ != 0);
  }
  /// Forgets everything; the file goes.
  void reset();
  /// That, and gives back what `begin_next` did not hand on. By any thread.
  void release(Arena &arena);

 private:
  struct TimedCall {
    const uint8_t *row;
    uint64_t begin;
    uint64_t end;
  };
  /// What has been made blocks of.
  struct Kept {
    uint32_t halves;                     ///< since `open`
    uint64_t file_bytes;                 ///< of the file, without its magic
    timing::EndsByDepth<uint64_t> ends;  ///< in ticks
    timing::StreamEnd end;
    timing::TimesCost cost;
    CalibratedClock clock;  ///< as it was then, from the first of them on
  };
  struct Half {
    const TimedCall *calls;
    size_t count;
  };

  bool take_buffer(Arena &arena);
  void turn();
  bool try_hold() { return held_.exchange(1, std::memory_order_acquire) == 0; }
  void hold();
  void keep_full_half();
  /// That, held meanwhile.
  void keep_now();
  [[nodiscard]] Half half(uint32_t number) const;
  /// By `kept->clock`.
  void make_block(const timing::Setting &setting, Half half, Kept *kept, Bytes *out) const;
  bool store(const Bytes &block, Kept *kept);
  bool keep_in_file(const Bytes &block, Kept *kept);
  bool keep_in_memory(const Bytes &block);
  [[nodiscard]] const Kept &kept() const { return kept_[which_kept_.load(std::memory_order_acquire) & 1]; }

  // What each call touches.
  TimedCall *next_;
  TimedCall *end_of_half_;

  uint64_t begin_;     ///< in ticks
  TimedCall *buffer_;  ///< two halves of `room_` calls
  uint32_t room_;
  std::atomic<uint32_t> filled_;  ///< halves, since `open`: the one with this number is being filled
  std::atomic<uint32_t> held_;
  std::atomic<uint32_t> which_kept_;
  Kept kept_[2];

  const CalibratedClock *clock_;
  const timing::Setting *setting_;
  bool (*wake_)();
  uint8_t *memory_;  ///< blocks that are in no file, in a mapping that grows
  size_t memory_size_;
  size_t memory_room_;
  size_t memory_most_;
  bool in_file_;
  bool file_is_full_;  ///< later blocks are in memory
  bool stopped_;
  int folder_and_name_;  ///< length of the part of `path_` that all logs of the thread have
  char path_[512];
};

}  // namespace cairn::recorder
