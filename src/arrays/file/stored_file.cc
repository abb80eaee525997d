#include "arrays/file/stored_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/hash.h"
#include "base/whole.h"

namespace cairn::arrays {
namespace {

/// All of `size` bytes, or what is wrong.
Result<Bytes> read_at(int file, uint64_t at, uint64_t size) {
  Bytes bytes(size);
  size_t got = 0;
  if (const int error = cairn::read_at(file, at, bytes, &got); error != 0)
    return fail(ErrorKind::environment, std::string("it cannot be read: ") + strerror(error));
  if (got < size) return fail(ErrorKind::unreadable, "the file ends before it");
  return bytes;
}

template <typename T>
tl::unexpected<Error> in_file(const std::string &path, const Result<T> &failed, const std::string &what = {}) {
  Error error = failed.error();
  if (!what.empty()) error.message = what + ": " + error.message;
  error.path = path;
  return tl::unexpected(std::move(error));
}

}  // namespace

void StoredFile::Closer::operator()(const int *file) const {
  close(*file);
  delete file;
}

std::string name_of(const Index &index, const Header &header, const Layout &layout, size_t block) {
  const Block &named = index.blocks()[block];
  const std::optional<int> owner = layout.owner(named.regions.front());
  const std::string where = owner && *owner >= 0
                                ? "variable '" + header.variables[static_cast<size_t>(*owner)].name + "'"
                                : std::string("the space between variables");
  return where + ", block " + std::to_string(block) + " (bytes " + std::to_string(named.offset) + " to " +
         std::to_string(named.offset + named.size) + ")";
}

Result<Header> read_header(int file) {
  uint64_t size = 16384;
  struct stat status {};
  if (fstat(file, &status) != 0) return fail(ErrorKind::environment, strerror(errno));
  const auto length = static_cast<uint64_t>(status.st_size);
  for (;;) {
    size = std::min(size, length);
    Result<Bytes> bytes = read_at(file, 0, size);
    if (!bytes) return tl::unexpected(bytes.error());
    Result<Parsed> parsed = parse_header(*bytes);
    if (!parsed) return tl::unexpected(parsed.error());
    if (parsed->header) return std::move(*parsed->header);
    if (parsed->wanted > length) return fail(ErrorKind::unreadable, "the file ends within its NetCDF header");
    size = std::max(parsed->wanted, size * 4);
  }
}

bool StoredFile::recognises(const std::string &path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const Result<Header> physical = read_header(file);
  close(file);
  return physical && ours(*physical);
}

Result<StoredFile> StoredFile::open(const std::string &path) {
  StoredFile stored;
  stored.path_ = path;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return in_file(path,
                   Result<int>(fail(ErrorKind::environment, std::string("cannot be opened: ") + strerror(errno))));
  }
  stored.file_.reset(new int(file));
  struct stat status {};
  if (fstat(file, &status) == 0) stored.size_ = static_cast<uint64_t>(status.st_size);
  Result<Header> physical = read_header(file);
  if (!physical) return in_file(path, physical);
  stored.physical_ = std::move(*physical);
  const std::optional<IndexPlace> place = marked(stored.physical_);
  if (!place && ours(stored.physical_)) {
    return in_file(path,
                   Result<int>(fail(ErrorKind::unreadable, "the mark in its header is damaged, or of a newer Cairn")));
  }
  if (!place) {
    return in_file(path, Result<int>(fail(ErrorKind::usage, "this NetCDF file is not compressed by Cairn")));
  }
  stored.place_ = *place;
  if (place->offset > stored.size_ || place->size > stored.size_ - place->offset) {
    return in_file(path, Result<int>(fail(ErrorKind::unreadable,
                                          "the file is cut short: its index of blocks lies behind its end")));
  }
  Result<Bytes> bytes = read_at(file, place->offset, place->size);
  if (!bytes) return in_file(path, bytes, "the index of blocks");
  if (hash64(*bytes) != place->checksum) {
    return in_file(path, Result<int>(fail(ErrorKind::unreadable, "the checksum of its index of blocks is wrong")));
  }
  Result<Index> index = unpack_index(*bytes);
  if (!index) return in_file(path, index);
  stored.index_ = std::move(*index);
  Result<Parsed> parsed = parse_header(stored.index_.header);
  if (!parsed) return in_file(path, parsed, "the header within its index");
  if (!parsed->header) {
    return in_file(path, Result<int>(fail(ErrorKind::unreadable, "the header within its index is cut short")));
  }
  stored.header_ = std::move(*parsed->header);
  stored.layout_ = Layout(stored.header_);
  if (!stored.closed()) {
    if (auto found = stored.find_unlisted(); !found) return in_file(path, found);
  }
  return stored;
}

Result<Bytes> StoredFile::coded(size_t block) const {
  Result<Bytes> coded = read_places(index_.blocks()[block]);
  if (!coded) return in_file(path_, coded, name_of(index_, header_, layout_, block));
  return coded;
}

Result<Bytes> StoredFile::read_places(const Block &block) const {
  if (block.size > size_) return fail(ErrorKind::unreadable, "it is larger than the file");
  Bytes coded;
  for (const Run &piece : places(block, index_.home)) {
    Result<Bytes> bytes = read_at(*file_, piece.offset, piece.bytes);
    if (!bytes) return bytes;
    coded.insert(coded.end(), bytes->begin(), bytes->end());
  }
  return coded;
}

Result<Bytes> StoredFile::values(size_t block) const {
  Result<Bytes> bytes = coded(block);
  if (!bytes) return bytes;
  const Block &wanted = index_.blocks()[block];
  Reference reference;
  BlockCache::Values earlier;
  if (const std::optional<size_t> other = index_.reference_of(wanted)) {
    const Result<BlockCache::Values> values = kept(*other);
    if (!values) {
      Error error = values.error();
      error.message = name_of(index_, header_, layout_, block) + ": it is coded against " + error.message;
      return tl::unexpected(std::move(error));
    }
    earlier = *values;
    reference = {wanted.reference, index_.blocks()[*other].checksum, *earlier};
  }
  Result<Bytes> decoded = decode(wanted, *bytes, {}, reference);
  if (!decoded) return in_file(path_, decoded, name_of(index_, header_, layout_, block));
  return decoded;
}

bool StoredFile::intact(size_t block, ByteView coded) const {
  const Block &wanted = index_.blocks()[block];
  const std::optional<size_t> other = index_.reference_of(wanted);
  return arrays::intact(wanted, coded, other ? index_.blocks()[*other].checksum : 0);
}

Result<BlockCache::Values> StoredFile::kept(size_t block) const {
  const uint64_t sequence = index_.blocks()[block].sequence;
  if (BlockCache::Values known = cache_.find(block, sequence)) return known;
  Result<Bytes> decoded = values(block);
  if (!decoded) return tl::unexpected(decoded.error());
  return cache_.keep(block, sequence, std::move(*decoded));
}

Result<void> StoredFile::read(std::span<const Region> request, uint8_t *data) const {
  std::fill_n(data, bytes_of(request), uint8_t{0});
  for (const size_t block : index_.find(request)) {
    const Result<BlockCache::Values> decoded = kept(block);
    if (!decoded) return tl::unexpected(decoded.error());
    lay(index_.blocks()[block], **decoded, request, data);
  }
  return {};
}

}  // namespace cairn::arrays
