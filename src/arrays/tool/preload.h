// Commands that become programs with a library of Cairn's in them.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace cairn::array_tool {

/// The path of a library that is installed beside this program, or of the file that the user named instead. Error: it
/// is not there; `hint` says what to do.
Result<std::string> find_library(const std::string &name, const std::string &named, const std::string &hint);

/// Becomes the command, with the library in front of whatever is preloaded already. Returns, with an exit status, only
/// if it cannot.
int execute_with(const std::string &library, const std::vector<std::string> &command);

}  // namespace cairn::array_tool
