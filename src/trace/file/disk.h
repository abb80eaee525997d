// A .cairn file on disk, of which the blocks may be larger than memory: everything else is read at once, blocks one by
// one when they are asked for.
//
// Reads what it is named and nothing else. Concurrent reads are fine.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "trace/file/without_blocks.h"

namespace cairn::trace {

/// Whether a trace, whole or not, or one of an older format lies there; or nothing at all, in a file without a byte.
bool begins_as_trace(const std::string &path);

/// Checks nothing but that the file can be read; `read_file` does. What is no ordinary file is read to its end.
Result<WithoutBlocks> read_without_blocks(const std::string &path);

/// Open for as long as it lives, whatever becomes of the name.
class Disk {
 public:
  static Result<std::shared_ptr<const Disk>> open(const std::string &path);
  Disk(const Disk &) = delete;
  Disk &operator=(const Disk &) = delete;
  ~Disk();

  [[nodiscard]] uint64_t size() const { return size_; }  ///< 0 of what is no ordinary file
  /// As many bytes as there are from `offset` on, at most `size`.
  [[nodiscard]] Result<Bytes> read(uint64_t offset, uint64_t size) const;

 private:
  Disk(std::string path, int file, uint64_t size) : path_(std::move(path)), file_(file), size_(size) {}
  std::string path_;
  int file_;
  uint64_t size_;
};

}  // namespace cairn::trace
