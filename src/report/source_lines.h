// The lines of a program's sources around where it calls MPI, as far as the files are where the trace says.
//
// Plain functions. Cost: reading the files; at most kMostBytes of text in all. Files that are no text, or larger than
// 4 MiB, are left out, as is what is behind that bound. So are files that are not named as sources are: a trace may be
// a stranger's, and what it names goes into a page that is sent on.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace cairn::report {

/// Of a file, without the ends of lines; bytes that are not UTF-8 replaced. None of one that is left out.
std::vector<std::string> lines_of(const std::string &path);

/// By its ending: "main.c", "solver.F90", "step.py".
bool is_named_as_source(const std::string &path);

/// `wanted`: by file, the lines. Gives a list of {"file", "first", "lines"}: stretches in order, of lines from "first";
/// with "changed", true, of a file that was written after the run had `ended`, unless that is the begin of all time.
nlohmann::ordered_json source_lines(const std::map<std::string, std::set<uint32_t>> &wanted,
                                    std::chrono::system_clock::time_point ended = {});

}  // namespace cairn::report
