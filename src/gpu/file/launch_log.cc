#include "gpu/file/launch_log.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <unordered_map>
#include <utility>

#include "base/file_lock.h"
#include "base/file_size.h"
#include "base/spool_files.h"
#include "base/uncancelled.h"
#include "base/whole.h"
#include "gpu/file/collect.h"
#include "gpu/file/spooled.h"

namespace cairn::gpu {
namespace {

constexpr size_t kPage = 4096;

/// Keeps a lock for as long as the process lives, without a descriptor; what is there is never looked at.
void *hold(int file) {
  if (!lock_file(file)) return nullptr;
  void *const at = mmap(nullptr, kPage, PROT_NONE, MAP_SHARED, file, 0);
  if (at == MAP_FAILED) return nullptr;
  madvise(at, kPage, MADV_DONTFORK);  // else it would be held for as long as children live
  return at;
}

bool is_same(const LaunchRecord &a, const LaunchRecord &b) {
  return a.moment.made_ns == b.moment.made_ns && a.moment.thread == b.moment.thread &&
         a.moment.calls == b.moment.calls && a.kernel == b.kernel && a.stream == b.stream && a.device == b.device;
}

}  // namespace

LaunchLog::LaunchLog(std::string stem, uint32_t rank, std::string command, int64_t start_unix_ns)
    : stem_(std::move(stem)),
      rank_(rank),
      command_(std::move(command)),
      start_unix_ns_(start_unix_ns),
      pid_(getpid()) {}

Bytes LaunchLog::head() const { return write_spooled_head({rank_, start_unix_ns_, made_, zero_, over_, command_}); }

int LaunchLog::make() {
  const Uncancelled guard;
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  const Bytes front = head();
  int file = -1;
  std::string path;
  for (int tries = 0; tries < 1000 && file < 0; ++tries) {
    path = stem_ + host + "." + std::to_string(pid_) + "." + std::to_string(++number_) + std::string(kGpuEnding);
    file = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0 && errno != EEXIST) break;  // one that is there is of a program that this process was before
  }
  if (file < 0) {
    const int error = errno;
    path_ = path;
    return error;
  }
  held_ = hold(file);
  int error = may_grow_to(front.size()) ? write_at(file, 0, front) : EFBIG;
  if (close(file) != 0 && error == 0) error = errno;
  path_ = path;
  if (error == 0) {
    end_ = front.size();
  } else {
    unlink(path.c_str());
    let_go();
  }
  return error;
}

/// There is a file, and those that were in flight before there was stand in it.
int LaunchLog::ready() {
  if (end_ != 0) return 0;
  int error = make();
  for (auto each = in_flight_.begin(); each != in_flight_.end() && error == 0; ++each) {
    error = put(each->first, *each->second.program, {}, each->second.launch);
  }
  return error;
}

int LaunchLog::write(const Bytes &record) {
  const Uncancelled guard;
  const int file = open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return errno;
  int error = may_grow_to(end_ + record.size()) ? write_at(file, end_, record) : EFBIG;
  // What was written of it would not be read, but takes room.
  if (error != 0 && ftruncate(file, static_cast<off_t>(end_)) != 0) error = errno;
  // Where there is room for no more, there is yet for this, which has a place already. A record is there without it.
  const int head_error = write_at(file, 0, head());
  if (record.empty()) error = head_error;
  if (close(file) != 0 && error == 0) error = errno;
  if (error == 0) end_ += record.size();
  return error;
}

int LaunchLog::put(uint64_t id, const cairn_gpu_program &program, const Launches &from, const LaunchRecord &launch) {
  const auto known = programs_.find(&program);
  const uint64_t number = known == programs_.end() ? programs_.size() : known->second;
  Launches one;
  one.add(known == programs_.end() ? program_of(program) : ProgramRecord());
  LaunchRecord record = launch;
  record.program = 0;
  // Where it stands here, and in the file; new ones are told whole.
  std::unordered_map<uint32_t, uint32_t> here;
  std::vector<uint32_t> in_file;
  std::vector<uint32_t> fresh;
  streams_.resize(std::max(streams_.size(), from.streams.size()));
  for (WarpStreams &warp : record.warps) {
    for (uint32_t &stream : warp.streams) {
      const auto [at, first] = here.emplace(stream, static_cast<uint32_t>(in_file.size()));
      if (first) {
        const bool is_new = streams_[stream] == 0;
        in_file.push_back(is_new ? stream_count_ + static_cast<uint32_t>(fresh.size()) : streams_[stream] - 1);
        one.streams.push_back(is_new ? from.streams[stream] : StreamRecord());
        if (is_new) fresh.push_back(stream);
      }
      stream = at->second;
    }
  }
  one.launches.push_back(std::move(record));
  const int error = write(write_spooled_launch(id, number, in_file, one));
  if (error != 0) return error;
  for (const uint32_t stream : fresh) streams_[stream] = ++stream_count_;
  programs_.emplace(&program, number);
  return 0;
}

uint64_t LaunchLog::id_of(const cairn_gpu_program &program, const LaunchRecord &launch) {
  const auto found = std::find_if(in_flight_.begin(), in_flight_.end(), [&](const auto &each) {
    return each.second.program == &program && is_same(each.second.launch, launch);
  });
  if (found == in_flight_.end()) return ++made_;
  const uint64_t id = found->first;
  in_flight_.erase(found);
  return id;
}

int LaunchLog::began(const cairn_gpu_program &program, const LaunchRecord &launch, const Zero &zero) {
  if (pid_ != getpid()) return 0;
  zero_ = zero;
  // Where one that has ended found no room, a smaller record of one that has not would mislead.
  const bool tries = patience_ == 0 && unwritten_.empty();
  const int error = tries ? ready() : 0;
  in_flight_.emplace(++made_, InFlight{&program, launch});
  if (tries && error == 0) return put(made_, program, {}, launch);
  count();
  return error;
}

void LaunchLog::made_at(uint64_t ns) {
  if (!in_flight_.empty()) in_flight_.rbegin()->second.launch.moment.made_ns = static_cast<int64_t>(ns);
}

int LaunchLog::ended(const cairn_gpu_program &program, const Launches &from, size_t launch, const Zero &zero) {
  if (pid_ != getpid()) return 0;
  zero_ = zero;
  unwritten_.push_back({id_of(program, from.launches[launch]), &program, launch});
  if (patience_ != 0) {
    --patience_;
    count();
    return 0;
  }
  const int error = flush(from);
  patience_ = error == 0 ? 0 : next_patience_;
  next_patience_ = error == 0 ? 1 : 2 * next_patience_;
  return error;
}

void LaunchLog::count() {
  if (end_ != 0) (void)write({});
}

int LaunchLog::flush(const Launches &from) {
  int error = ready();
  size_t done = 0;
  while (error == 0 && done < unwritten_.size()) {
    const Unwritten &each = unwritten_[done];
    error = put(each.id, *each.program, from, from.launches[each.launch]);
    done += error == 0 ? 1 : 0;
  }
  unwritten_.erase(unwritten_.begin(), unwritten_.begin() + static_cast<std::ptrdiff_t>(done));
  return error;
}

int LaunchLog::finish(const Launches &from, const Zero &zero) {
  if (pid_ != getpid()) return 0;
  zero_ = zero;
  const int error = unwritten_.empty() ? 0 : flush(from);
  made_ -= in_flight_.size();  // they are told in the next file
  over_ = true;
  const int head_error = end_ == 0 ? 0 : write({});
  let_go();
  return error != 0 ? error : head_error;
}

void LaunchLog::remove() {
  if (pid_ != getpid()) return;
  if (end_ != 0) unlink(path_.c_str());
  let_go();
}

void LaunchLog::begin_anew() {
  const std::map<uint64_t, InFlight> in_flight = std::exchange(in_flight_, {});
  end_ = 0;
  made_ = 0;
  over_ = false;
  for (const auto &each : in_flight) in_flight_.emplace(++made_, each.second);
  unwritten_.clear();
  programs_.clear();
  streams_.clear();
  stream_count_ = 0;
}

void LaunchLog::let_go() {
  if (held_ != nullptr) munmap(held_, kPage);
  held_ = nullptr;
}

}  // namespace cairn::gpu
