#include "arrays/file/recover.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "arrays/file/journal.h"
#include "arrays/file/writer_lock.h"
#include "base/file_size.h"
#include "base/hash.h"
#include "base/whole.h"

namespace cairn::arrays {
namespace {

/// Sets the number of records within a header of the classic formats.
void set_records(Bytes *header, int version, uint64_t records) {
  constexpr size_t kPlace = 4;
  const size_t width = version == 5 ? 8 : 4;
  for (size_t i = 0; i < width; ++i) (*header)[kPlace + i] = static_cast<uint8_t>(records >> (8 * (width - 1 - i)));
}

}  // namespace

/// Blocks count that are newer than all that the index names: the index had all that there were when it was written,
/// but for those that others had replaced.
Result<void> StoredFile::find_unlisted() {
  const uint64_t newest = index_.newest();
  std::vector<Block> blocks;
  const auto take = [&](JournalRecord record) {
    if (record.user_codecs.size() > index_.user_codecs.size()) index_.user_codecs = std::move(record.user_codecs);
    for (Block &block : record.blocks) {
      if (!block.at_home) block.offset += place_.moved;
      if (block.sequence > newest && block.offset <= kMostOffset) blocks.push_back(std::move(block));
    }
  };
  const uint64_t begin = std::min(index_.data_begin, size_);
  if (auto read = read_journal(*file_, *place_.session, {begin, size_ - begin}, take); !read) return read;
  index_.end = std::max(index_.end, size_);
  if (blocks.empty()) return {};
  std::ranges::stable_sort(blocks, {}, &Block::sequence);
  if (std::ranges::any_of(blocks, [](const Block &block) { return block.reference != 0; })) {
    index_.keep_replaced();
    if (refer_elsewhere(blocks, index_)) {
      if (auto loaded = index_.load_all(reader(0)); !loaded) return loaded;
    }
  }
  uint64_t records = header_.records;
  for (Block &block : blocks) {
    const std::optional<size_t> other = index_.reference_of(block);
    if (block.reference != 0 && !other) continue;
    const uint64_t seed = other ? index_.blocks()[*other].checksum : 0;
    const uint64_t bytes = block.bytes();
    const uint64_t end = block.end();
    const Result<Bytes> coded = read_places(block);
    if (!coded || !arrays::intact(block, *coded, seed) || !index_.add(std::move(block))) continue;
    ++unlisted_.blocks;
    unlisted_.bytes += bytes;
    if (header_.record_size != 0 && end > header_.first_record)
      records = std::max(records, (end - 1 - header_.first_record) / header_.record_size + 1);
  }
  index_.drop_unneeded();
  if (records == header_.records || (header_.version != 5 && records >= UINT32_MAX)) return {};
  Bytes changed = index_.header;
  set_records(&changed, header_.version, records);
  Result<Parsed> parsed = parse_header(changed);
  if (!parsed || !parsed->header) return {};
  index_.header = std::move(changed);
  header_ = std::move(*parsed->header);
  layout_ = Layout(header_);
  return {};
}

Result<Recovery> recover(const std::string &path) {
  // Before anything is read: a job that is about to close the file writes its own index.
  const WriterLock lock(path);
  if (lock.state() == WriterLock::State::refused) {
    return tl::unexpected(Error{ErrorKind::environment, "a job is writing to it", path, Error::kNoOffset,
                                "recover it when that has ended"});
  }
  Result<StoredFile> stored = StoredFile::open(path, StoredFile::Take::as_needed);
  if (!stored) return tl::unexpected(stored.error());
  if (stored->closed()) return Recovery{true, {}};
  const auto cannot = [&](int number) {
    return tl::unexpected(Error{ErrorKind::environment, std::string("cannot be written: ") + strerror(number), path,
                                Error::kNoOffset, ""});
  };
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return cannot(errno);
  Index index = stored->index();
  index.end_chains();
  int error = 0;
  if (std::optional<Index::Plan> plan = index.plan(IndexSizes())) {
    error = may_grow_to(index.end + plan->bytes.size()) ? write_at(file, index.end, plan->bytes) : EFBIG;
    index.filed(std::move(*plan));
  }
  const Bytes packed = pack(index);
  IndexPlace place{index.end, packed.size(), hash64(packed), 0, stored->index_place().storage};
  place.offset += (4 - (place.offset + place.size) % 4) % 4;
  const uint64_t end = place.offset + place.size;
  if (error == 0) error = may_grow_to(end) ? write_at(file, place.offset, packed) : EFBIG;
  if (error == 0 && fdatasync(file) != 0) error = errno;
  // Not before the index is there may the header name it.
  if (error == 0) error = write_at(file, 0, physical_header(stored->header(), place, index.data_begin, end));
  if (error == 0 && fsync(file) != 0) error = errno;
  close(file);
  if (error != 0) return cannot(error);
  return Recovery{false, stored->unlisted()};
}

}  // namespace cairn::arrays
