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

/// An HDF5 file that has our mark in its first 16 MiB: what a tool made of a compressed file.
bool made_hdf5(int file) {
  constexpr uint8_t kHdf5[] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  constexpr size_t kMost = size_t{16} << 20;
  Bytes bytes(sizeof kHdf5);
  size_t got = 0;
  if (cairn::read_at(file, 0, bytes, &got) != 0 || got < sizeof kHdf5) return false;
  if (memcmp(bytes.data(), kHdf5, sizeof kHdf5) != 0) return false;
  bytes.resize(kMost);
  return cairn::read_at(file, 0, bytes, &got) == 0 && memmem(bytes.data(), got, kMarker, strlen(kMarker)) != nullptr;
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
  if (!S_ISREG(status.st_mode)) return fail(ErrorKind::unreadable, "it is no ordinary file");
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
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe would make it wait
  if (file < 0) return false;
  const Result<Header> physical = read_header(file);
  close(file);
  return physical && ours(*physical);
}

Result<StoredFile> StoredFile::open(const std::string &path, Take take) {
  StoredFile stored;
  stored.path_ = path;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe would make it wait
  if (file < 0) {
    return in_file(path,
                   Result<int>(fail(ErrorKind::environment, std::string("cannot be opened: ") + strerror(errno))));
  }
  stored.file_.reset(new int(file));
  struct stat status {};
  if (fstat(file, &status) == 0) stored.size_ = static_cast<uint64_t>(status.st_size);
  Result<Header> physical = read_header(file);
  if (!physical && made_hdf5(file)) {
    return in_file(path, Result<int>(fail(ErrorKind::unreadable,
                                          "a tool has made an HDF5 file of it, which still holds what was compressed",
                                          "'nccopy -k cdf5' makes a file of it that can be read again")));
  }
  if (!physical) return in_file(path, physical);
  stored.physical_ = std::move(*physical);
  if (auto found = stored.find_index(); !found) return in_file(path, found);
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
  if (take == Take::all) {
    if (auto loaded = stored.index_.load_all(stored.reader(0)); !loaded) return in_file(path, loaded);
  }
  return stored;
}

Result<void> StoredFile::find_index() {
  const std::optional<IndexPlace> place = marked(physical_);
  if (!place && ours(physical_)) {
    return fail(ErrorKind::unreadable,
                physical_.version == 5
                    ? "the mark in its header is damaged, was changed by a tool, or is of a newer Cairn"
                    : "a tool has made a file of another format of it, which cannot hold the mark in its header",
                physical_.version == 5 ? "" : "copy the file itself, or with 'nccopy -k cdf5'");
  }
  if (!place) return fail(ErrorKind::usage, "this NetCDF file is not compressed by Cairn");
  place_ = *place;
  const Variable *data = data_of(physical_);
  data_end_ = data == nullptr ? size_ : data->begin + data->slab;
  Result<void> found = read_index();
  if (!found && place_.moved != 0) {  // where data begins may be damaged
    place_.offset -= place_.moved;
    place_.moved = 0;
    if (read_index()) return {};
  }
  if (!found && data == nullptr) {
    return fail(
        ErrorKind::unreadable,
        "all values are gone: a tool has left out the variable 'cairn_data', which holds them, or has changed its "
        "type",
        "copy the file whole, or choose variables of what 'cairn arrays export' writes");
  }
  return found;
}

/// Of the file, of whose index places are known that are `moved` before where they are.
ReadPlace StoredFile::reader(uint64_t moved) const {
  return [file = *file_, size = size_, moved](const Run &place) -> Result<Bytes> {
    const uint64_t at = place.offset + moved;
    if (at > size || place.bytes > size - at)
      return fail(ErrorKind::unreadable, "the file is cut short: a segment of its index lies behind its end");
    Result<Bytes> bytes = read_at(file, at, place.bytes);
    if (!bytes) return fail(bytes.error().kind, "a segment of the index of blocks: " + bytes.error().message);
    return bytes;
  };
}

/// Of the place that is at hand.
Result<void> StoredFile::read_index() {
  if (place_.offset > size_ || place_.size > size_ - place_.offset)
    return fail(ErrorKind::unreadable, "the file is cut short: its index of blocks lies behind its end");
  if (place_.offset + place_.size > data_end_) {
    return fail(ErrorKind::unreadable,
                "the variable 'cairn_data' is cut short: its index of blocks lies behind its end",
                "copy the file whole");
  }
  Result<Bytes> bytes = read_at(*file_, place_.offset, place_.size);
  if (!bytes) return fail(bytes.error().kind, "the index of blocks: " + bytes.error().message);
  if (hash64(*bytes) != place_.checksum)
    return fail(ErrorKind::unreadable, "the checksum of its index of blocks is wrong");
  Result<Index> index = unpack_index(*bytes, reader(place_.moved));
  if (!index) return tl::unexpected(index.error());
  index_ = std::move(*index);
  if (!index_.move(place_.moved)) {
    return fail(ErrorKind::unreadable, "a tool has moved its index of blocks too far to the front",
                "copy it with room in the header, as in 'nccopy -k cdf5 -h 65536'");
  }
  return {};
}

Bytes StoredFile::expected_header() const { return physical_header(header_, place_, index_.data_begin, data_end_); }

std::vector<std::string> StoredFile::changes_of_header() const {
  if (!closed()) return {};  // it need not tell of the newest records and attributes
  // As Cairn wrote it, where everything lay then.
  IndexPlace place = place_;
  place.offset -= place_.moved;
  const uint64_t begin = index_.data_begin - place_.moved;
  const Bytes bytes = physical_header(header_, place, begin, data_end_ - place_.moved);
  const Result<Parsed> expected = parse_header(bytes);
  if (!expected || !expected->header) return {};
  return changes(physical_, *expected->header);
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
  if (const Result<void> loaded = index_.load(request, reader(0)); !loaded) return in_file(path_, loaded);
  std::fill_n(data, bytes_of(request), uint8_t{0});
  for (const size_t block : index_.find(request)) {
    const Result<BlockCache::Values> decoded = kept(block);
    if (!decoded) return tl::unexpected(decoded.error());
    lay(index_.blocks()[block], **decoded, request, data);
  }
  return {};
}

}  // namespace cairn::arrays
