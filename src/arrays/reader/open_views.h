// OpenViews: which file descriptors of this process are of compressed files. Any thread.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <compare>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>

#include "arrays/reader/plain_view.h"

namespace cairn::arrays {

/// Which file it is, and in which state.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;
  off_t size = 0;
  int64_t seconds = 0;  ///< when it was changed
  int64_t nanoseconds = 0;
  uint32_t mode = 0;
  auto operator<=>(const FileIdentity &) const = default;
};

class OpenViews {
 public:
  static OpenViews &all();

  /// The file has just been opened for reading. False: it is compressed, but cannot be read, which a line on standard
  /// error has said.
  bool opened(int file, const char *name);
  /// nullptr: not of a compressed file.
  [[nodiscard]] std::shared_ptr<PlainView> of(int file);
  void closed(int file);
  /// Another descriptor of the same opening.
  void duplicated(int from, int to);

  /// The size of a file as a plain one, if it was looked at before.
  [[nodiscard]] std::optional<off_t> size_of(const FileIdentity &identity) const;
  /// The same, of a file that is open there. Of one that is not compressed, or cannot be read, the size that it has.
  off_t find_size(int file, const char *name, const FileIdentity &identity);

 private:
  std::atomic<bool> looked_at_input_ = false;  ///< standard input, which a shell may have opened
  std::atomic<size_t> count_ = 0;              ///< so that what has none pays next to nothing
  mutable std::shared_mutex lock_;
  std::map<int, std::shared_ptr<PlainView>> views_;
  std::map<FileIdentity, off_t> sizes_;  ///< of the files that were asked for last
};

}  // namespace cairn::arrays
