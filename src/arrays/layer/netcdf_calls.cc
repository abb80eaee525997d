// PnetCDF's functions that open and close files or change between their modes: around them, what the layer has to do
// collectively. Everything else is PnetCDF's own, on the virtual file. The Fortran interfaces call these.
//
// These are PnetCDF's public functions: nothing of its inside is known here.
#include <mpi.h>
#include <pnetcdf.h>

#include <cstdio>
#include <string>

#include "arrays/file/stored_file.h"
#include "arrays/file/writer_lock.h"
#include "arrays/layer/load.h"
#include "arrays/layer/next.h"
#include "arrays/layer/open_files.h"
#include "cairn/arrays.h"

namespace {

using cairn::Result;
using cairn::arrays::FileOptions;
using cairn::arrays::Found;
using cairn::arrays::load;
using cairn::arrays::OpenFiles;
using cairn::arrays::Opening;
using cairn::arrays::plain_path;
using cairn::arrays::rank_in;
using cairn::arrays::read_options;
using cairn::arrays::say;
using cairn::arrays::StoredFile;
using cairn::arrays::VirtualFile;
using cairn::arrays::WriterLock;

/// Lets PnetCDF open the file that `opening` describes.
template <typename F>
int open_virtual(Opening *opening, int *ncid, F open) {
  OpenFiles::expect(opening);
  const int error = open();
  OpenFiles::expect(nullptr);
  if (opening->file) opening->file->set_opening(false);
  if (error != NC_NOERR) return error;
  if (!opening->file) {
    say(opening->path,
        "MPI_File_open did not come here, so that nothing can be compressed: another preloaded library stands in front "
        "('cairn record -- cairn arrays run -- ...' is the right order), or this PnetCDF opens files in a way of its "
        "own");
    CAIRN_NEXT(ncmpi_abort)(*ncid);
    return NC_ENOTSUPPORT;
  }
  OpenFiles::instance().name(*ncid, opening->file, opening->path);
  return NC_NOERR;
}

/// Brings all ranks to one state before or after a change of mode.
int settled(VirtualFile *file, int error) {
  if (file == nullptr || error != NC_NOERR) return error;
  return file->settle(false) == MPI_SUCCESS ? NC_NOERR : NC_EFILE;
}

template <typename F>
int end_define(int ncid, F end) {
  const int error = end();
  const std::shared_ptr<VirtualFile> file = OpenFiles::instance().find(ncid);
  if (!file || error != NC_NOERR) return error;
  file->set_defining(false);
  return file->publish(false) == MPI_SUCCESS ? NC_NOERR : NC_EWRITE;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int ncmpi_create(MPI_Comm comm, const char *path, int mode, MPI_Info info, int *ncid) {
  const auto create = [&] { return CAIRN_NEXT(ncmpi_create)(comm, path, mode, info, ncid); };
  if (path == nullptr || *path == '\0') return create();
  const Result<FileOptions> options = read_options(info);
  if (!options) {
    if (rank_in(comm) == 0) say(path, options.error());
    return NC_EINVAL;
  }
  uint64_t refused = 0;
  if (rank_in(comm) == 0 && (mode & NC_NOCLOBBER) == 0) {
    // Before anything of that file is gone. PnetCDF's own file takes the lock as soon as it is there.
    refused = WriterLock(plain_path(path)).state() == WriterLock::State::refused ? 1 : 0;
    if (refused != 0) say(path, cairn::arrays::kRefused);
  }
  MPI_Bcast(&refused, 1, MPI_UINT64_T, 0, comm);
  if (refused != 0) return NC_EACCESS;
  if (options->codecs.off) return create();
  Opening opening{path, *options, std::nullopt, {}, 0, false, nullptr, {}};
  return open_virtual(&opening, ncid, create);
}

int ncmpi_open(MPI_Comm comm, const char *path, int mode, MPI_Info info, int *ncid) {
  const auto open = [&] { return CAIRN_NEXT(ncmpi_open)(comm, path, mode, info, ncid); };
  if (path == nullptr || *path == '\0') return open();
  const Result<FileOptions> options = read_options(info);
  if (!options) {
    if (rank_in(comm) == 0) say(path, options.error());
    return NC_EINVAL;
  }
  Opening opening{path, *options, std::nullopt, {}, 0, false, nullptr, {}};
  switch (load(comm, path, (mode & NC_WRITE) != 0, &opening)) {
    case Found::damaged:
      return NC_ENOTNC;
    case Found::refused:
      return NC_EACCESS;
    case Found::compressed:
      return open_virtual(&opening, ncid, open);
    case Found::plain:
      break;
  }
  OpenFiles::expect_plain(path);
  const int error = open();
  OpenFiles::expect_plain(nullptr);
  if (error == NC_NOERR && (mode & NC_WRITE) != 0 && !options->codecs.off && rank_in(comm) == 0) {
    say(path, "it was written without compression and stays so ('cairn arrays import' makes a compressed one of it)");
  }
  return error;
}

int ncmpi_inq_file_format(const char *path, int *format) {
  const int error = CAIRN_NEXT(ncmpi_inq_file_format)(path, format);
  if (error != NC_NOERR || format == nullptr || *format != NC_FORMAT_CDF5) return error;
  int version = 0;
  if (const Opening *opening = OpenFiles::expected(path)) {
    if (opening->index) version = opening->index->header[3];
  } else if (const Result<StoredFile> stored = StoredFile::open(plain_path(path), StoredFile::Take::as_needed)) {
    version = stored->header().version;
  }
  if (version == 1) *format = NC_FORMAT_CLASSIC;
  if (version == 2) *format = NC_FORMAT_CDF2;
  return NC_NOERR;
}

int ncmpi_enddef(int ncid) {
  return end_define(ncid, [&] { return CAIRN_NEXT(ncmpi_enddef)(ncid); });
}

int ncmpi__enddef(int ncid, MPI_Offset h_minfree, MPI_Offset v_align, MPI_Offset v_minfree, MPI_Offset r_align) {
  return end_define(ncid, [&] { return CAIRN_NEXT(ncmpi__enddef)(ncid, h_minfree, v_align, v_minfree, r_align); });
}

int ncmpi_redef(int ncid) {
  const int error = CAIRN_NEXT(ncmpi_redef)(ncid);
  const std::shared_ptr<VirtualFile> file = OpenFiles::instance().find(ncid);
  if (file && error == NC_NOERR) file->set_defining(true);
  return settled(file.get(), error);
}

int ncmpi_begin_indep_data(int ncid) {
  std::string path;
  const std::shared_ptr<VirtualFile> file = OpenFiles::instance().find(ncid, &path);
  if (!file) return CAIRN_NEXT(ncmpi_begin_indep_data)(ncid);
  Opening again{path, {}, std::nullopt, {}, 0, false, file, {}};
  OpenFiles::expect(&again);
  const int error = CAIRN_NEXT(ncmpi_begin_indep_data)(ncid);
  OpenFiles::expect(nullptr);
  if (error == NC_NOERR) file->set_independent(true);
  return settled(file.get(), error);
}

int ncmpi_end_indep_data(int ncid) {
  const int error = CAIRN_NEXT(ncmpi_end_indep_data)(ncid);
  const std::shared_ptr<VirtualFile> file = OpenFiles::instance().find(ncid);
  if (file && error == NC_NOERR) file->set_independent(false);
  return settled(file.get(), error);
}

int ncmpi_close(int ncid) {
  const int error = CAIRN_NEXT(ncmpi_close)(ncid);
  OpenFiles::instance().forget(ncid);
  return error;
}

int ncmpi_abort(int ncid) {
  const int error = CAIRN_NEXT(ncmpi_abort)(ncid);
  OpenFiles::instance().forget(ncid);
  return error;
}

int ncmpi_comp_reg(int ncid, int varid, cairn_arrays_code_f compress, cairn_arrays_code_f decompress,
                   const cairn_arrays_args *args) {
  int variables = 0;
  if (const int error = ncmpi_inq_nvars(ncid, &variables); error != NC_NOERR) return error;
  if (varid < 0 || varid >= variables) return NC_ENOTVAR;
  std::string path;
  const std::shared_ptr<VirtualFile> file = OpenFiles::instance().find(ncid, &path);
  if (!file) return NC_ENOTSUPPORT;  // it was written without compression
  const uint64_t split = args == nullptr ? 0 : args->split_size / 8 * 8;
  const char *name = args == nullptr || args->name == nullptr ? "user" : args->name;
  if (compress == nullptr && decompress == nullptr) {
    const Result<cairn::codec::ArrayCodecChoice> choice = cairn::codec::parse_array_codec(name);
    if (!choice) {
      say(path, choice.error());
      return NC_EINVAL;
    }
    file->set_coding(varid, *choice, split);
    return NC_NOERR;
  }
  if (decompress == nullptr || (compress == nullptr && file->writable())) return NC_EINVAL;
  cairn::arrays::UserCodec codec;
  codec.name = name;
  codec.compress = compress;
  codec.decompress = decompress;
  if (args != nullptr) codec.args = *args;
  file->set_user_codec(varid, std::move(codec), split);
  return NC_NOERR;
}

int nfmpi_comp_codec_(const int *ncid, const int *varid, const char *name, const long long *split, size_t length) {
  std::string words(name, length);
  words.erase(words.find_last_not_of(' ') + 1);  // Fortran pads with blanks
  cairn_arrays_args args{};
  args.split_size = *split > 0 ? static_cast<size_t>(*split) : 0;
  args.name = words.c_str();
  return ncmpi_comp_reg(*ncid, *varid - 1, nullptr, nullptr, &args);
}

}  // extern "C"
#pragma GCC visibility pop
