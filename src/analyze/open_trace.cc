#include "analyze/open_trace.h"

#include <filesystem>

namespace cairn::analyze {

namespace fs = std::filesystem;

Result<void> may_be_trace(const std::string &path) {
  std::error_code error;
  const auto status = fs::status(path, error);
  const auto complain = [&](const char *what, const char *hint) {
    return tl::unexpected<Error>(Error{ErrorKind::unreadable, what, path, Error::kNoOffset, hint});
  };
  if (status.type() == fs::file_type::not_found) return complain("there is no such file", "cairn record makes one");
  if (status.type() == fs::file_type::directory) {
    return complain("this is a folder, not a trace",
                    path.ends_with(".spool") ? "cairn merge makes a trace of it" : "name a .cairn file");
  }
  if (status.type() == fs::file_type::regular && fs::file_size(path, error) == 0 && !error) {
    return complain("the file is empty", "record it again");
  }
  return {};
}

Result<trace::Trace> open_trace_at(const std::string &path) {
  if (auto may = may_be_trace(path); !may) return tl::unexpected(may.error());
  return trace::Trace::open(path);
}

}  // namespace cairn::analyze
