// Result<T>: a value, or an Error that says what, where and what to do.
//
// No exceptions cross a room's border: everything that can fail on bad input, a full disk or a
// missing tool returns a Result. Only src/cli turns an Error into one line and an exit code.
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace cairn {

/// What went wrong, as a user's next step depends on it; src/cli maps each kind to an exit code.
enum class ErrorKind : uint8_t {
  usage,           ///< a wrong word on the command line (exit 2)
  unreadable,      ///< a trace that is truncated, corrupt, foreign or newer (exit 3)
  environment,     ///< a file, tool or permission that is missing (exit 4)
  internal,        ///< our own fault (exit 5)
  not_found,       ///< a command to run that does not exist (exit 127 for `record`)
  not_executable,  ///< a command to run that cannot be executed (exit 126 for `record`)
};

struct Error {
  static constexpr uint64_t kNoOffset = UINT64_MAX;

  ErrorKind kind = ErrorKind::internal;
  std::string message;          ///< one clause, no full stop: "section 'rows' is cut short"
  std::string path;             ///< the file it is about, or empty
  uint64_t offset = kNoOffset;  ///< byte offset in that file, or kNoOffset
  std::string hint;             ///< what to do, or empty
};

template <typename T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(ErrorKind kind, std::string message, std::string hint = {}) {
  return tl::unexpected<Error>(Error{kind, std::move(message), {}, Error::kNoOffset, std::move(hint)});
}

}  // namespace cairn
