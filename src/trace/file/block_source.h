// BlockSource: the blocks of a .cairn file, from memory or from where it lies, one rank's at a time.
//
// The block that was read last is kept: a rank with several threads or segments is asked for each of them. Any number
// of threads may read. Says what is wrong with a block, and at which byte of the file; trusts no offset.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/lock.h"
#include "base/result.h"
#include "trace/file/file.h"
#include "trace/file/rank_block.h"
#include "trace/values/atom.h"

namespace cairn::trace {

/// As many bytes of a file as there are from `offset` on, at most `size`.
using ReadBytes = std::function<Result<Bytes>(uint64_t offset, uint64_t size)>;

class BlockSource {
 public:
  /// Of the section `blocks`, whose bytes are there, or are read from the file. `path` is for errors.
  BlockSource(const StoredSection &blocks, ReadBytes read, std::string path)
      : blocks_(blocks), read_(std::move(read)), path_(std::move(path)) {}

  struct Block {
    uint32_t rank = 0;
    Bytes bytes;
    std::vector<BlockStream> streams;  ///< views into `bytes`
    std::optional<Error> damage = {};  ///< the checksum is wrong: the streams have only checks of their own
  };
  /// Threads and segments of the rank's sequences that should have times there.
  using Sequences = std::function<std::vector<std::pair<uint32_t, uint32_t>>()>;
  /// `sequences` are asked for if the block is damaged.
  [[nodiscard]] Result<std::shared_ptr<const Block>> read(uint32_t rank, Atom offset, const Sequences &sequences) const;
  /// The content of the block at `*offset`, which moves behind it; `what` it is of, for errors.
  [[nodiscard]] Result<Bytes> read_next(uint64_t *offset, const std::string &what) const;
  /// The first bytes of that content, at most `most`, without reading or checking the rest.
  [[nodiscard]] Result<Bytes> peek(uint64_t *offset, uint64_t most, const std::string &what) const;
  [[nodiscard]] uint64_t size() const { return blocks_.decoded_size; }

 private:
  [[nodiscard]] Result<std::shared_ptr<const Block>> load(uint32_t rank, Atom offset, const Sequences &sequences) const;
  [[nodiscard]] Result<BlockFront> front_at(uint64_t offset, const std::string &what) const;
  /// `damage`: where a wrong checksum is told; nullptr: that is an error.
  [[nodiscard]] Result<Bytes> content(uint64_t offset, const std::string &what, BlockFront *front,
                                      std::optional<Error> *damage = nullptr) const;
  [[nodiscard]] Result<Bytes> bytes(uint64_t offset, uint64_t size) const;
  [[nodiscard]] tl::unexpected<Error> wrong(const std::string &how, const std::string &what, uint64_t offset) const;

  StoredSection blocks_;
  ReadBytes read_;
  std::string path_;
  mutable Lock lock_;
  mutable std::shared_ptr<const Block> last_;
};

}  // namespace cairn::trace
