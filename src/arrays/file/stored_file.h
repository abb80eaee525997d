// StoredFile: a compressed file read without MPI: what the command line and tests use.
//
// Holds the index in memory, or what `read` needs of it, and reads blocks as they are asked for; `read` keeps the last
// 64 MiB of values (one block at least), so that requests one after the other do not decode a block anew. One thread at
// a time. A damaged file gives errors that name the variable and the block; it never gives values that were not
// written.
//
// A file that a tool has copied with a header of another length is read where everything lies now; of one that lacks
// what is needed the error says what a tool has done to it.
//
// Of a file that was not closed all blocks are there whose writing had ended, as if they were in its index: opening it
// looks for them in all of the file (arrays/file/journal.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "arrays/file/block_cache.h"
#include "arrays/file/block_code.h"
#include "arrays/file/header.h"
#include "arrays/file/index.h"
#include "arrays/file/physical.h"
#include "base/result.h"

namespace cairn::arrays {

/// "variable 'T', block 3 (bytes 4096 to 5000)".
std::string name_of(const Index &index, const Header &header, const Layout &layout, size_t block);

/// Reads the header at the front of a file, however long it is.
Result<Header> read_header(int file);

class StoredFile {
 public:
  /// Whether a file says of itself that it is one, whatever else is wrong with it.
  static bool recognises(const std::string &path);
  /// How much of an index that stands in several parts is read at once.
  enum class Take : uint8_t {
    all,
    as_needed,  ///< what `read` comes to need; `index` has but some blocks
  };
  /// Error: no such file, no NetCDF file, or not a compressed one (kind usage).
  static Result<StoredFile> open(const std::string &path, Take take = Take::all);

  /// Blocks that the index in the file does not name.
  struct Unlisted {
    uint64_t blocks = 0;
    uint64_t bytes = 0;  ///< of values
  };
  [[nodiscard]] bool closed() const { return place_.session.value_or(0) == 0; }
  [[nodiscard]] const Unlisted &unlisted() const { return unlisted_; }

  /// The header that Cairn would write at the front.
  [[nodiscard]] Bytes expected_header() const;
  /// What the header at the front says otherwise, as when another tool has changed it (physical.h): values, and what
  /// `header` says, are not touched by that.
  [[nodiscard]] std::vector<std::string> changes_of_header() const;
  /// The end of the compressed bytes, as the header at the front has it.
  [[nodiscard]] uint64_t data_end() const { return data_end_; }

  [[nodiscard]] const Header &header() const { return header_; }      ///< the program's
  [[nodiscard]] const Header &physical() const { return physical_; }  ///< of the file itself
  [[nodiscard]] const Index &index() const { return index_; }
  [[nodiscard]] const IndexPlace &index_place() const { return place_; }
  [[nodiscard]] const Layout &layout() const { return layout_; }
  [[nodiscard]] uint64_t size() const { return size_; }
  [[nodiscard]] const std::string &path() const { return path_; }

  /// Compressed bytes of a block.
  [[nodiscard]] Result<Bytes> coded(size_t block) const;
  /// Whether these compressed bytes are those of the block.
  [[nodiscard]] bool intact(size_t block, ByteView coded) const;
  /// Its values, little-endian, by way of those that it is coded against.
  [[nodiscard]] Result<Bytes> values(size_t block) const;
  /// The bytes of the virtual file, one region after the other, big-endian as there. What was never written is zero.
  Result<void> read(std::span<const Region> request, uint8_t *data) const;

 private:
  Result<void> find_index();
  Result<void> read_index();
  [[nodiscard]] ReadPlace reader(uint64_t moved) const;
  Result<void> find_unlisted();
  [[nodiscard]] Result<Bytes> read_places(const Block &block) const;
  [[nodiscard]] Result<BlockCache::Values> kept(size_t block) const;
  struct Closer {
    void operator()(const int *file) const;
  };
  std::unique_ptr<int, Closer> file_;
  std::string path_;
  uint64_t size_ = 0;
  Header physical_;
  Header header_;
  Layout layout_;
  mutable Index index_;  ///< takes in what is read
  IndexPlace place_;
  uint64_t data_end_ = 0;
  Unlisted unlisted_;
  mutable BlockCache cache_;
};

}  // namespace cairn::arrays
