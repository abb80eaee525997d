// ScratchFiles: where the files that a program opened lie in a replay: in a folder of the replay's own, under names
// that are the same on all ranks. A file that the program found there, and did not make, is made empty and long enough
// to be read.
#pragma once

#include <string>
#include <utility>

namespace cairn::replay {

class ScratchFiles {
 public:
  explicit ScratchFiles(std::string folder) : folder_(std::move(folder)) {}
  [[nodiscard]] std::string path(const std::string &recorded) const;
  /// There must be such a file: if there is none, there is now.
  void provide(const std::string &path) const;
  /// There must be none. Only what lies in the scratch folder is removed.
  void remove(const std::string &path) const;

 private:
  std::string folder_;
};

}  // namespace cairn::replay
