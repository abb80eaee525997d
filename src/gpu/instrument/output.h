// What is written: the main file with its head and its table of points, and copies of headers. Everything is made in
// memory and under other names first, and renamed when all of it is there.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "gpu/instrument/program.h"

namespace cairn::instrument {

struct OutputOptions {
  std::vector<std::string> outputs;  ///< of the main files
  std::string include;               ///< the folder that has cairn/gpu.h
  std::string headers;               ///< where copies go; empty: headers are not rewritten
  std::vector<std::string> folders;  ///< what lies below them is the project's
  bool points = true;
  bool force = false;
};

/// `path` in the one of `folders` that it lies below, or "" if it lies elsewhere.
std::string within(const std::string &path, const std::vector<std::string> &folders);

struct OutputFile {
  std::string path;
  std::string text;
};
/// Completes the edits: the points get their numbers, and includes lead to the copies.
Result<std::vector<OutputFile>> outputs(Program &program, const std::vector<CXTranslationUnit> &units,
                                        const OutputOptions &options);
Result<void> write_all(const std::vector<OutputFile> &files, bool force);

}  // namespace cairn::instrument
