// LogFile: one thread's raw log, read into memory. Whatever the bytes are, reading neither crashes nor allocates more
// than they justify: a bad header is an error, a bad record ends the log there (`damaged`).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "mpi/oracle/format.h"
#include "mpi/oracle/log.h"

namespace cairn::oracle {

/// One value of a call: a parameter before or after it, or its result.
struct LogValue {
  uint8_t parameter = 0;  ///< kReturn: the result
  bool after = false;
  Tag tag = Tag::null;
  std::vector<uint64_t> words;                                 ///< numbers, addresses, handles; 5 a status; code, class
  std::string text;                                            ///< string
  std::vector<std::vector<std::optional<std::string>>> lists;  ///< strings: one list; argvs: several
};

struct LogRecord {
  uint32_t function = 0;
  uint32_t depth = 0;
  uint64_t begin = 0;  ///< process-wide tickets
  uint64_t end = 0;
  std::optional<uint64_t> epoch;  ///< of freed memory, if known
  RecordState state = RecordState::returned;
  size_t first = 0;  ///< where its values lie
  size_t last = 0;
};

class LogFile {
 public:
  static Result<LogFile> open(const std::string &path);
  static Result<LogFile> from_bytes(Bytes bytes, std::string path);

  [[nodiscard]] const Header &header() const { return header_; }
  /// Local value of each named constant, by permanent id.
  [[nodiscard]] const std::vector<std::optional<uint64_t>> &constants() const { return constants_; }
  /// In the order in which the calls ended; those that began and were never heard of again come last.
  [[nodiscard]] const std::vector<LogRecord> &records() const { return records_; }
  /// Empty if the bytes are damaged.
  [[nodiscard]] std::vector<LogValue> values(const LogRecord &record) const;
  [[nodiscard]] const std::string &path() const { return path_; }
  [[nodiscard]] bool damaged() const { return damaged_; }

 private:
  Bytes bytes_;
  std::string path_;
  Header header_{};
  std::vector<std::optional<uint64_t>> constants_;
  std::vector<LogRecord> records_;
  bool damaged_ = false;
};

/// Every *.log file in `directory`, in order of their names.
Result<std::vector<LogFile>> read_logs(const std::string &directory);

}  // namespace cairn::oracle
