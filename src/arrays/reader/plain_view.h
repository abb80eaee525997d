// PlainView: a compressed file as the bytes that PnetCDF alone would have written, wherever a reader asks for some.
//
// Any thread may read; one at a time does. Memory: the index, and 64 MiB of values that were decoded last
// (arrays/file/stored_file.h).
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "arrays/file/stored_file.h"

namespace cairn::arrays {

class PlainView {
 public:
  /// Of the file that is open there; `name` is for messages. Error: it is compressed, but cannot be read.
  static Result<std::shared_ptr<PlainView>> of(int file, const std::string &name);
  /// Whether the file that is open there is a compressed one. Costs reading four bytes of any other.
  static bool is_compressed(int file);

  [[nodiscard]] uint64_t size() const { return size_; }
  /// As many of these bytes as there are; `got` says how many. 0, or EIO: a block is damaged, which a line on standard
  /// error has said then.
  int read_at(uint64_t at, std::span<uint8_t> bytes, size_t *got);

  /// The place in the file that descriptors of one opening share.
  std::mutex moving;
  uint64_t position = 0;

 private:
  PlainView(StoredFile stored, std::string name);
  std::mutex reading_;
  StoredFile stored_;
  std::string name_;
  uint64_t size_ = 0;
  bool complained_ = false;
};

}  // namespace cairn::arrays
