// libFuzzer on compressed files: any bytes are read or refused. What begins with an even byte is the image of a file;
// else an index and the bytes of its blocks are made into a file whose checksums are right, so that damage gets as far
// as the blocks and codecs. What begins with 3 more than a multiple of 4 was not closed: these bytes are the record of
// its journal, too. What begins with 5 more than a multiple of 8 has an index in segments, of which these bytes are
// one, or a list of some.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "arrays/file/journal.h"
#include "arrays/file/stored_file.h"
#include "arrays/file/usage.h"
#include "base/hash.h"
#include "codec/codec.h"

namespace {

using namespace cairn;
using namespace cairn::arrays;

/// Blocks may claim 256 MiB each; reading all of them would be all that a fuzzer does.
constexpr uint64_t kMost = uint64_t{4} << 20;

uint64_t blocks_in(ByteView segment, bool list) {
  uint64_t blocks = 0;
  if (!list) {
    if (const auto read = unpack_columns(segment)) blocks = read->size();
    return blocks;
  }
  ByteReader in(segment);
  if (const auto read = unpack_segments(&in)) {
    for (const Segment &each : *read) blocks += each.blocks;
  }
  return blocks;
}

Bytes image_of(ByteView input) {
  if (input.size() < 3) return {};
  const size_t index_size = std::min<size_t>(input[1] | input[2] << 8, input.size() - 3);
  const ByteView plain = input.subspan(3, index_size);
  const ByteView data = input.subspan(3 + index_size);
  ByteWriter whole;
  whole.varint(1);
  whole.byte(codec::kRaw);
  whole.varint(plain.size());
  whole.raw(plain);
  Result<Index> index = unpack_index(whole.view());
  if (!index) return {};
  Result<Parsed> header = parse_header(index->header);
  if (!header || !header->header) return {};
  const uint64_t data_begin = room_for_header(*header->header, 512);
  for (Block &block : index->blocks()) {
    block.at_home = false;
    block.offset = data_begin + block.offset % (data.size() + 1);
    const uint64_t at = std::min<uint64_t>(block.offset - data_begin, data.size());
    block.checksum = hash64(data.subspan(at, std::min<uint64_t>(block.size, data.size() - at)));
  }
  index->data_begin = data_begin;
  if (input[0] % 8 == 5 && !data.empty()) {
    Segment segment;
    segment.offset = data_begin;
    segment.size = data.size();
    segment.checksum = hash64(data);
    segment.list = input[0] % 16 == 5;
    segment.blocks = blocks_in(data, segment.list);
    segment.stretches = {{0, kMostOffset / 2}};
    index->add_segments({segment});
  }
  const Bytes packed = pack(*index);
  const bool closed = input[0] % 4 != 3;
  constexpr uint64_t kOpen = 77;
  const IndexPlace place{data_begin + data.size(), packed.size(), hash64(packed), closed ? 0 : kOpen, {}};
  Bytes image = physical_header(*header->header, place, data_begin, place.offset + place.size);
  image.resize(data_begin);
  image.insert(image.end(), data.begin(), data.end());
  image.insert(image.end(), packed.begin(), packed.end());
  if (!closed) {
    ByteWriter record;
    for (const uint64_t number : {kOpen, uint64_t{0}, uint64_t{0}, uint64_t{data.size()}}) record.fixed64(number);
    record.raw(data);
    Bytes bytes = record.take();
    set_base(bytes, data_begin);
    image.insert(image.end(), bytes.begin(), bytes.end());
  }
  return image;
}

void read_values(const StoredFile &file) {
  for (const Variable &variable : file.header().variables) {
    const Regions where = cut(file.header().where(variable), 0, kMost);
    Bytes data(bytes_of(where));
    (void)file.read(where, data.data());
  }
}

/// False: that would take long.
bool read_all(const StoredFile &file) {
  uint64_t bytes = 0;
  for (const Block &block : file.index().blocks()) bytes += block.bytes();
  if (bytes > kMost) return false;
  for (size_t i = 0; i < file.index().blocks().size(); ++i) {
    const Result<Bytes> values = file.values(i);
    if (values && values->size() != file.index().blocks()[i].bytes()) std::abort();
    if (!values && values.error().message.find("block " + std::to_string(i)) == std::string::npos) std::abort();
  }
  usage_of(file);
  read_values(file);
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  const ByteView input(data, size);
  const Bytes made = data[0] % 2 == 0 ? Bytes{} : image_of(input);
  const ByteView image = data[0] % 2 == 0 ? input.subspan(1) : ByteView(made);
  const int memory = memfd_create("image", MFD_CLOEXEC);
  if (memory < 0) std::abort();
  if (write(memory, image.data(), image.size()) != static_cast<ssize_t>(image.size())) std::abort();
  const std::string path = "/proc/self/fd/" + std::to_string(memory);
  const Result<StoredFile> whole = StoredFile::open(path);
  const Result<StoredFile> parts = StoredFile::open(path, StoredFile::Take::as_needed);
  if (whole && read_all(*whole) && parts) read_values(*parts);
  close(memory);
  return 0;
}
