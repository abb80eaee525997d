// StoredWriter: a compressed file written by one process without MPI: what imports and compacts, and tests, use.
//
// The file grows under a name of its own beside its place and takes that over when it is complete: until `finish` there
// is nothing new at the path, whatever happens. Values become blocks of at most a split each, one after the other; the
// index and the header come last. Memory: two splits and the index. One thread at a time.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "arrays/file/block_code.h"
#include "arrays/file/draft.h"
#include "arrays/file/header.h"
#include "arrays/file/index.h"
#include "arrays/file/references.h"
#include "base/result.h"

namespace cairn::arrays {

constexpr uint64_t kSplit = uint64_t{1} << 20;  ///< bytes of values in a block

/// How many bytes of a region, from its byte `from` on, make a block: rows of one run, runs of one level and so on,
/// about as many each time and no more than `split`.
uint64_t piece_at(const Region &region, const Variable *variable, size_t element, uint64_t split, uint64_t from);

class StoredWriter {
 public:
  /// `header` is the virtual file's. Error: it is none, or the folder cannot be written to.
  /// `chain`: how many blocks may be coded against each other (arrays/file/references.h).
  static Result<StoredWriter> create(const std::string &path, Bytes header, const Coding &coding,
                                     uint64_t split = kSplit, const Chain &chain = {});

  [[nodiscard]] const Header &header() const { return header_; }
  [[nodiscard]] const Index &index() const { return index_; }
  Index &index() { return index_; }
  void set_index_sizes(const IndexSizes &sizes) { sizes_ = sizes; }
  /// Of what is written from now on.
  void set_coding(const Coding &coding) { coding_ = coding; }

  /// Writes bytes of one variable (-1: of the space between variables), big-endian as in the virtual file, one region
  /// after the other. They lie over what was written before.
  Result<void> write(int variable, std::span<const Region> regions, const uint8_t *data);
  /// Appends a block that is coded already, behind the one that it is coded against; only its place is new.
  Result<void> append(Block block, ByteView coded);
  /// Gives the file its name; what had that before is gone. `mode`: permissions, -1 for the usual ones.
  Result<void> finish(int mode = -1);
  /// Bytes of the file; after `finish`.
  [[nodiscard]] uint64_t size() const { return size_; }

 private:
  Result<void> write_piece(int variable, Regions regions, const uint8_t *data);

  std::optional<Draft> draft_;
  Coding coding_;
  uint64_t split_ = kSplit;
  Header header_;
  Layout layout_;
  Index index_;
  IndexSizes sizes_;
  References references_;
  uint64_t sequence_ = 0;
  uint64_t size_ = 0;
};

}  // namespace cairn::arrays
