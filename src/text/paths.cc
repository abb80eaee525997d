#include "text/paths.h"

namespace cairn {

std::string base_name(const std::string &path) { return path.substr(path.rfind('/') + 1); }

}  // namespace cairn
