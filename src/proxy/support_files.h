// The files of src/proxy/support, which stand in every generated program as they are. Static data.
#pragma once

#include <span>
#include <string_view>

namespace cairn::proxy {

struct SupportFile {
  std::string_view name;
  std::string_view text;
};
std::span<const SupportFile> support_files();

}  // namespace cairn::proxy
