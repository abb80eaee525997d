// MPI's file functions, as libpnetcdf calls them: those of virtual files end here, all others in MPI.
//
// Each is the definition that the program's libraries find first. A handle that is not ours is passed on untouched.
#include <mpi.h>

#include <algorithm>
#include <cstdio>

#include "arrays/layer/load.h"
#include "arrays/layer/next.h"
#include "arrays/layer/open_files.h"

namespace {

using cairn::Bytes;
using cairn::arrays::flatten;
using cairn::arrays::Found;
using cairn::arrays::Handle;
using cairn::arrays::load;
using cairn::arrays::OpenFiles;
using cairn::arrays::Opening;
using cairn::arrays::rank_in;
using cairn::arrays::read_options;
using cairn::arrays::Regions;
using cairn::arrays::say;
using cairn::arrays::tile;
using cairn::arrays::VirtualFile;

Handle *ours(MPI_File handle) { return OpenFiles::instance().find(handle); }

/// The bytes of the virtual file that a call at `offset` (in etypes of the view) is about.
std::optional<Regions> request_at(const Handle &handle, MPI_Offset offset, uint64_t bytes) {
  const uint64_t first = static_cast<uint64_t>(offset) * handle.etype;
  if (handle.view) return tile(*handle.view, handle.displacement, first, bytes);
  cairn::arrays::Region all;
  all.offset = handle.displacement + first;
  all.run = bytes;
  Regions regions;
  if (bytes > 0) regions.push_back(all);
  return regions;
}

/// True if `count` of a type are the bytes at the buffer's address, one after the other.
bool contiguous(MPI_Datatype type, int count) {
  if (type == MPI_BYTE || count == 0) return true;
  int integers = 0;
  int addresses = 0;
  int types = 0;
  int combiner = MPI_COMBINER_DUP;
  MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  int size = 0;
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  MPI_Type_size(type, &size);
  MPI_Type_get_extent(type, &lower, &extent);
  return combiner == MPI_COMBINER_NAMED && size == extent;
}

uint64_t bytes_in(int count, MPI_Datatype type) {
  int size = 0;
  if (count > 0) MPI_Type_size(type, &size);
  return static_cast<uint64_t>(count) * static_cast<uint64_t>(size);
}

void tell(MPI_Status *status, uint64_t bytes) {
  if (status != MPI_STATUS_IGNORE) MPI_Status_set_elements(status, MPI_BYTE, static_cast<int>(bytes));
}

int refused() {
  fputs(
      "cairn arrays: a file view of PnetCDF cannot be told as regions of bytes (MPI_Type_create_darray, or not in file "
      "order)\n",
      stderr);
  return MPI_ERR_TYPE;
}

/// Reads into the buffer, or writes what it holds.
int move(bool reads, Handle *handle, MPI_File file, MPI_Offset offset, void *buffer, int count, MPI_Datatype type,
         bool collective, MPI_Status *status) {
  const uint64_t bytes = bytes_in(count, type);
  std::optional<Regions> request = request_at(*handle, offset, bytes);
  int error = MPI_SUCCESS;
  if (!request) {
    error = refused();
    if (!collective) return error;
    request = Regions{};  // the others wait for this rank
  }
  Bytes packed;
  auto *data = static_cast<uint8_t *>(buffer);
  const bool plain = contiguous(type, count);
  if (!plain) {
    // Also to read: what lies behind the end of the file stays as it is in the buffer.
    packed.resize(bytes);
    int position = 0;
    MPI_Pack(buffer, count, type, packed.data(), static_cast<int>(bytes), &position, MPI_COMM_SELF);
    data = packed.data();
  }
  collective = collective && handle->shared;
  uint64_t done = reads ? 0 : bytes;
  if (collective || !request->empty()) {
    const int moved = reads ? handle->file->read({file, collective}, *request, data, &done)
                            : handle->file->write({file, collective}, *request, data);
    if (error == MPI_SUCCESS) error = moved;
  }
  if (reads && !plain && error == MPI_SUCCESS) {
    int position = 0;
    MPI_Unpack(packed.data(), static_cast<int>(bytes), &position, buffer, count, type, MPI_COMM_SELF);
  }
  tell(status, error == MPI_SUCCESS ? done : 0);
  return error;
}

int write(Handle *handle, MPI_File file, MPI_Offset offset, const void *buffer, int count, MPI_Datatype type,
          bool collective, MPI_Status *status) {
  return move(false, handle, file, offset, const_cast<void *>(buffer), count, type, collective, status);
}

int read(Handle *handle, MPI_File file, MPI_Offset offset, void *buffer, int count, MPI_Datatype type, bool collective,
         MPI_Status *status) {
  return move(true, handle, file, offset, buffer, count, type, collective, status);
}

/// Moves the individual file pointer behind what was asked for.
MPI_Offset advance(Handle *handle, int count, MPI_Datatype type) {
  const auto at = static_cast<MPI_Offset>(handle->position);
  handle->position += bytes_in(count, type) / handle->etype;
  return at;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int MPI_File_open(MPI_Comm comm, const char *path, int mode, MPI_Info info, MPI_File *file) {
  Opening *opening = OpenFiles::expected(path);
  // A program with a static PnetCDF, whose functions are not ours: a compressed file is known by its mark.
  Opening marked{path == nullptr ? "" : path, {}, std::nullopt, {}, 0, false, nullptr, {}};
  const bool by_mark =
      opening == nullptr && path != nullptr && (mode & MPI_MODE_CREATE) == 0 && !OpenFiles::plain_expected(path);
  if (by_mark) {
    if (const auto options = read_options(info)) marked.options = *options;
    const Found found = load(comm, path, (mode & MPI_MODE_RDONLY) == 0, &marked);
    if (found == Found::damaged) return MPI_ERR_IO;
    if (found == Found::refused) return MPI_ERR_ACCESS;
    if (found == Found::compressed && (mode & MPI_MODE_APPEND) != 0) {
      if (rank_in(comm) == 0) say(path, "it is compressed, and no bytes can be put behind it");
      return MPI_ERR_UNSUPPORTED_OPERATION;
    }
    if (found == Found::compressed) opening = &marked;
  }
  const int error = CAIRN_NEXT(MPI_File_open)(comm, path, mode, info, file);
  if (opening == nullptr || error != MPI_SUCCESS) return error;
  Handle handle;
  handle.shared = opening->file == nullptr;
  if (handle.shared) {
    std::optional<cairn::arrays::WriterLock> lock;
    if (opening->index) lock = std::move(opening->lock);
    cairn::arrays::Index index = opening->index ? std::move(*opening->index) : cairn::arrays::Index{};
    opening->file = std::make_shared<VirtualFile>(comm, *file, opening->path, opening->options, std::move(index),
                                                  opening->place, (mode & MPI_MODE_RDONLY) == 0);
    opening->file->set_opening(!by_mark);
    opening->file->set_independent(by_mark);  // its changes of mode are not seen
    const int failed = opening->file->begin_session(opening->data_end, opening->unlisted, std::move(lock));
    if (failed != MPI_SUCCESS) {
      opening->file = nullptr;
      CAIRN_NEXT(MPI_File_close)(file);
      return failed;
    }
  }
  handle.file = opening->file;
  OpenFiles::instance().add(*file, std::move(handle));
  return MPI_SUCCESS;
}

int MPI_File_close(MPI_File *file) {
  const Handle *handle = ours(*file);
  if (handle == nullptr) return CAIRN_NEXT(MPI_File_close)(file);
  int error = MPI_SUCCESS;
  std::shared_ptr<VirtualFile> session;
  if (handle->shared) session = handle->file;
  if (session) error = session->publish(true);
  OpenFiles::instance().remove(*file);
  const int closed = CAIRN_NEXT(MPI_File_close)(file);
  if (session) session->end_session();
  return error == MPI_SUCCESS ? closed : error;
}

int MPI_File_set_view(MPI_File file, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
                      const char *representation, MPI_Info info) {
  Handle *handle = ours(file);
  if (handle == nullptr)
    return CAIRN_NEXT(MPI_File_set_view)(file, displacement, etype, filetype, representation, info);
  handle->displacement = static_cast<uint64_t>(displacement);
  handle->etype = bytes_in(1, etype);
  handle->position = 0;
  handle->view.reset();
  if (filetype == MPI_BYTE) return MPI_SUCCESS;
  handle->view = flatten(filetype);
  if (handle->view) return MPI_SUCCESS;
  handle->view.emplace();  // nothing: whoever reads or writes by it is refused
  return refused();
}

int MPI_File_write_at(MPI_File file, MPI_Offset offset, const void *buffer, int count, MPI_Datatype type,
                      MPI_Status *status) {
  Handle *handle = ours(file);
  if (handle == nullptr) return CAIRN_NEXT(MPI_File_write_at)(file, offset, buffer, count, type, status);
  return write(handle, file, offset, buffer, count, type, false, status);
}

int MPI_File_write_at_all(MPI_File file, MPI_Offset offset, const void *buffer, int count, MPI_Datatype type,
                          MPI_Status *status) {
  Handle *handle = ours(file);
  if (handle == nullptr) return CAIRN_NEXT(MPI_File_write_at_all)(file, offset, buffer, count, type, status);
  return write(handle, file, offset, buffer, count, type, true, status);
}

int MPI_File_write(MPI_File file, const void *buffer, int count, MPI_Datatype type, MPI_Status *status) {
  Handle *handle = ours(file);
  if (handle == nullptr) return CAIRN_NEXT(MPI_File_write)(file, buffer, count, type, status);
  return write(handle, file, advance(handle, count, type), buffer, count, type, false, status);
}

int MPI_File_write_all(MPI_File file, const void *buffer, int count, MPI_Datatype type, MPI_Status *status) {
  Handle *handle = ours(file);
  if (handle == nullptr) return CAIRN_NEXT(MPI_File_write_all)(file, buffer, count, type, status);
  return write(handle, file, advance(handle, count, type), buffer, count, type, true, status);
}

int MPI_File_read_at(MPI_File file, MPI_Offset offset, void *buffer, int count, MPI_Datatype type, MPI_Status *status) {
  Handle *handle = ours(file);
  if (handle == nullptr) return CAIRN_NEXT(MPI_File_read_at)(file, offset, buffer, count, type, status);
  return read(handle, file, offset, buffer, count, type, false, status);
}

int MPI_File_read_at_all(MPI_File file, MPI_Offset offset, void *buffer, int count, MPI_Datatype type,
                         MPI_Status *status) {
  Handle *handle = ours(file);
  if (handle == nullptr) return CAIRN_NEXT(MPI_File_read_at_all)(file, offset, buffer, count, type, status);
  return read(handle, file, offset, buffer, count, type, true, status);
}

int MPI_File_read(MPI_File file, void *buffer, int count, MPI_Datatype type, MPI_Status *status) {
  Handle *handle = ours(file);
  if (handle == nullptr) return CAIRN_NEXT(MPI_File_read)(file, buffer, count, type, status);
  return read(handle, file, advance(handle, count, type), buffer, count, type, false, status);
}

int MPI_File_read_all(MPI_File file, void *buffer, int count, MPI_Datatype type, MPI_Status *status) {
  Handle *handle = ours(file);
  if (handle == nullptr) return CAIRN_NEXT(MPI_File_read_all)(file, buffer, count, type, status);
  return read(handle, file, advance(handle, count, type), buffer, count, type, true, status);
}

int MPI_File_seek(MPI_File file, MPI_Offset offset, int whence) {
  Handle *handle = ours(file);
  if (handle == nullptr) return CAIRN_NEXT(MPI_File_seek)(file, offset, whence);
  MPI_Offset from = 0;
  if (whence == MPI_SEEK_CUR) from = static_cast<MPI_Offset>(handle->position);
  if (whence == MPI_SEEK_END) {
    if (handle->view) return MPI_ERR_UNSUPPORTED_OPERATION;  // which etype of the view ends the file is not looked for
    const uint64_t end = handle->file->end();
    from = static_cast<MPI_Offset>((end - std::min(end, handle->displacement)) / handle->etype);
  }
  if (from + offset < 0) return MPI_ERR_ARG;
  handle->position = static_cast<uint64_t>(from + offset);
  return MPI_SUCCESS;
}

int MPI_File_get_position(MPI_File file, MPI_Offset *offset) {
  const Handle *handle = ours(file);
  if (handle == nullptr) return CAIRN_NEXT(MPI_File_get_position)(file, offset);
  *offset = static_cast<MPI_Offset>(handle->position);
  return MPI_SUCCESS;
}

int MPI_File_get_size(MPI_File file, MPI_Offset *size) {
  const Handle *handle = ours(file);
  if (handle == nullptr) return CAIRN_NEXT(MPI_File_get_size)(file, size);
  *size = static_cast<MPI_Offset>(handle->file->end());
  return MPI_SUCCESS;
}

int MPI_File_sync(MPI_File file) {
  const Handle *handle = ours(file);
  int error = MPI_SUCCESS;
  if (handle != nullptr && handle->shared) error = handle->file->publish(false);
  const int synced = CAIRN_NEXT(MPI_File_sync)(file);
  return error == MPI_SUCCESS ? synced : error;
}

}  // extern "C"
#pragma GCC visibility pop
