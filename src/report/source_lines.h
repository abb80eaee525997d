// The lines of a program's sources around where it calls MPI, as far as the files are where the trace says.
//
// Plain function. Cost: reading the files; at most kMostBytes of text in all. Files that are no text, or larger than
// 4 MiB, are left out, as is what is behind that bound.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace cairn::report {

/// Of a file, without the ends of lines; bytes that are not UTF-8 replaced. None of one that is left out.
std::vector<std::string> lines_of(const std::string &path);

/// `wanted`: by file, the lines. Gives a list of {"file", "first", "lines"}: stretches in order, of lines from "first".
nlohmann::ordered_json source_lines(const std::map<std::string, std::set<uint32_t>> &wanted);

}  // namespace cairn::report
