// Where exporters write: one file, or standard output; or a folder.
//
// What could not be written to its end is deleted, and what was there before is left as it was: a file or folder must
// not be there, or be an empty folder. One thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace cairn::exporting {

/// Bytes, written in large pieces. Errors are kept until `finish`.
class OutFile {
 public:
  /// "" is standard output.
  static Result<OutFile> create(const std::string &path);
  OutFile(OutFile &&other) noexcept;
  OutFile &operator=(OutFile &&) = delete;
  /// Deletes the file unless `finish` gave no error.
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
  void flush();

  std::string path_;
  int file_;
  std::string buffer_;
  uint64_t bytes_ = 0;
  int error_ = 0;
  bool closed_ = false;
  bool kept_ = false;
};

/// A folder that is made, or is empty.
class Folder {
 public:
  static Result<Folder> make(const std::string &path);
  Folder(Folder &&other) noexcept;
  Folder &operator=(Folder &&) = delete;
  /// Deletes what it will have, and itself if it was made, unless `keep` was called.
  ~Folder();
  /// The path of a file or folder that somebody writes there.
  std::string will_have(const std::string &name);
  void keep() { kept_ = true; }

 private:
  Folder(std::string path, bool made) : path_(std::move(path)), made_(made) {}
  std::string path_;
  bool made_;
  std::vector<std::string> names_;
  bool kept_ = false;
};

}  // namespace cairn::exporting
