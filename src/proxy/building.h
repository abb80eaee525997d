// What a generated program is built with, in each language, and what tells people how: Makefile, CMakeLists.txt,
// README.md. Plain functions; nothing fails.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proxy/part.h"
#include "proxy/program.h"

namespace cairn::proxy {

/// What a file of C is called in that language.
std::string source_name(std::string_view c_name, Language language);
std::string makefile(const Settings &settings);
std::string cmake_lists(const Settings &settings);
/// `name`: of the trace.
std::string readme(const Program &program, const std::vector<PartText> &parts, const std::string &name);

}  // namespace cairn::proxy
