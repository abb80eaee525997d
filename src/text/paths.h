// Paths as people read them.
#pragma once

#include <string>

namespace cairn {

/// "main.c" of "/home/me/app/main.c".
std::string base_name(const std::string &path);

}  // namespace cairn
