#include "arrays/layer/virtual_file.h"

#include <sys/random.h>

#include <algorithm>
#include <cassert>

#include "arrays/file/physical.h"
#include "arrays/layer/load.h"
#include "arrays/layer/messages.h"
#include "arrays/layer/next.h"
#include "base/hash.h"

namespace cairn::arrays {
namespace {

bool sum(void *context, uint64_t *values, int count) {
  return MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_UINT64_T, MPI_SUM, *static_cast<MPI_Comm *>(context)) ==
         MPI_SUCCESS;
}

bool sum_below(void *context, uint64_t value, uint64_t *below) {
  const MPI_Comm comm = *static_cast<MPI_Comm *>(context);
  *below = 0;
  if (MPI_Exscan(&value, below, 1, MPI_UINT64_T, MPI_SUM, comm) != MPI_SUCCESS) return false;
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) *below = 0;  // undefined there
  return true;
}

}  // namespace

VirtualFile::VirtualFile(MPI_Comm comm, MPI_File file, std::string path, FileOptions options, Index index,
                         IndexPlace place, bool writable)
    : comm_(comm),
      file_(file),
      path_(std::move(path)),
      options_(std::move(options)),
      writable_(writable),
      index_(std::move(index)),
      references_(options_.chain) {
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &ranks_);
  head_ = index_.header;
  slots_[0] = {place.offset, place.size};
  named_ = place;
  index_.end = std::max(index_.end, slots_[0].end());
  for (const Block &block : index_.blocks())
    epoch_ = std::max(epoch_, (block.sequence / static_cast<uint64_t>(ranks_) >> kEpochShift) + 1);
  if (options_.chain > 0) index_.keep_replaced();
  user_codecs_.resize(index_.user_codecs.size());
  take_head();
}

int VirtualFile::begin_session(uint64_t data_end, bool unlisted) {
  if (!writable_) return MPI_SUCCESS;
  data_end_ = data_end;
  uint64_t said[2] = {};
  if (rank_ == 0) {
    lock_ = WriterLock(plain_path(path_.c_str()));
    if (lock_.state() == WriterLock::State::refused) {
      say(path_, kRefused);
      said[1] = MPI_ERR_ACCESS;
    }
  }
  if (rank_ == 0 && said[1] == MPI_SUCCESS) {
    while (said[0] == 0 && getrandom(&said[0], sizeof said[0], 0) == sizeof said[0]) continue;
    if (!unlisted) said[1] = static_cast<uint64_t>(name_session(said[0]));
  }
  MPI_Bcast(said, 2, MPI_UINT64_T, 0, comm_);
  session_ = said[0];
  if (said[1] != MPI_SUCCESS) return static_cast<int>(said[1]);
  changed_ = unlisted;
  return unlisted ? publish(false) : MPI_SUCCESS;
}

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

int VirtualFile::bad(const std::string &what) const {
  say(path_, what);
  return MPI_ERR_IO;
}

blocks::Calls VirtualFile::calls() { return {&comm_, rank_, sum, sum_below, nullptr}; }

uint64_t VirtualFile::end() const { return std::max<uint64_t>({index_.virtual_end(), head_.size(), seen_end_}); }

/// What the header says, from the bytes that there are.
void VirtualFile::take_head() {
  const Result<Parsed> parsed = parse_header(head_);
  if (!parsed || !parsed->header) return;
  header_ = *parsed->header;
  layout_ = Layout(header_);
}

/// `planned`: what this rank is about to write; what lower ranks are is in `claimed_` then.
int VirtualFile::exchange_blocks(bool everywhere, const std::vector<Block> &planned) {
  ByteWriter own;
  own.blob(pack(std::span<const Block>(fresh_)));
  own.blob(pack(std::span<const Block>(planned)));
  std::vector<Bytes> all;
  const int error = gather(own.take(), comm_, everywhere, &all);
  if (error == MPI_ERR_COUNT) return bad("too many blocks since the last sync for one message; synchronise more often");
  if (error != MPI_SUCCESS) return error;
  fresh_.clear();
  for (size_t i = 0; i < all.size(); ++i) {
    if (static_cast<int>(i) == rank_) continue;
    ByteReader in(all[i]);
    Result<std::vector<Block>> blocks = unpack_blocks(in.blob());
    if (!blocks) return bad(blocks.error().message);
    for (Block &block : *blocks) {
      if (!index_.add(std::move(block))) return bad("another rank's block is coded against one that is not known");
    }
    Result<std::vector<Block>> claims = unpack_blocks(in.blob());
    if (!claims) return bad(claims.error().message);
    for (Block &block : *claims) {
      if (static_cast<int>(i) < rank_ && !claimed_.add(std::move(block))) return bad("a claim refers to a block");
    }
  }
  // Now that every rank has the same blocks: nobody will refer to those that nobody refers to.
  if (index_.drop_unneeded()) {
    cache_.clear();
    references_.keep_those_of(index_);
  }
  return MPI_SUCCESS;
}

int VirtualFile::settle(bool reading) { return settle(reading, nullptr); }

int VirtualFile::settle(bool reading, const std::vector<Block> *planned) {
  reading_ = reading_ || reading;
  const bool everywhere = reading_ || independent_ || options_.storage == Storage::sparse || options_.chain > 0;
  // Asked for, extents last as long as the file; those of independent mode in a dense file are closed up.
  const bool lasting = options_.storage != Storage::dense;
  // [0] anybody's blocks, [1] the root's header, [2] the end of what all ranks have put into the file, [3] of the
  // virtual file, [4] anybody's plans.
  const bool planning = planned != nullptr && !planned->empty();
  uint64_t most[5] = {fresh_.empty() ? uint64_t{0} : 1, head_changed_ && rank_ == 0 ? uint64_t{1} : 0,
                      std::max(index_.end, lasting ? extents_.reserved() : extents_.end()), index_.virtual_end(),
                      planning ? uint64_t{1} : 0};
  int error = MPI_Allreduce(MPI_IN_PLACE, most, 5, MPI_UINT64_T, MPI_MAX, comm_);
  if (error != MPI_SUCCESS) return error;
  index_.end = most[2];
  seen_end_ = std::max(seen_end_, most[3]);
  ++epoch_;
  written_ = 0;
  changed_ = changed_ || most[0] != 0 || most[1] != 0;
  if (most[0] != 0 || most[4] != 0) {
    assert(most[4] == 0 || (everywhere && !behind_));
    error = exchange_blocks(everywhere && !behind_, planning ? *planned : std::vector<Block>());
    behind_ = behind_ || !everywhere;
  }
  if (error == MPI_SUCCESS && behind_ && everywhere) error = share_index();
  if (error == MPI_SUCCESS && most[1] != 0) {
    error = share(&head_, comm_);
    head_changed_ = false;
    take_head();
  }
  return error;
}

/// Rank 0's index to all.
int VirtualFile::share_index() {
  behind_ = false;
  Bytes bytes;
  if (rank_ == 0) bytes = pack(index_);
  const int error = share(&bytes, comm_);
  if (error != MPI_SUCCESS || rank_ == 0) return error;
  Result<Index> index = unpack_index(bytes);
  if (!index) return bad(index.error().message);
  index_ = std::move(*index);
  if (options_.chain > 0) index_.keep_replaced();
  cache_.clear();
  return MPI_SUCCESS;
}

/// Moves blocks out of the way of a header that has outgrown its room. Rank 0 alone; the others get its index.
int VirtualFile::make_room_for_header(uint64_t size) {
  if (size <= index_.data_begin) return MPI_SUCCESS;
  int error = MPI_SUCCESS;
  if (rank_ == 0) {
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

int VirtualFile::publish(bool last) {
  int error = settle(false);
  if (error != MPI_SUCCESS || !writable_ || header_.size == 0) return error;
  if (!changed_) return last ? close_unchanged() : MPI_SUCCESS;
  begin_placing();
  index_.header = head_;
  error = make_room_for_header(physical_header(header_, {}, index_.data_begin, index_.end).size());
  if (error != MPI_SUCCESS) return error;
  uint64_t said[4] = {};
  if (rank_ == 0) {
    Bytes bytes = pack(index_);
    const Run place = place_index(bytes.size(), last);
    named_ = {place.offset, bytes.size(), hash64(bytes), last ? 0 : session_, options_.storage};
    const uint64_t end = std::max(index_.end, place.end());
    bytes.resize(place.bytes);  // all of the place, so that the file has no end within it
    error = write_bytes(file_, named_.offset, bytes);
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
  return static_cast<int>(said[0]);
}

void VirtualFile::set_coding(int variable, codec::ArrayCodecChoice choice, uint64_t split) {
  codings_[variable] = {{choice, nullptr}, split, 0};
}

void VirtualFile::set_user_codec(int variable, UserCodec codec, uint64_t split) {
  const auto known = std::ranges::find(index_.user_codecs, codec.name);
  const auto number = static_cast<size_t>(known - index_.user_codecs.begin());
  if (known == index_.user_codecs.end()) index_.user_codecs.push_back(codec.name);
  user_codecs_.resize(index_.user_codecs.size());
  user_codecs_[number] = std::make_unique<UserCodec>(std::move(codec));
  codings_[variable] = {{{}, user_codecs_[number].get()}, split, static_cast<uint8_t>(number)};
}

}  // namespace cairn::arrays
