#include "arrays/layer/virtual_file.h"

#include <sys/random.h>

#include <algorithm>
#include <cassert>

#include "arrays/layer/load.h"
#include "arrays/layer/messages.h"
#include "arrays/layer/next.h"

namespace cairn::arrays {
namespace {

constexpr uint64_t kMostSegment = uint64_t{1} << 30;

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
      index_(std::move(index)) {
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &ranks_);
  head_ = index_.header;
  slots_[0] = {place.offset, place.size};
  named_ = place;
  index_.end = std::max(index_.end, slots_[0].end());
  epoch_ = (index_.newest() / static_cast<uint64_t>(ranks_) >> kEpochShift) + 1;
  if (writable_) references_ = References(options_.chain_of(static_cast<uint64_t>(ranks_), index_.named()));
  chaining_ = references_.go_on();
  keep_chains();
  user_codecs_.resize(index_.user_codecs.size());
  take_head();
}

/// Whatever may still come that is coded against an earlier block, that one has to be known then.
void VirtualFile::keep_chains() {
  if (chaining_) {
    index_.keep_replaced();
  } else {
    index_.end_chains();
  }
}

int VirtualFile::begin_session(uint64_t data_end, bool unlisted, std::optional<WriterLock> lock) {
  if (!writable_) return MPI_SUCCESS;
  data_end_ = data_end;
  uint64_t said[2] = {};
  if (rank_ == 0) {
    lock_ = lock ? *std::move(lock) : WriterLock(plain_path(path_.c_str()));
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

/// Takes in what the file has of the index about these bytes; nothing: about all. Not collective.
int VirtualFile::load_index(MPI_File file, const Regions *regions) {
  if (index_.whole()) return MPI_SUCCESS;
  const ReadPlace read = [&](const Run &place) -> Result<Bytes> {
    // A damaged list may ask for anything.
    if (place.bytes > kMostSegment) return fail(ErrorKind::unreadable, "a segment of the index of blocks is damaged");
    Bytes bytes(place.bytes);
    if (read_bytes(file, place.offset, bytes) != MPI_SUCCESS)
      return fail(ErrorKind::environment, "a segment of the index of blocks cannot be read");
    return bytes;
  };
  const Result<void> loaded = regions == nullptr ? index_.load_all(read) : index_.load(*regions, read);
  return loaded ? MPI_SUCCESS : bad(loaded.error().message);
}

/// `planned`: what this rank is about to write; what lower ranks are is in `claimed_` then.
int VirtualFile::exchange_blocks(bool everywhere, const std::vector<Block> &planned) {
  ByteWriter own;
  own.blob(pack(std::span<const Block>(fresh_)));
  own.blob(pack(std::span<const Block>(planned)));
  std::vector<Bytes> all;
  const int error = gather(own.take(), comm_, everywhere, &all);
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
  // Where every rank has the same blocks nobody will refer to those that nobody refers to; nor where nobody refers to
  // any more.
  if ((everywhere || !chaining_) && index_.drop_unneeded()) {
    cache_.clear();
    references_.keep_those_of(index_);
  }
  return MPI_SUCCESS;
}

int VirtualFile::settle(bool reading) { return settle(reading, nullptr, false); }

/// `publishing`: what is new may go into segments of the index, instead of to rank 0.
int VirtualFile::settle(bool reading, const std::vector<Block> *planned, bool publishing) {
  reading_ = reading_ || reading;
  const bool asked = chaining_ && options_.chain;
  const bool everywhere = reading_ || independent_ || options_.storage == Storage::sparse || asked;
  // Asked for, extents last as long as the file; those of independent mode in a dense file are closed up.
  const bool lasting = options_.storage != Storage::dense;
  // [0] anybody's blocks, [1] the root's header, [2] the end of what all ranks have put into the file, [3] of the
  // virtual file, [4] anybody's plans, [5] whether anybody's blocks may be coded against others, [6] blocks.
  const bool planning = planned != nullptr && !planned->empty();
  uint64_t most[7] = {fresh_.empty() ? uint64_t{0} : 1,
                      head_changed_ && rank_ == 0 ? uint64_t{1} : 0,
                      std::max(index_.end, lasting ? extents_.reserved() : extents_.end()),
                      index_.virtual_end(),
                      planning ? uint64_t{1} : 0,
                      references_.go_on() ? uint64_t{1} : 0,
                      index_.blocks().size()};
  int error = MPI_Allreduce(MPI_IN_PLACE, most, 7, MPI_UINT64_T, MPI_MAX, comm_);
  if (error != MPI_SUCCESS) return error;
  index_.end = most[2];
  seen_end_ = std::max(seen_end_, most[3]);
  ++epoch_;
  written_ = 0;
  changed_ = changed_ || most[0] != 0 || most[1] != 0;
  const bool chained = chaining_;
  // Where nobody asked for chains they are not worth all blocks in rank 0's memory.
  if (chaining_ && (most[5] == 0 || (!options_.chain && most[6] > options_.index.gathered()))) {
    chaining_ = false;
    references_.end();
    index_.end_chains();
  }
  if (most[0] != 0 || most[4] != 0) {
    assert(most[4] == 0 || (everywhere && !behind_));
    uint64_t together = 0;
    if (publishing && !everywhere && !chained) {
      together = fresh_.size();
      error = MPI_Allreduce(MPI_IN_PLACE, &together, 1, MPI_UINT64_T, MPI_SUM, comm_);
    }
    if (error == MPI_SUCCESS && ranks_ > 1 && together > options_.index.gathered()) {
      error = file_in_groups();
    } else if (error == MPI_SUCCESS) {
      error = exchange_blocks(everywhere && !behind_, planning ? *planned : std::vector<Block>());
    }
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
  if (rank_ == 0) bytes = pack_for_others(index_);
  const int error = share(&bytes, comm_);
  if (error != MPI_SUCCESS || rank_ == 0) return error;
  Result<Index> index = unpack_of_others(bytes);
  if (!index) return bad(index.error().message);
  index_ = std::move(*index);
  keep_chains();
  cache_.clear();
  return MPI_SUCCESS;
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
