// PlainFile: an ordinary NetCDF file of the classic formats, read without a NetCDF library, and what of it belongs to
// which variable: what imports and measurements start from.
//
// Memory: a window of 4 MiB. One thread at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "arrays/file/header.h"
#include "base/bytes.h"
#include "base/result.h"

namespace cairn::arrays {

class PlainFile {
 public:
  /// Error: no such file, or no NetCDF file of the classic formats.
  static Result<PlainFile> open(const std::string &path);

  [[nodiscard]] const Header &header() const { return header_; }
  [[nodiscard]] uint64_t size() const { return size_; }
  /// The header's own bytes.
  [[nodiscard]] Result<Bytes> header_bytes() const;
  /// Where a variable's values lie, as far as the file goes.
  [[nodiscard]] Regions where(const Variable &variable) const;
  /// All other bytes behind the header: padding, gaps, what follows the last value.
  [[nodiscard]] Regions between() const;
  /// The bytes of the regions, one after the other. All of them lie in the file.
  Result<void> read(std::span<const Region> regions, uint8_t *data) const;

 private:
  struct Closer {
    void operator()(const int *file) const;
  };
  Result<void> fill(uint64_t offset, uint8_t *data, uint64_t bytes) const;

  std::unique_ptr<int, Closer> file_;
  std::string path_;
  uint64_t size_ = 0;
  Header header_;
  mutable Bytes window_;
  mutable uint64_t window_at_ = 0;
};

}  // namespace cairn::arrays
