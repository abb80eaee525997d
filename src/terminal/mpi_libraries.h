// The MPI libraries of this machine, as far as they lie where the loader looks.
#pragma once

#include <string>
#include <vector>

namespace cairn::cli {

struct MpiLibrary {
  std::string soname;
  std::string path;
};

std::vector<MpiLibrary> find_mpi_libraries();

/// The folders that a list with colons between them names, as in PATH.
std::vector<std::string> folders_in(const std::string &list);

/// The loader's own folders and those of /etc/ld.so.conf.
const std::vector<std::string> &loader_folders();

}  // namespace cairn::cli
