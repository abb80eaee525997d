#include "mpi/store/timing_log.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <map>
#include <unordered_map>

#include "base/file_size.h"
#include "base/spool_files.h"
#include "base/uncancelled.h"
#include "base/whole.h"
#include "mpi/store/frame.h"
#include "spec/spec.h"
#include "timing/group_numbers.h"
#include "trace/model/record_times.h"

namespace cairn::recorder {
namespace {

constexpr size_t kLeastHalf = 64;  ///< calls
static_assert(timing::EndsByDepth<uint64_t>::kMost >= kMostFrames, "each frame's depth has an end of its own");

ByteView magic() { return {reinterpret_cast<const uint8_t *>(kTimingMagic.data()), kTimingMagic.size()}; }

uint64_t cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

/// Until whoever holds a log lets go.
void pause() {
  const timespec time = {0, 50'000};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
}

/// Rows as groups with bounds.
class RowGroups {
 public:
  explicit RowGroups(const timing::Setting &setting) : setting_(setting) {}
  struct Group {
    uint32_t number;
    uint64_t bound;
    uint32_t depth;
  };
  Group of(const uint8_t *row) {
    const auto [entry, added] = of_row_.try_emplace(row);
    if (!added) return entry->second;
    constexpr size_t kHead = 3 * kMaxVarint;  // what is read of it: a row has more bytes than that reads
    const trace::RowGroup told = trace::group_of_row({row, kHead});
    const auto [group, fresh] = groups_.try_emplace(told);
    if (fresh) {
      group->second.number = static_cast<uint32_t>(groups_.size() - 1);
      group->second.depth = static_cast<uint32_t>(told.depth);
      const bool known = told.function < spec::functions().size();
      group->second.bound = known ? setting_.bound_of(spec::functions()[told.function].name) : setting_.bound;
    }
    return entry->second = group->second;
  }

 private:
  const timing::Setting &setting_;
  std::unordered_map<const uint8_t *, Group> of_row_;
  std::map<trace::RowGroup, Group> groups_;
};

}  // namespace

bool TimingLog::take_buffer(Arena &arena) {
  // Less for each further thread, so that there is room for what they call.
  const uint32_t room = room_;
  for (size_t half = room; half >= kLeastHalf; half /= 2) {
    buffer_ = arena.allocate_array<TimedCall>(2 * half);
    if (buffer_ == nullptr) continue;
    room_ = static_cast<uint32_t>(half);
    next_ = buffer_;
    end_of_half_ = buffer_ + half;
    return true;
  }
  return false;
}

bool TimingLog::open(Arena &arena, const Place &place) {
  const size_t share = std::min(kMostBuffer, arena.limit() / (32 + 16 * size_t{place.thread}));
  room_ = static_cast<uint32_t>(std::max(share / sizeof(TimedCall) / 2, kLeastHalf));
  if (!take_buffer(arena)) return false;
  clock_ = place.clock;
  setting_ = place.setting;
  wake_ = place.wake;
  memory_most_ = std::max(arena.limit(), size_t{1} << 20);
  constexpr int kRest = 24;  // ".N.timing"
  folder_and_name_ = place.folder == nullptr ? 0
                                             : snprintf(path_, sizeof path_, "%s/%s.%d.%u", place.folder, place.host,
                                                        place.pid, place.thread);
  in_file_ = place.folder != nullptr && folder_and_name_ < static_cast<int>(sizeof path_) - kRest;
  if (in_file_) strcpy(path_ + folder_and_name_, ".timing");
  return true;
}

bool TimingLog::begin_next(Arena &arena, uint32_t segment, TimingLog *next) {
  if (!is_open()) {
    next->next_ = nullptr;
    return true;
  }
  hold();
  next->take(*this);
  next->filled_.store(0);
  next->which_kept_.store(0);
  memset(static_cast<void *>(next->kept_), 0, sizeof next->kept_);
  next->memory_ = nullptr;
  next->memory_size_ = next->memory_room_ = 0;
  next->file_is_full_ = false;
  if (!next->take_buffer(arena)) {
    let_go();
    return false;
  }
  if (in_file_) {
    const size_t room = sizeof path_ - static_cast<size_t>(folder_and_name_);
    snprintf(next->path_ + folder_and_name_, room, ".%u.timing", segment);
  }
  return true;
}

void TimingLog::take(const TimingLog &other) {
  memcpy(static_cast<void *>(this), static_cast<const void *>(&other), sizeof *this);
  let_go();
}

void TimingLog::release(Arena &arena) {
  reset();
  if (!is_open()) return;
  arena.release_array(buffer_, 2 * size_t{room_});
  next_ = nullptr;
}

TimingLog::Half TimingLog::half(uint32_t number) const {
  const TimedCall *begin = buffer_ + (number & 1) * room_;
  const uint32_t filled = filled_.load(std::memory_order_acquire);
  if (number != filled) return {begin, room_};
  // Between two stores of `turn` the pointer may still be at the end of the other half.
  const bool here = next_ >= begin && next_ <= begin + room_ && end_of_half_ == begin + room_;
  return {begin, here ? static_cast<size_t>(next_ - begin) : 0};
}

void TimingLog::hold() {
  while (!try_hold()) pause();
}

void TimingLog::keep_now() {
  hold();
  keep_full_half();
  let_go();
}

void TimingLog::turn() {
  const Uncancelled guard;
  const uint32_t full = filled_.load(std::memory_order_relaxed);
  // The other half must be free before it is begun.
  if (kept().halves != full) keep_now();
  filled_.store(full + 1, std::memory_order_release);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  next_ = buffer_ + ((full + 1) & 1) * room_;
  end_of_half_ = next_ + room_;
  if (wake_ == nullptr || !wake_()) keep_now();
}

void TimingLog::work() {
  if (!is_open() || kept().halves == filled_.load(std::memory_order_acquire) || !try_hold()) return;
  keep_full_half();
  let_go();
}

void TimingLog::keep_full_half() {
  if (kept().halves == filled_.load(std::memory_order_acquire)) return;
  Kept next = kept();
  Bytes block;
  next.clock = clock();  // over all the time so far: so the error does not grow with the recording
  try {
    if (!stopped_) make_block(*setting_, half(next.halves), &next, &block);
    if (!stopped_ && !store(block, &next)) stopped_ = true;
  } catch (...) {
    stopped_ = true;  // no memory
  }
  ++next.halves;
  const uint32_t which = which_kept_.load(std::memory_order_relaxed) + 1;
  kept_[which & 1] = next;
  which_kept_.store(which, std::memory_order_release);
}

void TimingLog::make_block(const timing::Setting &setting, Half half, Kept *kept, Bytes *out) const {
  if (half.count == 0) return;
  const uint64_t begin = cpu_ns();
  const Clock &clock = kept->clock.clock();
  const auto apart = [](uint64_t from, uint64_t to) { return to > from ? to - from : 0; };
  if (kept->cost.size.blocks == 0) kept->ends.ended(0, begin_);
  std::vector<timing::CallTime> times(half.count);
  timing::GroupNumbers numbers;
  numbers.begin_block();
  RowGroups groups(setting);
  for (size_t i = 0; i < half.count; ++i) {
    const TimedCall &call = half.calls[i];
    const uint64_t begun = clock.at(call.begin);
    const RowGroups::Group group = groups.of(call.row);
    times[i] = {apart(clock.at(kept->ends.before(group.depth)), begun), apart(begun, clock.at(call.end))};
    kept->ends.ended(group.depth, call.end);
    numbers.add(group.number, group.bound, group.depth);
  }
  timing::encode_block(*setting.mode, numbers.calls(), times, &kept->end, out, &kept->cost.size);
  kept->cost.coding_ns += cpu_ns() - begin;
}

bool TimingLog::store(const Bytes &block, Kept *kept) {
  const uint64_t begin = Clock::monotonic();
  bool stored = in_file_ && !file_is_full_ && keep_in_file(block, kept);
  if (!stored) {
    file_is_full_ = true;
    stored = keep_in_memory(block);
  }
  kept->cost.writing_ns += Clock::monotonic() - begin;
  return stored;
}

bool TimingLog::keep_in_file(const Bytes &block, Kept *kept) {
  // Opened anew each time: the program may close descriptors that it didn't open.
  const int file = ::open(path_, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return false;
  const uint64_t before = kTimingMagic.size() + kept->file_bytes;
  bool written = may_grow_to(before + block.size());
  if (written && kept->file_bytes == 0) written = write_all(file, magic()) == 0;
  if (written) written = write_at(file, before, block) == 0;
  close(file);
  if (written) kept->file_bytes += block.size();
  return written;
}

bool TimingLog::keep_in_memory(const Bytes &block) {
  if (memory_size_ + block.size() > memory_room_) {
    size_t room = memory_room_ == 0 ? size_t{1} << 20 : memory_room_ * 2;
    while (room < memory_size_ + block.size()) room *= 2;
    if (room > memory_most_) return false;
    void *grown = memory_ == nullptr ? mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                     : mremap(memory_, memory_room_, room, MREMAP_MAYMOVE);
    if (grown == MAP_FAILED) return false;
    memory_ = static_cast<uint8_t *>(grown);
    memory_room_ = room;
  }
  memcpy(memory_ + memory_size_, block.data(), block.size());
  memory_size_ += block.size();
  return true;
}

CalibratedClock TimingLog::clock(Owner owner) const {
  CalibratedClock clock = kept().halves == 0 ? *clock_ : kept().clock;
  if (owner == Owner::living) clock.calibrate();
  return clock;
}

Bytes TimingLog::read(const timing::Setting &setting, Owner owner, bool all, timing::TimesCost *cost) const {
  if (!is_open()) return {};
  Bytes result = {timing::kStreamMark};
  while (owner == Owner::living && held_.load(std::memory_order_acquire) != 0) pause();
  Kept so_far = kept();
  if (so_far.file_bytes != 0) {
    const int file = ::open(path_, O_RDONLY | O_CLOEXEC);
    result.resize(1 + so_far.file_bytes);
    size_t done = 0;
    while (file >= 0 && done < so_far.file_bytes) {
      const ssize_t n = pread(file, result.data() + 1 + done, so_far.file_bytes - done,
                              static_cast<off_t>(kTimingMagic.size() + done));
      if (n <= 0) break;
      done += static_cast<size_t>(n);
    }
    if (file >= 0) close(file);
    if (done < so_far.file_bytes) return {};  // the file is not the one that was written
  }
  const bool lost = memory_size_ != 0 && owner == Owner::dead;  // what was in it died with the process
  if (!lost) result.insert(result.end(), memory_, memory_ + memory_size_);
  so_far.clock = clock(owner);
  if (!stopped_ && !lost) {
    const uint32_t filled = filled_.load(std::memory_order_acquire);
    for (uint32_t number = so_far.halves; number != filled + 1; ++number) {
      Half rest = half(number);
      if (!all && number == filled && rest.count != 0) --rest.count;
      make_block(setting, rest, &so_far, &result);
    }
  }
  if (cost != nullptr) cost->add(so_far.cost);
  if (result.size() == 1) result.clear();
  return result;
}

void TimingLog::reset() {
  if (!is_open()) return;
  hold();
  if (in_file_) unlink(path_);
  if (memory_ != nullptr) munmap(memory_, memory_room_);
  memory_ = nullptr;
  memory_size_ = memory_room_ = 0;
  file_is_full_ = stopped_ = false;
  filled_.store(0);
  which_kept_.store(0);
  kept_[0] = {};
  next_ = buffer_;
  end_of_half_ = buffer_ + room_;
  let_go();
}

}  // namespace cairn::recorder
