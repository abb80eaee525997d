// OpenViews: which file descriptors of this process are of compressed files. Any thread.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <shared_mutex>
#include <string>

#include "arrays/reader/plain_view.h"

namespace cairn::arrays {

class OpenViews {
 public:
  static OpenViews &all();

  /// The file has just been opened for reading. False: it is compressed, but cannot be read, which a line on standard
  /// error has said.
  bool opened(int file, const char *name);
  /// nullptr: not of a compressed file.
  [[nodiscard]] std::shared_ptr<PlainView> of(int file) const;
  void closed(int file);
  /// Another descriptor of the same opening.
  void duplicated(int from, int to);

 private:
  std::atomic<size_t> count_ = 0;  ///< so that what has none pays next to nothing
  mutable std::shared_mutex lock_;
  std::map<int, std::shared_ptr<PlainView>> views_;
};

}  // namespace cairn::arrays
