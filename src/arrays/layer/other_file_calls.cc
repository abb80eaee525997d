// MPI's file functions that PnetCDF does not call. A program may call them on a compressed file that it opened by
// itself: what would move the physical bytes is refused, since it would mix them with what the others give.
#include <mpi.h>

#include <cstdio>

#include "arrays/layer/next.h"
#include "arrays/layer/open_files.h"

namespace {

using cairn::arrays::OpenFiles;

bool is_ours(MPI_File handle) { return OpenFiles::instance().find(handle) != nullptr; }

int refuse(const char *name) {
  fprintf(stderr,
          "cairn arrays: %s on a compressed file: PnetCDF does not call it, and it would see the compressed bytes; "
          "'cairn arrays export' makes a plain file of it\n",
          name);
  return MPI_ERR_UNSUPPORTED_OPERATION;
}

void end(MPI_Request *request) { *request = MPI_REQUEST_NULL; }
void end(MPI_Status * /*status*/) {}

}  // namespace

#define CAIRN_REFUSED(NAME, PARAMETERS, ARGUMENTS) \
  int NAME PARAMETERS { return is_ours(file) ? refuse(#NAME) : CAIRN_NEXT(NAME) ARGUMENTS; }
#define CAIRN_REFUSED_AND_ENDED(NAME, PARAMETERS, ARGUMENTS) \
  int NAME PARAMETERS {                                      \
    if (!is_ours(file)) return CAIRN_NEXT(NAME) ARGUMENTS;   \
    end(state);                                              \
    return refuse(#NAME);                                    \
  }
#define CAIRN_REFUSED_TO_READ(NAME, STATE)                                                                 \
  CAIRN_REFUSED_AND_ENDED(NAME, (MPI_File file, void *buffer, int count, MPI_Datatype type, STATE *state), \
                          (file, buffer, count, type, state))
#define CAIRN_REFUSED_TO_WRITE(NAME, STATE)                                                                      \
  CAIRN_REFUSED_AND_ENDED(NAME, (MPI_File file, const void *buffer, int count, MPI_Datatype type, STATE *state), \
                          (file, buffer, count, type, state))
#define CAIRN_REFUSED_TO_READ_AT(NAME)                                                                      \
  CAIRN_REFUSED_AND_ENDED(                                                                                  \
      NAME, (MPI_File file, MPI_Offset at, void *buffer, int count, MPI_Datatype type, MPI_Request *state), \
      (file, at, buffer, count, type, state))
#define CAIRN_REFUSED_TO_WRITE_AT(NAME)                                                                           \
  CAIRN_REFUSED_AND_ENDED(                                                                                        \
      NAME, (MPI_File file, MPI_Offset at, const void *buffer, int count, MPI_Datatype type, MPI_Request *state), \
      (file, at, buffer, count, type, state))

#pragma GCC visibility push(default)
extern "C" {

CAIRN_REFUSED_TO_READ_AT(MPI_File_iread_at)
CAIRN_REFUSED_TO_READ_AT(MPI_File_iread_at_all)
CAIRN_REFUSED_TO_WRITE_AT(MPI_File_iwrite_at)
CAIRN_REFUSED_TO_WRITE_AT(MPI_File_iwrite_at_all)
CAIRN_REFUSED_TO_READ(MPI_File_iread, MPI_Request)
CAIRN_REFUSED_TO_READ(MPI_File_iread_all, MPI_Request)
CAIRN_REFUSED_TO_READ(MPI_File_iread_shared, MPI_Request)
CAIRN_REFUSED_TO_READ(MPI_File_read_shared, MPI_Status)
CAIRN_REFUSED_TO_READ(MPI_File_read_ordered, MPI_Status)
CAIRN_REFUSED_TO_WRITE(MPI_File_iwrite, MPI_Request)
CAIRN_REFUSED_TO_WRITE(MPI_File_iwrite_all, MPI_Request)
CAIRN_REFUSED_TO_WRITE(MPI_File_iwrite_shared, MPI_Request)
CAIRN_REFUSED_TO_WRITE(MPI_File_write_shared, MPI_Status)
CAIRN_REFUSED_TO_WRITE(MPI_File_write_ordered, MPI_Status)
CAIRN_REFUSED(MPI_File_read_at_all_begin, (MPI_File file, MPI_Offset at, void *buffer, int count, MPI_Datatype type),
              (file, at, buffer, count, type))
CAIRN_REFUSED(MPI_File_write_at_all_begin,
              (MPI_File file, MPI_Offset at, const void *buffer, int count, MPI_Datatype type),
              (file, at, buffer, count, type))
CAIRN_REFUSED(MPI_File_read_all_begin, (MPI_File file, void *buffer, int count, MPI_Datatype type),
              (file, buffer, count, type))
CAIRN_REFUSED(MPI_File_read_ordered_begin, (MPI_File file, void *buffer, int count, MPI_Datatype type),
              (file, buffer, count, type))
CAIRN_REFUSED(MPI_File_write_all_begin, (MPI_File file, const void *buffer, int count, MPI_Datatype type),
              (file, buffer, count, type))
CAIRN_REFUSED(MPI_File_write_ordered_begin, (MPI_File file, const void *buffer, int count, MPI_Datatype type),
              (file, buffer, count, type))
CAIRN_REFUSED(MPI_File_read_at_all_end, (MPI_File file, void *buffer, MPI_Status *status), (file, buffer, status))
CAIRN_REFUSED(MPI_File_read_all_end, (MPI_File file, void *buffer, MPI_Status *status), (file, buffer, status))
CAIRN_REFUSED(MPI_File_read_ordered_end, (MPI_File file, void *buffer, MPI_Status *status), (file, buffer, status))
CAIRN_REFUSED(MPI_File_write_at_all_end, (MPI_File file, const void *buffer, MPI_Status *status),
              (file, buffer, status))
CAIRN_REFUSED(MPI_File_write_all_end, (MPI_File file, const void *buffer, MPI_Status *status), (file, buffer, status))
CAIRN_REFUSED(MPI_File_write_ordered_end, (MPI_File file, const void *buffer, MPI_Status *status),
              (file, buffer, status))
CAIRN_REFUSED(MPI_File_seek_shared, (MPI_File file, MPI_Offset offset, int whence), (file, offset, whence))
CAIRN_REFUSED(MPI_File_get_position_shared, (MPI_File file, MPI_Offset *offset), (file, offset))
CAIRN_REFUSED(MPI_File_set_size, (MPI_File file, MPI_Offset size), (file, size))
CAIRN_REFUSED(MPI_File_preallocate, (MPI_File file, MPI_Offset size), (file, size))

}  // extern "C"
#pragma GCC visibility pop
