// VirtualFile: what is written.
#include <algorithm>
#include <cassert>
#include <cstdio>

#include "arrays/codec/reused.h"
#include "arrays/file/byte_order.h"
#include "arrays/file/journal.h"
#include "arrays/file/physical.h"
#include "arrays/layer/messages.h"
#include "arrays/layer/next.h"
#include "arrays/layer/virtual_file.h"
#include "base/hash.h"

namespace cairn::arrays {
namespace {

constexpr uint64_t kMostHead = uint64_t{256} << 20;
constexpr size_t kMostPieces = 64;  // writes for one block at home; scattered further it goes elsewhere

/// Bytes that something is to be written to, as a block that nothing is known of yet.
Block claim_of(Regions regions) {
  Block block;
  block.shape = {bytes_of(regions)};
  block.regions = std::move(regions);
  return block;
}

/// The stripes of a parallel file system, if MPI knows them.
uint64_t striping_of(MPI_File file) {
  MPI_Info info = MPI_INFO_NULL;
  if (CAIRN_NEXT(MPI_File_get_info)(file, &info) != MPI_SUCCESS || info == MPI_INFO_NULL) return 0;
  char value[MPI_MAX_INFO_VAL + 1] = {};
  int there = 0;
  MPI_Info_get(info, "striping_unit", MPI_MAX_INFO_VAL, value, &there);
  MPI_Info_free(&info);
  constexpr int kDecimal = 10;
  return there != 0 ? strtoull(value, nullptr, kDecimal) : 0;
}

}  // namespace

Coding VirtualFile::coding_of(int variable) const {
  if (variable < 0) {
    // Not a variable as far as is known, as when PnetCDF moves data during a redefinition.
    return {{codec::find_array_codec("zstd"), {}, {}}, nullptr};
  }
  if (const auto known = codings_.find(variable); known != codings_.end()) return known->second.coding;
  return {options_.codecs.of(header_.variables[static_cast<size_t>(variable)].name), nullptr};
}

uint64_t VirtualFile::split_of(int variable) const {
  const auto known = codings_.find(variable);
  return known != codings_.end() && known->second.split != 0 ? known->second.split : options_.split;
}

/// Leaves room for the header before the first block is put anywhere.
void VirtualFile::begin_placing() {
  if (index_.data_begin != 0 || header_.size == 0) return;
  constexpr uint64_t kAlignment = 512;
  index_.data_begin = room_for_header(header_, kAlignment);
  index_.home = index_.data_begin;
  index_.end = std::max(index_.end, index_.data_begin);
  if (options_.storage == Storage::sparse) {
    // Room for records that are still to come: holes cost nothing.
    constexpr uint64_t kRoom = 4;
    constexpr uint64_t kLeast = uint64_t{1} << 20;
    index_.home_end = index_.home + std::max(kLeast, kRoom * header_.end());
    index_.end = index_.home_end;
  }
}

/// One that no other block has, on any rank, and that is higher than those of all earlier epochs. Nothing after a
/// million blocks of an epoch: they go on with the last.
std::optional<uint64_t> VirtualFile::next_sequence() {
  constexpr uint64_t kMostOfEpoch = uint64_t{1} << kEpochShift;
  if (written_ + 1 >= kMostOfEpoch) return std::nullopt;
  return sequence_of(written_++);
}

uint64_t VirtualFile::sequence_of(uint64_t number) const {
  return (epoch_ << kEpochShift | number) * static_cast<uint64_t>(ranks_) + static_cast<uint64_t>(rank_);
}

Block VirtualFile::compress_split(const Split &split, const uint8_t *data, Bytes *out) {
  const Variable *variable = split.variable < 0 ? nullptr : &header_.variables[static_cast<size_t>(split.variable)];
  const bool exact = defining_ || variable == nullptr || !codec::is_float(split.element);
  const auto known = codings_.find(split.variable);
  const uint8_t number = known == codings_.end() ? uint8_t{0} : known->second.user_number;
  const std::optional<uint64_t> sequence = next_sequence();
  const codec::Reused<uint8_t> values(split.bytes);
  gather(split, data, values.get());
  const Box box{split.variable, variable, split.element, ByteView(values.get(), split.bytes), exact, number};
  // Among equal numbers, and while variables move, none can be told by its number or its place.
  if (sequence && !defining_)
    return references_.append(header_, split.regions, box, coding_of(split.variable), *sequence, out);
  Block block =
      append_block(split.regions, box.element, variable, box.values, coding_of(split.variable), exact, number, {}, out);
  block.sequence = sequence.value_or(sequence_of(written_));
  return block;
}

VirtualFile::Written VirtualFile::compress(const std::vector<Split> &splits, const uint8_t *data) {
  Written written;
  written.bytes.swap(room_);
  for (const Split &split : splits) written.blocks.push_back(compress_split(split, data, &written.bytes));
  return written;
}

/// Collective, before blocks are put at home: what was written before is known to all then, and what lower ranks are
/// about to write is in `claimed_`, whether they come to put it at home or not.
int VirtualFile::claim(const std::vector<Split> &splits) {
  std::vector<Block> planned;
  planned.reserve(splits.size());
  for (const Split &split : splits) planned.push_back(claim_of(split.regions));
  claimed_ = Index();
  return settle(false, &planned, false);
}

/// The header is PnetCDF's root's business: it writes it from byte 0 on, or changes some of it.
bool VirtualFile::write_head(const Call &call, const Regions &request, const uint8_t *data) {
  if (call.collective || request.size() != 1 || request[0].depth != 0) return false;
  const Region &run = request[0];
  if (run.end() > kMostHead || (run.offset != 0 && run.offset >= head_.size())) return false;
  if (head_.size() < run.end()) head_.resize(run.end());
  std::copy(data, data + run.run, head_.begin() + static_cast<ptrdiff_t>(run.offset));
  head_changed_ = true;
  take_head();
  return true;
}

int VirtualFile::keep(std::vector<Block> blocks) {
  for (Block &block : blocks) {
    fresh_.push_back(block);
    if (!index_.add(std::move(block))) return bad("a block is coded against one that was not written");
  }
  return MPI_SUCCESS;
}

int VirtualFile::put_dense(const Call &call, Written *written) {
  if (!striping_) striping_ = striping_of(file_);
  const size_t payload = written->bytes.size();
  if (journaling() && !written->blocks.empty()) {
    uint64_t at = 0;
    for (Block &block : written->blocks) {
      block.offset = at;
      at += block.size;
    }
    const Bytes record = journal_record(session_, written->blocks, index_.user_codecs);
    written->bytes.insert(written->bytes.end(), record.begin(), record.end());
  }
  const size_t size = written->bytes.size();
  // Behind what any rank has put into extents of its own; one alignment for all; and as many calls.
  uint64_t most[3] = {std::max(index_.end, extents_.end()), *striping_, (size + kMostAtOnce - 1) / kMostAtOnce};
  if (const int error = MPI_Allreduce(MPI_IN_PLACE, most, 3, MPI_UINT64_T, MPI_MAX, comm_); error != MPI_SUCCESS)
    return error;
  extents_epoch_ = 0;
  const std::optional<blocks::DensePlace> place = blocks::place_dense(calls(), most[0], size, most[1]);
  if (!place) return MPI_ERR_OTHER;
  if (written->bytes.size() > payload)
    set_base({written->bytes.data() + payload, written->bytes.size() - payload}, place->begin);
  index_.end = place->end;
  int error = MPI_SUCCESS;
  for (uint64_t round = 0; round < most[2]; ++round) {
    const size_t from = std::min<size_t>(round * kMostAtOnce, size);
    const uint64_t at = place->begin + from;
    const int some = static_cast<int>(std::min<size_t>(kMostAtOnce, size - from));
    MPI_Status status{};
    const int now = CAIRN_NEXT(MPI_File_write_at_all)(call.file, static_cast<MPI_Offset>(at),
                                                      written->bytes.data() + from, some, MPI_BYTE, &status);
    int done = some;
    if (now == MPI_SUCCESS && some > 0) MPI_Get_count(&status, MPI_BYTE, &done);  // of nothing some MPIs tell none
    if (error == MPI_SUCCESS) error = now != MPI_SUCCESS ? now : done != some ? MPI_ERR_NO_SPACE : MPI_SUCCESS;
  }
  if (error != MPI_SUCCESS) return error;
  uint64_t at = place->begin;
  for (Block &block : written->blocks) {
    block.offset = at;
    at += block.size;
  }
  return keep(std::move(written->blocks));
}

/// To where the uncompressed values would be, unless something was written to these bytes before, or is by another rank
/// in this call: it may be at home there, in use by a rank that reads it this moment, or be named by the index that is
/// in the file. In independent mode nobody knows what others write. Gives false if the block must go elsewhere.
bool VirtualFile::put_at_home(const Call &call, const Block &block, ByteView bytes, int *error) {
  if (!call.collective || options_.storage != Storage::sparse) return false;
  if (index_.home + block.end() > index_.home_end) return false;
  if (index_.home + block.begin() < index_.data_begin) return false;  // the header has grown over it
  if (load_index(call.file, &block.regions) != MPI_SUCCESS) return false;
  if (!index_.find(block.regions).empty() || !claimed_.find(block.regions).empty()) return false;
  const std::vector<Run> pieces = places(block, index_.home);
  if (pieces.size() > kMostPieces) return false;
  uint64_t at = 0;
  for (const Run &piece : pieces) {
    if (*error == MPI_SUCCESS) *error = write_bytes(call.file, piece.offset, bytes.subspan(at, piece.bytes));
    at += piece.bytes;
  }
  // A program may name bytes twice in one call.
  const bool claimed = claimed_.add(claim_of(block.regions));
  assert(claimed);
  static_cast<void>(claimed);
  return true;
}

/// Records of the journal about these blocks, each of which fits into an extent. A block whose regions alone, written
/// down, do not fit has none.
void VirtualFile::note_alone(std::span<const Block> blocks, const std::function<void(ByteView)> &put) {
  if (!journaling() || blocks.empty()) return;
  const Bytes record = journal_record(session_, blocks, index_.user_codecs);
  if (record.size() <= extents_.size()) return put(record);
  if (blocks.size() == 1) return;
  note_alone(blocks.first(blocks.size() / 2), put);
  note_alone(blocks.subspan(blocks.size() / 2), put);
}

/// Without a word to other ranks: at home, or in extents of this rank's own.
int VirtualFile::put_alone(const Call &call, Written *written) {
  if (extents_.size() == 0 || (options_.storage == Storage::dense && extents_epoch_ != epoch_)) {
    const uint64_t size = blocks::extent_size(options_.split, options_.ratio, options_.error);
    extents_ = blocks::Extents(index_.end, size, rank_, ranks_);
  } else if (extents_epoch_ != epoch_) {
    extents_.move(index_.end);
  }
  extents_epoch_ = epoch_;
  int error = MPI_SUCCESS;
  uint64_t at = 0;
  uint64_t pending_at = 0;  // bytes that stand together, here and in the file, are written together
  uint64_t pending_from = 0;
  uint64_t pending = 0;
  const auto bytes = [&](uint64_t from, uint64_t size) { return ByteView(written->bytes).subspan(from, size); };
  const auto flush = [&] {
    if (error == MPI_SUCCESS && pending > 0) error = write_bytes(call.file, pending_at, bytes(pending_from, pending));
    pending = 0;
  };
  for (Block &block : written->blocks) {
    block.at_home = true;
    if (!put_at_home(call, block, bytes(at, block.size), &error)) {
      block.at_home = false;
      block.offset = extents_.take(block.size);
      if (pending == 0 || pending_at + pending != block.offset || pending_from + pending != at) {
        flush();
        pending_at = block.offset;
        pending_from = at;
      }
      pending += block.size;
    }
    at += block.size;
  }
  note_alone(written->blocks, [&](ByteView record) {
    const uint64_t place = extents_.take(record.size());
    if (pending > 0 && pending_at + pending == place && pending_from + pending == written->bytes.size()) {
      pending += record.size();
      written->bytes.insert(written->bytes.end(), record.begin(), record.end());
      return;
    }
    flush();
    if (error == MPI_SUCCESS) error = write_bytes(call.file, place, record);
  });
  flush();
  return error == MPI_SUCCESS ? keep(std::move(written->blocks)) : error;
}

int VirtualFile::write(const Call &call, const Regions &request, const uint8_t *data) {
  if (!writable_) return MPI_ERR_READ_ONLY;
  if (write_head(call, request, data)) return MPI_SUCCESS;
  // PnetCDF fills variables within ncmpi_enddef, before others than its root know the header; and nothing may be put
  // anywhere before all ranks leave the same room for that.
  if (call.collective && index_.data_begin == 0) {
    if (const int error = settle(false); error != MPI_SUCCESS) return error;
  }
  begin_placing();
  // In extents a split must fit into one, whatever it shrinks to.
  const uint64_t most = blocks::extent_size(options_.split, options_.ratio, options_.error);
  const std::vector<Split> splits =
      split_request(request, layout_, header_, [&](int v) { return std::min(split_of(v), most); });
  if (call.collective && options_.storage == Storage::sparse) {
    if (const int error = claim(splits); error != MPI_SUCCESS) return error;
  }
  if (call.collective) {
    ++epoch_;
    written_ = 0;
    // Extents that were begun before stay this rank's until all ranks know how far they reach.
    if (extents_epoch_ == epoch_ - 1) extents_epoch_ = epoch_;
  }
  Written written = compress(splits, data);
  const bool together = call.collective && options_.storage == Storage::dense;
  const int error = together ? put_dense(call, &written) : put_alone(call, &written);
  if (error != MPI_SUCCESS) references_.clear();  // of what was not written
  constexpr size_t kMostRoom = size_t{32} << 20;
  written.bytes.clear();
  if (written.bytes.capacity() <= kMostRoom) room_.swap(written.bytes);
  return error;
}

}  // namespace cairn::arrays
