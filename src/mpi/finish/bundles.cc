#include "mpi/finish/bundles.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <span>
#include <utility>

#include "base/file_size.h"
#include "base/whole.h"
#include "blocks/dense.h"
#include "mpi/finish/comm_calls.h"
#include "mpi/store/descriptors.h"
#include "trace/file/file.h"

namespace cairn::recorder {
namespace {

/// 0 or errno.
int add_at(int file, uint64_t at, ByteView bytes) {
  return may_grow_to(at + bytes.size()) ? write_at(file, at, bytes) : EFBIG;
}

/// A file without a name.
int spool_file(const Run &run) {
  // Where the process has none left this one would not outlast the thread.
  if (run.config.spool == nullptr || has_own_descriptors()) return -1;
  const std::string name = run.file_in(run.config.spool, "bundles");
  const int file = open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file >= 0) unlink(name.c_str());
  return file;
}

}  // namespace

BundleStore::~BundleStore() { drop(); }

void BundleStore::drop() {
  if (map_ != nullptr) munmap(map_, stored_);
  map_ = nullptr;
  if (file_ >= 0) close(file_);
  file_ = -1;
  sizes_.clear();
  kept_.clear();
  stored_ = kept_bytes_ = 0;
}

void BundleStore::add(Bytes bundle) {
  if (bundle.empty()) return;
  if (file_ < 0 && kept_.empty()) file_ = spool_file(run_);
  sizes_.reserve(sizes_.size() + 1);
  if (file_ >= 0 && add_at(file_, stored_, bundle) == 0) {
    sizes_.push_back(bundle.size());
    stored_ += bundle.size();
    return;
  }
  kept_bytes_ += bundle.size();
  kept_.push_back(std::move(bundle));
}

ByteView BundleStore::mapped() {
  if (stored_ == 0) return {};
  if (map_ == nullptr) {
    map_ = mmap(nullptr, stored_, PROT_READ, MAP_SHARED, file_, 0);
    if (map_ == MAP_FAILED) map_ = nullptr;
  }
  return {static_cast<const uint8_t *>(map_), map_ == nullptr ? 0 : stored_};
}

bool BundleStore::write(const std::string &path, uint64_t blocks, uint64_t total) {
  uint64_t words[2] = {blocks, total};
  if (!mpi::broadcast(comm_, words, sizeof words)) words[1] = 0;
  if (words[1] == 0) return true;
  bool written = false;
  const bool together = write_together(path, words[0], words[1], &written);
  if (!together && run_.rank == 0) written = write_by_root(path, blocks);
  if (!together && run_.rank != 0) send_to_root();
  drop();
  return written;
}

/// False on all ranks if they have to send theirs.
bool BundleStore::write_together(const std::string &path, uint64_t blocks, uint64_t total, bool *written) {
  std::vector<ByteView> pieces;
  uint64_t able = 1;
  try {
    pieces.reserve(kept_.size() + 1);
    pieces.push_back(mapped());
    for (const Bytes &each : kept_) pieces.emplace_back(each);
    able = pieces[0].size() == stored_ ? 1 : 0;
  } catch (...) {
    able = 0;
  }
  // All must have what they said that they have.
  uint64_t words[2] = {able == 1 ? bytes() : 0, able};
  if (!mpi::sum(comm_, words, 2)) return false;
  if (words[0] != total || words[1] != static_cast<uint64_t>(run_.size)) return false;
  const blocks::Target target = blocks == 0 ? blocks::Target::fresh : blocks::Target::longer;
  *written = blocks::write_dense(calls_of(&comm_, run_.rank), path.c_str(), target, trace::kHeaderBytes + blocks, total,
                                 pieces)
                 .written;
  return *written;
}

void BundleStore::send_to_root() {
  const ByteView stored = mapped();
  const bool readable = stored.size() == stored_;
  const uint64_t count = (readable ? sizes_.size() : 0) + kept_.size();
  mpi::send(comm_, &count, sizeof count, 0);
  uint64_t at = 0;
  for (size_t i = 0; readable && i < sizes_.size(); ++i) {
    mpi::send(comm_, stored.data() + at, sizes_[i], 0);
    at += sizes_[i];
  }
  for (const Bytes &each : kept_) mpi::send(comm_, each.data(), each.size(), 0);
}

bool BundleStore::write_by_root(const std::string &path, uint64_t blocks) {
  const int made = blocks == 0 ? O_CREAT | O_TRUNC : 0;
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC | made, 0666);
  int error = file < 0 ? errno : 0;
  uint64_t at = trace::kHeaderBytes + blocks;
  const auto add = [&](ByteView bundle) {
    if (error == 0) error = add_at(file, at, bundle);
    at += bundle.size();
  };
  const ByteView stored = mapped();
  if (stored.size() != stored_) error = EIO;
  add(stored);
  for (const Bytes &each : kept_) add(each);
  for (int rank = 1; rank < run_.size; ++rank) {
    uint8_t *bytes = nullptr;
    uint64_t size = 0;
    uint64_t count = 0;
    if (mpi::receive(comm_, &bytes, &size, rank) && size == sizeof count) memcpy(&count, bytes, sizeof count);
    free(bytes);
    // What was sent is received, come what may: nobody is to wait for ever.
    for (uint64_t i = 0; i < count; ++i) {
      bytes = nullptr;
      if (mpi::receive(comm_, &bytes, &size, rank)) {
        add({bytes, size});
      } else if (error == 0) {
        error = ENOMEM;
      }
      free(bytes);
    }
  }
  if (file >= 0 && close(file) != 0 && error == 0) error = errno;
  if (error == 0) return true;
  unlink(path.c_str());
  errno = error;
  return false;
}

}  // namespace cairn::recorder
