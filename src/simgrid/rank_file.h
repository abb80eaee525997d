// RankFile: the actions of one rank as SMPI's replay reads them, a line each: "3 send 4 17 800".
//
// A line may be changed as long as the file is open, also when it was written long ago: whom a receive from anybody
// heard is only known when it is complete. Fields stand apart by any number of blanks, and lines that begin with '#'
// are passed over, so a line that was made wide enough is changed where it stands. One thread. Memory for a buffer of 1
// MiB; the first error is kept, and told by `close`.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace cairn::simgrid {

/// How actions of messages say so many bytes: their counts are ints of some datatype, bytes if none is named. More are
/// told in units of 32, of SMPI's datatype 27, and rounded up.
std::string size_text(uint64_t bytes);

class RankFile {
 public:
  /// Where a line stands.
  struct Line {
    uint64_t offset = 0;
    uint32_t length = 0;  ///< without its end
  };

  /// Makes the file, which must not be there.
  static Result<RankFile> create(const std::string &path, uint32_t rank);
  RankFile(RankFile &&other) noexcept;
  RankFile &operator=(RankFile &&) = delete;
  ~RankFile();

  template <typename... Arguments>
  Line add(fmt::format_string<Arguments...> form, Arguments &&...arguments) {
    return put(0, fmt::vformat(form, fmt::make_format_args(arguments...)));
  }
  /// A line that can become any action of a single message.
  Line add_wide(std::string_view action) { return put(kWide, action); }
  /// What does not fit is an error, told by `close`.
  void change(const Line &line, std::string_view action);
  /// SMPI does not see that line.
  void drop(const Line &line) { overwrite(line.offset, "#"); }

  [[nodiscard]] uint64_t lines() const { return lines_; }
  Result<void> close();

 private:
  static constexpr size_t kWide = 64;
  static constexpr size_t kBuffer = size_t{1} << 20;
  RankFile(std::string path, int file, uint32_t rank);
  Line put(size_t width, std::string_view action);
  void overwrite(uint64_t offset, std::string_view text);
  void flush();

  std::string path_;
  int file_ = -1;
  std::string head_;  ///< of each line
  std::string buffer_;
  uint64_t flushed_ = 0;
  uint64_t lines_ = 0;
  int error_ = 0;
};

}  // namespace cairn::simgrid
