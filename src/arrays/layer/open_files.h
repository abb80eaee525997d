// OpenFiles: which MPI_File handles and which ncids are virtual files, in this process.
//
// PnetCDF opens a file within ncmpi_create or ncmpi_open, and once more, by one process, when independent mode begins.
// `Opening` says meanwhile that the next MPI_File_open of that path is such a one. A program's own MPI_File calls are
// none of ours. Thread-safe; a virtual file itself is not, as its ncid is not.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <string>

#include "arrays/layer/flatten.h"
#include "arrays/layer/virtual_file.h"

namespace cairn::arrays {

/// A handle that PnetCDF holds, and the view that it has set.
struct Handle {
  std::shared_ptr<VirtualFile> file;
  bool shared = false;  ///< by all ranks: its calls may be collective
  uint64_t displacement = 0;
  uint64_t etype = 1;        ///< bytes
  std::optional<Flat> view;  ///< nothing: every byte
  uint64_t position = 0;     ///< of the individual file pointer, in etypes
};

/// What a file is to be opened as.
struct Opening {
  std::string path;
  FileOptions options;
  std::optional<Index> index;         ///< of an existing compressed file
  IndexPlace place;                   ///< where that stands in the file
  uint64_t data_end = 0;              ///< where its header says that the compressed bytes end
  bool unlisted = false;              ///< the index has blocks that the one in the file has not
  std::shared_ptr<VirtualFile> file;  ///< the result; or the one that is opened once more
  WriterLock lock;                    ///< of rank 0, taken before the index was read
};

class OpenFiles {
 public:
  static OpenFiles &instance();

  /// For this thread, until told otherwise: nullptr ends it.
  static void expect(Opening *opening);
  static Opening *expected(const char *path);
  /// A file that is known to be no compressed one, for this thread, until told otherwise.
  static void expect_plain(const char *path);
  static bool plain_expected(const char *path);

  void add(MPI_File handle, Handle opened);
  /// nullptr: not ours. Stays valid until `remove`.
  Handle *find(MPI_File handle);
  void remove(MPI_File handle);

  void name(int ncid, std::shared_ptr<VirtualFile> file, const std::string &path);
  std::shared_ptr<VirtualFile> find(int ncid, std::string *path = nullptr);
  void forget(int ncid);

 private:
  struct State;
  State *state();
};

}  // namespace cairn::arrays
