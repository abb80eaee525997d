// What lies in a spool: finished traces of jobs that merged themselves, parts of jobs that did not, epilogues (calls
// after MPI_Finalize), reasons why a process was not recorded, arenas of processes that were killed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/spool_header.h"

namespace cairn::spool {

/// A *.part or *.epilogue file, or what an arena was read to.
struct PartFile {
  std::string path;
  SpoolHeader header;
  Bytes bytes;
  size_t offset = 0;      ///< where the part begins in `bytes`
  bool no_calls = false;  ///< of a process that was killed before its first call had ended
};

struct Contents {
  std::vector<std::string> traces;  ///< *.cairn, in order of their jobs
  std::vector<PartFile> parts;      ///< of kind main
  std::vector<PartFile> epilogues;
  std::vector<std::string> gpu;        ///< *.gpu: what processes traced in kernels, until they ended or were killed
  std::vector<std::string> reasons;    ///< why processes were not recorded, each once
  std::map<std::string, size_t> lost;  ///< why nothing is left of how many processes
  std::vector<std::string> files;      ///< all that was read and can go once the traces are written
  std::vector<Error> damaged;          ///< what cannot be read, and stays

  void append(Contents other);
};

/// What such a file at that path holds.
Result<PartFile> part_file(const std::string &path, Bytes bytes);
/// When processes that were killed ended, which says how long they had been in their last calls.
enum class Deaths : uint8_t {
  unknown,
  now,  ///< somebody has waited for them
};
/// Reads a folder in which no process records any more. One that is not there is empty. What is no spool's file is not
/// looked at; what is another user's is `damaged`.
Contents read_folder(const std::string &folder, Deaths deaths = Deaths::unknown);
/// Reads one *.part, *.epilogue or *.gpu file, or the arena of a killed process.
Contents read_file(const std::string &path);

/// Arenas in the folder that living processes hold.
std::vector<std::string> held_arenas(const std::string &folder);
/// How many living processes hold arenas, or files of GPU launches, in the folder; or whether one holds that file.
size_t living_in(const std::string &folder);
bool is_held(const std::string &file);

}  // namespace cairn::spool
