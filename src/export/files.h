// OutFile: a file, or standard output, that an exporter writes.
//
// It has its name once all of it is there (partial.h). One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "files/partial.h"

namespace cairn::exporting {

/// Bytes, written in large pieces. Errors are kept until `finish`.
class OutFile {
 public:
  /// "" is standard output.
  static Result<OutFile> create(const std::string &path);
  /// In a folder that gets its name later.
  static Result<OutFile> create_in(Partial *folder, const std::string &name);
  OutFile(OutFile &&other) noexcept;
  OutFile &operator=(OutFile &&) = delete;
  ~OutFile();

  void write(std::string_view bytes) {
    buffer_ += bytes;
    if (buffer_.size() >= kBuffer) flush();
  }
  /// The reader of standard output has gone: nothing more needs to be made.
  [[nodiscard]] bool is_closed() const { return closed_; }
  [[nodiscard]] bool failed() const { return error_ != 0; }
  [[nodiscard]] uint64_t bytes() const { return bytes_ + buffer_.size(); }
  Result<void> finish();

 private:
  static constexpr size_t kBuffer = size_t{1} << 20;
  OutFile(std::string path, int file) : path_(std::move(path)), file_(file) {}
  static Result<OutFile> open(const std::string &path, const std::string &shown, int how);
  void flush();

  std::string path_;  ///< as it is told
  int file_;
  std::optional<Partial> partial_;
  std::string buffer_;
  uint64_t bytes_ = 0;
  int error_ = 0;
  bool closed_ = false;
};

}  // namespace cairn::exporting
