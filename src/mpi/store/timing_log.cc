#include "mpi/store/timing_log.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "base/file_size.h"
#include "base/spool_files.h"
#include "base/whole.h"
#include "mpi/store/uncancelled.h"

namespace cairn::recorder {

using timing::LosslessWriter;

namespace {

ByteView magic() { return {reinterpret_cast<const uint8_t *>(kTimingMagic.data()), kTimingMagic.size()}; }

}  // namespace

bool TimingLog::open(Arena &arena, const char *folder, const char *host, int pid, uint32_t thread) {
  constexpr size_t kOut = LosslessWriter::kMaxChunk + 64;
  pending_ = arena.allocate_array<uint8_t>(LosslessWriter::kMaxChunk);
  out_ = arena.allocate_array<uint8_t>(kOut);
  // Where memory is short, chunks are better stored as they are than not at all.
  const bool roomy = arena.limit() / 8 >= LosslessWriter::workspace_size();
  workspace_ = roomy ? arena.allocate(LosslessWriter::workspace_size()) : nullptr;
  if (pending_ == nullptr || out_ == nullptr) return false;
  memory_most_ = std::max(arena.limit(), size_t{1} << 20);
  writer_ = arena.create<LosslessWriter>(pending_, size_t{LosslessWriter::kMaxChunk});
  constexpr int kRest = 24;  // ".N.timing"
  folder_and_name_ = folder == nullptr ? 0 : snprintf(path_, sizeof path_, "%s/%s.%d.%u", folder, host, pid, thread);
  in_file_ = folder != nullptr && folder_and_name_ < static_cast<int>(sizeof path_) - kRest;
  if (in_file_) strcpy(path_ + folder_and_name_, ".timing");
  return writer_ != nullptr;
}

bool TimingLog::begin_next(Arena &arena, uint32_t segment, TimingLog *next) const {
  *next = *this;
  if (writer_ == nullptr) return true;
  next->pending_ = arena.allocate_array<uint8_t>(LosslessWriter::kMaxChunk);
  next->writer_ = next->pending_ == nullptr
                      ? nullptr
                      : arena.create<LosslessWriter>(next->pending_, size_t{LosslessWriter::kMaxChunk});
  if (next->writer_ == nullptr) {
    arena.release_array(next->pending_, LosslessWriter::kMaxChunk);
    return false;
  }
  next->memory_ = nullptr;
  next->memory_size_ = next->memory_room_ = 0;
  next->file_is_full_ = false;
  if (in_file_) {
    const size_t room = sizeof path_ - static_cast<size_t>(folder_and_name_);
    snprintf(next->path_ + folder_and_name_, room, ".%u.timing", segment);
  }
  return true;
}

void TimingLog::release(Arena &arena) {
  reset();
  if (writer_ == nullptr) return;
  arena.release(writer_, sizeof *writer_);
  arena.release_array(pending_, LosslessWriter::kMaxChunk);
  writer_ = nullptr;
}

bool TimingLog::flush() {
  const size_t size = writer_->flush(out_, LosslessWriter::kMaxChunk + 64, workspace_,
                                     workspace_ == nullptr ? 0 : LosslessWriter::workspace_size());
  if (stopped_) return true;  // the chunk is dropped, the buffer empty again
  if (size == 0 || keep(out_, size)) return size != 0;
  stopped_ = true;
  return true;
}

bool TimingLog::keep_in_file(const uint8_t *bytes, size_t size) {
  // Opened anew each time: the program may close descriptors that it didn't open.
  const int file = ::open(path_, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return false;
  struct stat status {};
  const bool known = fstat(file, &status) == 0;
  const auto before = static_cast<uint64_t>(status.st_size);
  bool written = known && may_grow_to(before + kTimingMagic.size() + size);
  if (written && before == 0) written = write_all(file, magic()) == 0;
  if (written) written = write_all(file, {bytes, size}) == 0;
  // Half a chunk would make the whole file unreadable.
  if (!written && known && ftruncate(file, status.st_size) != 0) unlink(path_);
  close(file);
  return written;
}

bool TimingLog::keep_in_memory(const uint8_t *bytes, size_t size) {
  if (memory_size_ + size > memory_room_) {
    const size_t room = memory_room_ == 0 ? size_t{1} << 20 : memory_room_ * 2;
    if (room > memory_most_) return false;
    void *grown = memory_ == nullptr ? mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                     : mremap(memory_, memory_room_, room, MREMAP_MAYMOVE);
    if (grown == MAP_FAILED) return false;
    memory_ = static_cast<uint8_t *>(grown);
    memory_room_ = room;
  }
  memcpy(memory_ + memory_size_, bytes, size);
  memory_size_ += size;
  return true;
}

bool TimingLog::keep(const uint8_t *bytes, size_t size) {
  const Uncancelled guard;
  if (in_file_ && !file_is_full_) {
    if (keep_in_file(bytes, size)) return true;
    file_is_full_ = true;
  }
  return keep_in_memory(bytes, size);
}

Bytes TimingLog::read(Owner owner) const {
  Bytes result;
  if (writer_ == nullptr) return result;
  if (in_file_) {
    const int file = ::open(path_, O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (file >= 0 && fstat(file, &status) == 0) {
      result.resize(static_cast<size_t>(status.st_size));
      size_t done = 0;
      while (done < result.size()) {
        const ssize_t n = ::read(file, result.data() + done, result.size() - done);
        if (n <= 0) break;
        done += static_cast<size_t>(n);
      }
      result.resize(done);
    }
    if (file >= 0) close(file);
    result.erase(result.begin(), result.begin() + std::min(result.size(), kTimingMagic.size()));
  }
  if (memory_size_ != 0 && owner == Owner::dead) return result;  // which died with it
  if (memory_size_ != 0) result.insert(result.end(), memory_, memory_ + memory_size_);
  LosslessWriter last = *writer_;  // a copy: reading changes nothing
  Bytes chunk(last.flush_bound());
  chunk.resize(last.flush(chunk.data(), chunk.size(), nullptr, 0));
  result.insert(result.end(), chunk.begin(), chunk.end());
  return result;
}

void TimingLog::reset() {
  if (writer_ == nullptr) return;
  if (in_file_) unlink(path_);
  if (memory_ != nullptr) munmap(memory_, memory_room_);
  memory_ = nullptr;
  memory_size_ = memory_room_ = 0;
  file_is_full_ = false;
  *writer_ = LosslessWriter(pending_, LosslessWriter::kMaxChunk);
}

}  // namespace cairn::recorder
