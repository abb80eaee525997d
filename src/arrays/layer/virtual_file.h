// VirtualFile: the file that PnetCDF believes to write and read, kept as compressed blocks in the physical one.
//
// PnetCDF's MPI_File functions end here (layer/file_calls.cc), as regions of the virtual file's bytes with their data.
// - Written collectively: splits are compressed, an exclusive scan of sizes says where they go, one collective write
// brings
//   them there (dense); or they go into this rank's extents, without a word to other ranks (hybrid); or to where the
//   uncompressed bytes would be, once the ranks have told each other what each has written and is about to write: no
//   block is put over bytes that any rank may have a block in (sparse).
// - Written independently: into this rank's extents, whatever the storage.
// - The header, which PnetCDF's root writes in small pieces, is kept in memory.
// - Read: the blocks that hold something of the request, adjacent ones together, in one collective read if the call is
// one.
//
// What other ranks wrote is known after `settle`, which is collective: every collective read, change of mode, sync
// and close settles. Rank 0, which writes the index, learns of all blocks then; the others only where they may come
// to read or need to know what lies in a place: before collective reads, in independent mode, with the storage
// `sparse`, and with chains that were asked for. So a job that only writes holds its index once; and rank 0 less
// than all of it, since what stands in segments of the file can be loaded again, and is loaded where a request needs
// it (arrays/file/segment.h). `publish` writes the index and the physical header; where many blocks are new at once,
// many ranks write segments of it.
//
// One object per open file and process; one thread at a time, as PnetCDF wants it. All functions give MPI error codes;
// what is wrong with the file's contents is said on standard error, with the variable's and the block's name.
#pragma once

#include <mpi.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "arrays/codec/reused.h"
#include "arrays/file/block_cache.h"
#include "arrays/file/block_code.h"
#include "arrays/file/header.h"
#include "arrays/file/index.h"
#include "arrays/file/physical.h"
#include "arrays/file/references.h"
#include "arrays/file/split.h"
#include "arrays/file/writer_lock.h"
#include "arrays/layer/options.h"
#include "blocks/place.h"

namespace cairn::arrays {

class VirtualFile {
 public:
  /// `index` is that of an existing file, which stands at `place`; else both are empty. The handle stays the caller's.
  VirtualFile(MPI_Comm comm, MPI_File file, std::string path, FileOptions options, Index index, IndexPlace place,
              bool writable);
  /// Collective, before anything else. A file that may be written to says from now on that it is not closed: an
  /// existing one at once, whose compressed bytes end at `data_end`, a new one with its first index. `unlisted`: the
  /// index given to the constructor has blocks that the one in the file has not. `lock`: of an existing file, taken
  /// before its index was read.
  int begin_session(uint64_t data_end, bool unlisted, std::optional<WriterLock> lock);

  /// One MPI_File call: `file` is the handle that it named, its own or one of a single process.
  struct Call {
    MPI_File file;
    bool collective;
  };
  int write(const Call &call, const Regions &request, const uint8_t *data);
  /// `done`: bytes before the end of the virtual file; later ones are zeros where the header says that there are
  /// values, else left as they are.
  int read(const Call &call, const Regions &request, uint8_t *data, uint64_t *done);

  /// While PnetCDF opens a file it reads some of it in search of the header: nothing but that is given to it.
  void set_opening(bool opening) { opening_ = opening; }
  /// Others may write to the file now; this one does not any more.
  void end_session() { lock_ = WriterLock(); }

  /// Between enddef and redef the layout is what is written by; otherwise nothing may be lost by taking it for granted.
  void set_defining(bool defining) {
    defining_ = defining;
    references_.clear();
  }

  /// Between begin_indep_data and end_indep_data ranks may read what any of them wrote, without a word to each other.
  void set_independent(bool independent) { independent_ = independent; }

  /// Collective. `reading`: every rank is to know every block.
  int settle(bool reading);
  /// Collective; settles. `last`: the file is being closed, the index will not grow any more.
  int publish(bool last);
  [[nodiscard]] bool writable() const { return writable_; }
  [[nodiscard]] const Header &header() const { return header_; }
  [[nodiscard]] uint64_t end() const;  ///< of the virtual file, as far as this rank knows

  /// How a variable is coded from now on. `split`: 0 for the file's. Collective only in that all ranks must say the
  /// same.
  void set_coding(int variable, codec::ArrayCodecChoice choice, uint64_t split);
  void set_user_codec(int variable, UserCodec codec, uint64_t split);

 private:
  static constexpr int kEpochShift = 20;
  struct VariableCoding {
    Coding coding;
    uint64_t split = 0;
    uint8_t user_number = 0;
  };
  // writing.cc
  struct Written {
    std::vector<Block> blocks;
    Bytes bytes;  ///< of all blocks, one after the other
  };
  Written compress(const std::vector<Split> &splits, const uint8_t *data);
  Block compress_split(const Split &split, const uint8_t *data, Bytes *out);
  bool write_head(const Call &call, const Regions &request, const uint8_t *data);
  int put_dense(const Call &call, Written *written);
  int put_alone(const Call &call, Written *written);
  void note_alone(std::span<const Block> blocks, const std::function<void(ByteView)> &put);
  int claim(const std::vector<Split> &splits);
  bool put_at_home(const Call &call, const Block &block, ByteView bytes, int *error);
  int keep(std::vector<Block> blocks);
  std::optional<uint64_t> next_sequence();
  [[nodiscard]] uint64_t sequence_of(uint64_t number) const;
  void begin_placing();
  [[nodiscard]] Coding coding_of(int variable) const;
  [[nodiscard]] uint64_t split_of(int variable) const;

  // reading.cc
  struct Fetched {
    std::map<size_t, BlockCache::Values> known;  ///< by number
    codec::Reused<uint8_t> bytes;
    std::map<size_t, ByteView> coded;   ///< in `bytes`, or
    std::map<size_t, Bytes> collected;  ///< of blocks that lie in several places
  };
  int fetch(const Call &call, const std::vector<size_t> &blocks, Fetched *fetched);
  int read_ranges(const Call &call, const std::vector<Run> &ranges, uint64_t bytes, uint8_t *to);
  Error named(size_t number, Error error) const;
  int lay_blocks(const std::vector<size_t> &blocks, const Fetched &fetched, const Regions &request, uint8_t *data,
                 uint64_t there);
  Result<BlockCache::Values> decoded(size_t number, const Fetched &fetched);
  [[nodiscard]] std::vector<const UserCodec *> users() const;

  // virtual_file.cc
  void take_head();
  [[nodiscard]] bool journaling() const { return session_ != 0 && !defining_; }
  int settle(bool reading, const std::vector<Block> *planned, bool publishing);
  int exchange_blocks(bool everywhere, const std::vector<Block> &planned);
  int share_index();
  int load_index(MPI_File file, const Regions *regions);
  void keep_chains();

  // publishing.cc
  int write_header(const IndexPlace &place);
  int name_session(uint64_t session);
  int close_unchanged();
  int make_room_for_header(uint64_t size);
  int file_in_groups();
  int file_index();
  Run place_index(uint64_t size, bool last);
  [[nodiscard]] blocks::Calls calls();
  int bad(const std::string &what) const;

  MPI_Comm comm_;
  MPI_File file_;
  int rank_ = 0;
  int ranks_ = 1;
  std::string path_;
  FileOptions options_;
  bool writable_;
  bool opening_ = false;
  bool defining_ = false;
  bool independent_ = false;
  bool reading_ = false;   ///< something was read collectively: all ranks go on learning of all blocks
  bool chaining_ = false;  ///< blocks that come may be coded against earlier ones; the same on all ranks
  bool behind_ = false;    ///< only rank 0 knows all blocks; the same on all ranks
  uint64_t seen_end_ = 0;  ///< of the virtual file, over all ranks, when it was last settled

  Index index_;
  std::vector<Block> fresh_;  ///< this rank's since the last settle
  Index claimed_;             ///< sparse: what lower ranks write in the collective call under way, and this one has put
  Bytes room_;                ///< for the bytes that the next write makes, so that they need no fresh pages
  Bytes head_;                ///< the virtual file's first bytes; newest on rank 0
  bool head_changed_ = false;
  /// Where indexes have been: the one that the header names, and the one before, whose room the next one may have.
  std::array<Run, 2> slots_{};
  size_t named_slot_ = 0;
  IndexPlace named_;       ///< the index that the header names; on rank 0
  uint64_t data_end_ = 0;  ///< as the header says; on rank 0
  WriterLock lock_;        ///< of rank 0
  uint64_t session_ = 0;   ///< 0: nothing is noted in the journal
  bool changed_ = false;   ///< since the last publish; the same on all ranks once settled
  Header header_;
  Layout layout_;
  uint64_t epoch_ = 1;    ///< counts collective writes and settles: alike on all ranks
  uint64_t written_ = 0;  ///< blocks of this rank in this epoch
  blocks::Extents extents_;
  uint64_t extents_epoch_ = 0;  ///< the epoch that they are good for
  std::optional<uint64_t> striping_;

  std::map<int, VariableCoding> codings_;
  std::vector<std::unique_ptr<UserCodec>> user_codecs_;
  BlockCache cache_;
  References references_;
};

}  // namespace cairn::arrays
