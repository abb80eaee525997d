// VirtualFile: how what is written comes to stand in the file's index, at a sync or close.
#include <mpi.h>

#include <algorithm>

#include "arrays/file/physical.h"
#include "arrays/layer/load.h"
#include "arrays/layer/messages.h"
#include "arrays/layer/virtual_file.h"
#include "base/hash.h"

namespace cairn::arrays {

/// Of rank 0.
int VirtualFile::write_header(const IndexPlace &place) {
  return write_bytes(file_, 0, physical_header(header_, place, index_.data_begin, data_end_));
}

/// The same, in the header that is there. One of an earlier Cairn may lack the room; it gets that with the next index.
int VirtualFile::name_session(uint64_t session) {
  if (named_.size == 0 || physical_header(header_, {}, index_.data_begin, data_end_).size() > index_.data_begin)
    return MPI_SUCCESS;
  IndexPlace place = named_;
  place.session = session;
  return write_header(place);
}

/// What is new, as segments: the first of every so many ranks writes those of all of them, and rank 0 learns where they
/// are. What is new on rank 0 stays there.
int VirtualFile::file_in_groups() {
  uint64_t most = rank_ == 0 ? 0 : fresh_.size();
  int error = MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_UINT64_T, MPI_MAX, comm_);
  if (error != MPI_SUCCESS) return error;
  const auto size = static_cast<int>(options_.index.group(most));
  MPI_Comm group = MPI_COMM_NULL;
  error = MPI_Comm_split(comm_, rank_ / size, rank_, &group);
  if (error != MPI_SUCCESS) return error;
  std::vector<Bytes> all;
  error = gather(rank_ == 0 ? Bytes() : pack(std::span<const Block>(fresh_)), group, false, &all);
  MPI_Comm_free(&group);
  if (error != MPI_SUCCESS) return error;
  std::vector<Block> blocks;
  for (const Bytes &bytes : all) {
    if (bytes.empty()) continue;
    Result<std::vector<Block>> some = unpack_blocks(bytes);
    if (!some) return bad(some.error().message);
    std::ranges::move(*some, std::back_inserter(blocks));
  }
  std::vector<const Block *> each;
  each.reserve(blocks.size());
  for (const Block &block : blocks) each.push_back(&block);
  Filing filing = file_blocks(each, 0, options_.index);
  const std::optional<blocks::DensePlace> place = blocks::place_dense(calls(), index_.end, filing.bytes.size(), 0);
  if (!place) return MPI_ERR_OTHER;
  index_.end = place->end;
  uint64_t failed = static_cast<uint64_t>(write_bytes(file_, place->begin, filing.bytes));
  error = MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_UINT64_T, MPI_MAX, comm_);
  if (error != MPI_SUCCESS) return error;
  if (failed != MPI_SUCCESS) return static_cast<int>(failed);
  for (Segment &segment : filing.segments) segment.offset += place->begin;
  ByteWriter told;
  if (!filing.segments.empty()) pack(filing.segments, &told);
  error = gather(told.take(), comm_, false, &all);
  if (error != MPI_SUCCESS) return error;
  for (const Bytes &bytes : all) {
    if (bytes.empty()) continue;
    ByteReader in(bytes);
    Result<std::vector<Segment>> segments = unpack_segments(&in);
    if (!segments) return bad(segments.error().message);
    index_.add_segments(std::move(*segments));
  }
  fresh_.clear();
  return MPI_SUCCESS;
}

/// Moves blocks out of the way of a header that has outgrown its room. Rank 0 alone; the others get its index.
int VirtualFile::make_room_for_header(uint64_t size) {
  if (size <= index_.data_begin) return MPI_SUCCESS;
  int error = rank_ == 0 ? load_index(file_, nullptr) : MPI_SUCCESS;
  if (rank_ == 0 && error == MPI_SUCCESS) {
    index_.unfile();
    const uint64_t begin = room_for_header(header_, 4096);
    index_.end = std::max(index_.end, begin);
    for (Block &block : index_.blocks()) {
      const std::vector<Run> pieces = places(block, index_.home);
      if (std::ranges::none_of(pieces, [&](const Run &piece) { return piece.offset < begin; })) continue;
      Bytes bytes(block.size);
      uint64_t at = 0;
      for (const Run &piece : pieces) {
        if (error == MPI_SUCCESS) error = read_bytes(file_, piece.offset, {bytes.data() + at, piece.bytes});
        at += piece.bytes;
      }
      if (error == MPI_SUCCESS) error = write_bytes(file_, index_.end, bytes);
      if (error != MPI_SUCCESS) break;
      block.at_home = false;
      block.offset = index_.end;
      index_.end += block.size;
    }
    if (error == MPI_SUCCESS) index_.data_begin = begin;
  }
  uint64_t said[3] = {static_cast<uint64_t>(error), index_.data_begin, index_.end};
  MPI_Bcast(said, 3, MPI_UINT64_T, 0, comm_);
  if (said[0] != MPI_SUCCESS) return static_cast<int>(said[0]);
  index_.data_begin = said[1];
  index_.end = said[2];
  extents_.leave_before(index_.data_begin);  // of the extent under way the header has taken some
  const bool knew = !behind_;
  behind_ = true;  // others do not know where blocks have gone
  return knew ? share_index() : MPI_SUCCESS;
}

/// Indexes take turns in two places, so that synchronising a file again and again does not fill it with old ones.
Run VirtualFile::place_index(uint64_t size, bool last) {
  Run &slot = slots_[1 - named_slot_];
  if (slot.bytes < size) {
    slot = {index_.end, last ? size : size + size / 2};
    slot.bytes += (4 - slot.end() % 4) % 4;  // the variable of compressed bytes may end here, and is not padded
  }
  return slot;
}

/// Only the header says that the file was not closed.
int VirtualFile::close_unchanged() {
  uint64_t error = MPI_SUCCESS;
  if (rank_ == 0 && session_ != 0) error = static_cast<uint64_t>(name_session(0));
  MPI_Bcast(&error, 1, MPI_UINT64_T, 0, comm_);
  return static_cast<int>(error);
}

/// Most of what the index names goes into segments; of rank 0.
int VirtualFile::file_index() {
  std::optional<Index::Plan> plan = index_.plan(options_.index);
  if (!plan) return MPI_SUCCESS;
  if (const int error = write_bytes(file_, index_.end, plan->bytes); error != MPI_SUCCESS) return error;
  index_.filed(std::move(*plan));
  return MPI_SUCCESS;
}

int VirtualFile::publish(bool last) {
  int error = settle(false, nullptr, true);
  if (error != MPI_SUCCESS || !writable_ || header_.size == 0) return error;
  if (!changed_) return last ? close_unchanged() : MPI_SUCCESS;
  if (const Result<Parsed> parsed = parse_header(head_); !parsed || !parsed->header) {
    if (rank_ == 0) say(path_, "what was written to its beginning is no NetCDF header; the file stays as it was");
    return MPI_ERR_FILE;
  }
  if (const auto named = with_our_name(header_)) {
    if (rank_ == 0) say(path_, *named + " has a name that Cairn's own have, and the file is not written; rename it");
    return MPI_ERR_FILE;
  }
  begin_placing();
  index_.header = head_;
  error = make_room_for_header(physical_header(header_, {}, index_.data_begin, index_.end).size());
  if (error != MPI_SUCCESS) return error;
  uint64_t said[4] = {};
  if (rank_ == 0) {
    if (last && index_.drop_unneeded()) cache_.clear();  // nobody's next block will be coded against any
    error = file_index();
    Bytes bytes = pack(index_);
    const Run place = place_index(bytes.size(), last);
    named_ = {place.offset, bytes.size(), hash64(bytes), last ? 0 : session_, options_.storage};
    const uint64_t end = std::max(index_.end, place.end());
    bytes.resize(place.bytes);  // all of the place, so that the file has no end within it
    if (error == MPI_SUCCESS) error = write_bytes(file_, named_.offset, bytes);
    // Not before the index is there may the header name it.
    data_end_ = end;
    if (error == MPI_SUCCESS) error = write_header(named_);
    index_.end = end;
    said[0] = static_cast<uint64_t>(error);
    said[1] = slots_[1 - named_slot_].offset;
    said[2] = slots_[1 - named_slot_].bytes;
    said[3] = index_.end;
  }
  const int heard = MPI_Bcast(said, 4, MPI_UINT64_T, 0, comm_);
  if (heard != MPI_SUCCESS) return heard;
  slots_[1 - named_slot_] = {said[1], said[2]};
  index_.end = said[3];
  changed_ = said[0] != MPI_SUCCESS;
  if (!changed_) named_slot_ = 1 - named_slot_;
  if (!changed_ && behind_ && rank_ == 0 && index_.let_go(options_.index.held())) cache_.clear();
  return static_cast<int>(said[0]);
}

}  // namespace cairn::arrays
