// Draft: a file that grows under a name of its own beside its place, and takes that place over when it is complete.
//
// Until `keep` there is nothing new at the path, and the draft goes away with its object. One thread at a time.
#pragma once

#include <string>

#include "base/bytes.h"
#include "base/result.h"

namespace cairn::arrays {

class Draft {
 public:
  /// Error: the folder cannot be written to.
  static Result<Draft> create(const std::string &path);
  Draft(Draft &&other) noexcept;
  Draft &operator=(Draft &&other) noexcept;
  Draft(const Draft &) = delete;
  Draft &operator=(const Draft &) = delete;
  ~Draft();

  [[nodiscard]] const std::string &name() const { return name_; }  ///< by which the draft goes until `keep`
  /// Both: an error beyond RLIMIT_FSIZE, and not the end of the process with the draft left behind.
  Result<void> put(uint64_t at, ByteView bytes);
  Result<void> resize(uint64_t size);
  /// Puts the file, complete and on the disk, at its place; what was there is gone. `mode`: permissions, -1 for those
  /// of any new file.
  Result<void> keep(int mode = -1);

 private:
  Draft() = default;
  void discard();
  [[nodiscard]] tl::unexpected<Error> cannot(int number) const;

  int file_ = -1;
  std::string name_;
  std::string path_;
};

}  // namespace cairn::arrays
