// VirtualFile: what is read.
#include <algorithm>
#include <cstring>
#include <set>

#include "arrays/file/byte_order.h"
#include "arrays/file/stored_file.h"
#include "arrays/layer/load.h"
#include "arrays/layer/messages.h"
#include "arrays/layer/next.h"
#include "arrays/layer/virtual_file.h"

namespace cairn::arrays {
namespace {

constexpr uint64_t kNear = 65536;  // read what lies between rather than read twice

uint64_t bytes_in(const std::vector<Run> &ranges) {
  uint64_t bytes = 0;
  for (const Run &range : ranges) bytes += range.bytes;
  return bytes;
}

/// Where a byte of the file is in the bytes of the ranges.
uint64_t position_in(const std::vector<Run> &ranges, uint64_t offset) {
  uint64_t before = 0;
  for (const Run &range : ranges) {
    if (offset < range.end()) return before + (offset - range.offset);
    before += range.bytes;
  }
  return before;
}

/// How many of the request's bytes are before the end of the file.
uint64_t bytes_before(const Regions &request, uint64_t end) {
  uint64_t bytes = 0;
  for (const Region &region : request) {
    if (region.end() <= end) {
      bytes += region.bytes();
      continue;
    }
    for (RunCursor runs(region); !runs.done() && runs.run().offset < end; runs.next()) {
      bytes += std::min(runs.run().end(), end) - runs.run().offset;
    }
    break;
  }
  return bytes;
}

}  // namespace

std::vector<const UserCodec *> VirtualFile::users() const {
  std::vector<const UserCodec *> users;
  for (const auto &codec : user_codecs_) users.push_back(codec.get());
  return users;
}

int VirtualFile::read_ranges(const Call &call, const std::vector<Run> &ranges, uint64_t bytes, uint8_t *to) {
  if (call.collective) {
    // Each rank's bytes in one piece, and behind those of lower ranks: then they are read together. Other reads would
    // need a file view, or overlap; Open MPI 4.1's own MPI-IO gives wrong bytes for both. There each rank reads by
    // itself.
    const uint64_t own_end = ranges.empty() ? 0 : ranges.back().end();
    uint64_t below = 0;
    MPI_Exscan(&own_end, &below, 1, MPI_UINT64_T, MPI_MAX, comm_);
    const bool apart = rank_ == 0 || ranges.empty() || ranges.front().offset >= below;
    uint64_t most[3] = {ranges.size(), bytes, apart ? uint64_t{0} : 1};
    const int error = MPI_Allreduce(MPI_IN_PLACE, most, 3, MPI_UINT64_T, MPI_MAX, comm_);
    if (error != MPI_SUCCESS) return error;
    if (most[0] == 0) return MPI_SUCCESS;
    if (most[0] == 1 && most[1] <= INT32_MAX && most[2] == 0) {
      MPI_Status status{};
      const auto offset = static_cast<MPI_Offset>(ranges.empty() ? 0 : ranges[0].offset);
      return CAIRN_NEXT(MPI_File_read_at_all)(call.file, offset, to, static_cast<int>(bytes), MPI_BYTE, &status);
    }
  }
  uint64_t at = 0;
  for (const Run &range : ranges) {
    const int error = read_bytes(call.file, range.offset, {to + at, range.bytes});
    if (error != MPI_SUCCESS) return error;
    at += range.bytes;
  }
  return MPI_SUCCESS;
}

/// The compressed bytes of blocks, read together.
int VirtualFile::fetch(const Call &call, const std::vector<size_t> &blocks, Fetched *fetched) {
  std::vector<Run> ranges;
  for (const size_t number : blocks) {
    const std::vector<Run> pieces = places(index_.blocks()[number], index_.home);
    ranges.insert(ranges.end(), pieces.begin(), pieces.end());
  }
  unite(&ranges, kNear);
  const uint64_t bytes = bytes_in(ranges);
  fetched->bytes = codec::Reused<uint8_t>(bytes);
  const int error = read_ranges(call, ranges, bytes, fetched->bytes.get());
  if (error != MPI_SUCCESS) return error;
  for (const size_t number : blocks) {
    const std::vector<Run> pieces = places(index_.blocks()[number], index_.home);
    const auto at = [&](const Run &piece) { return fetched->bytes.get() + position_in(ranges, piece.offset); };
    if (pieces.size() == 1) {
      fetched->coded[number] = {at(pieces[0]), pieces[0].bytes};
      continue;
    }
    Bytes &own = fetched->collected[number];
    for (const Run &piece : pieces) own.insert(own.end(), at(piece), at(piece) + piece.bytes);
    fetched->coded[number] = own;
  }
  return MPI_SUCCESS;
}

Error VirtualFile::named(size_t number, Error error) const {
  error.message = name_of(index_, header_, layout_, number) + ": " + error.message;
  return error;
}

Result<BlockCache::Values> VirtualFile::decoded(size_t number, const Fetched &fetched) {
  const Block &block = index_.blocks()[number];
  if (const auto known = fetched.known.find(number); known != fetched.known.end()) return known->second;
  if (BlockCache::Values just_decoded = cache_.find(number, block.sequence)) return just_decoded;
  Reference reference;
  BlockCache::Values earlier;
  if (const std::optional<size_t> other = index_.reference_of(block)) {
    Result<BlockCache::Values> values = decoded(*other, fetched);
    if (!values) return values;
    earlier = *values;
    reference = {block.reference, index_.blocks()[*other].checksum, *earlier};
  }
  Result<Bytes> values = decode(block, fetched.coded.at(number), users(), reference);
  if (!values) return tl::unexpected(named(number, values.error()));
  return cache_.keep(number, block.sequence, std::move(*values));
}

/// Gives the request its values, of which `there` bytes are before the end of the file: zeros where there is no block.
/// A block that lies in it as it is, and is no small one that may be asked for again, is decoded where it belongs.
int VirtualFile::lay_blocks(const std::vector<size_t> &blocks, const Fetched &fetched, const Regions &request,
                            uint8_t *data, uint64_t there) {
  constexpr uint64_t kSmall = uint64_t{64} << 10;
  std::vector<std::optional<uint64_t>> ends(blocks.size());
  std::vector<Run> placed;
  const auto refers = [&](const auto &each) { return index_.blocks()[each.first].reference != 0; };
  const bool chained = std::ranges::any_of(fetched.coded, refers);
  for (size_t i = 0; i < blocks.size() && !chained; ++i) {
    const Block &block = index_.blocks()[blocks[i]];
    if (block.bytes() < kSmall || !fetched.coded.contains(blocks[i])) continue;
    ends[i] = place_in(block, request);
    if (ends[i]) placed.push_back({*ends[i], block.bytes()});
  }
  // Where some are laid over others, these count once.
  unite(&placed);
  if (there > 0 && (placed.size() != 1 || placed[0].offset != 0 || placed[0].bytes < there)) memset(data, 0, there);
  for (size_t i = 0; i < blocks.size(); ++i) {
    const Block &block = index_.blocks()[blocks[i]];
    Result<void> done;
    if (ends[i]) {
      uint8_t *to = data + *ends[i];
      done = decode(block, fetched.coded.at(blocks[i]), users(), {}, {to, block.bytes()});
      if (done) {
        swap_bytes(to, to, block.bytes(), codec::size_of(block.element));
      } else {
        done = tl::unexpected(named(blocks[i], done.error()));
      }
    } else if (const Result<BlockCache::Values> values = decoded(blocks[i], fetched)) {
      lay(block, **values, request, data);
    } else {
      done = tl::unexpected(values.error());
    }
    if (done) continue;
    say(path_, done.error());
    memset(data, 0, there);
    return MPI_ERR_IO;
  }
  return MPI_SUCCESS;
}

int VirtualFile::read(const Call &call, const Regions &request, uint8_t *data, uint64_t *done) {
  *done = 0;
  if (call.collective) {
    if (const int error = settle(true); error != MPI_SUCCESS) return error;
  } else if (behind_ && rank_ != 0 &&
             std::ranges::any_of(request, [&](const Region &r) { return r.end() > head_.size(); })) {
    return bad("an independent read outside of independent mode cannot know what other ranks wrote");
  }
  *done = bytes_before(request, end());
  std::vector<size_t> blocks;
  int error = opening_ ? MPI_SUCCESS : load_index(call.file, &request);
  if (error == MPI_SUCCESS && !opening_) blocks = index_.find(request);
  Fetched fetched;
  std::set<size_t> missing;
  for (const size_t wanted : blocks) {
    // And what it is coded against, and so on.
    for (std::optional<size_t> number = wanted; number && !missing.contains(*number);) {
      const Block &block = index_.blocks()[*number];
      if (BlockCache::Values known = cache_.find(*number, block.sequence)) {
        fetched.known[*number] = std::move(known);
        break;
      }
      missing.insert(*number);
      number = index_.reference_of(block);
    }
  }
  // Also without an index: others wait.
  if (call.collective || !missing.empty()) {
    const int fetching = fetch(call, {missing.begin(), missing.end()}, &fetched);
    if (error == MPI_SUCCESS) error = fetching;
  }
  // Some ranks may have written their part of the last record and others not: PnetCDF takes all of it for data.
  const uint64_t there = bytes_before(request, std::max(end(), header_.end()));
  if (error == MPI_SUCCESS) {
    error = lay_blocks(blocks, fetched, request, data, there);
  } else if (there > 0) {
    memset(data, 0, there);
  }
  // The header's bytes are the newest there can be.
  if (error == MPI_SUCCESS && !head_.empty()) {
    Block head;
    Region all;
    all.run = head_.size();
    head.regions = {all};
    lay(head, head_, request, data);
  }
  return error;
}

}  // namespace cairn::arrays
