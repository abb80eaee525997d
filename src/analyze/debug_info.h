// DebugInfo: one module file opened with elfutils: its build-id, and for an offset the function, file and line.
//
// One thread at a time. Nothing is fetched over the network: separate debug files are used only if they lie
// where distributions install them (/usr/lib/debug) or beside the module.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/bytes.h"
#include "trace/read/trace.h"

namespace cairn::analyze {

class DebugInfo {
 public:
  /// nullptr if the file is missing or no ELF file.
  static std::unique_ptr<DebugInfo> open(const std::string &path);
  ~DebugInfo();
  DebugInfo(const DebugInfo &) = delete;
  DebugInfo &operator=(const DebugInfo &) = delete;

  /// Empty if the file has none.
  [[nodiscard]] Bytes build_id() const;
  /// What stands before the return address `offset`; nullopt if not even a symbol is known.
  [[nodiscard]] std::optional<trace::Source> find(uint64_t offset) const;
  /// Where what is called before the return address `offset` jumped to all of these MPI functions (tail_calls.h);
  /// nullopt if it did not jump to each, or not from one line.
  [[nodiscard]] std::optional<trace::Source> find_tail_call(uint64_t offset,
                                                            const std::set<std::string> &functions) const;
  [[nodiscard]] bool has_lines() const;

 private:
  DebugInfo() = default;
  struct Body;
  std::unique_ptr<Body> body_;
};

/// The name in C++ behind a mangled one, in Fortran as module::procedure; else `name` itself.
std::string demangled(const char *name);

}  // namespace cairn::analyze
