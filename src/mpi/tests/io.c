// MPI-IO: explicit offsets, individual and shared pointers, collective, split and nonblocking, views, and questions.
// Argument: a folder for its file.
#include "check.h"

enum { kWords = 8 };

#define expect(words, first) \
  for (int i = 0; i < kWords; ++i) CHECK((words)[i] == (first) + i)

static void rewind_shared(MPI_File file) {
  MPI(MPI_Barrier(MPI_COMM_WORLD));  // ordered operations may return before the others have moved the pointer
  MPI(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  char path[512];
  snprintf(path, sizeof path, "%s/io.data", argc > 1 ? argv[1] : ".");
  MPI_File file;
  MPI_Status status;
  MPI_Request request;
  MPI_Offset offset = 0;
  int out[kWords];
  int in[kWords];
  int count = 0;
  for (int i = 0; i < kWords; ++i) out[i] = 100 * rank + i;
  const MPI_Offset mine = (MPI_Offset)rank * (MPI_Offset)sizeof out;
  const int bytes = (int)sizeof out;
  MPI_Info info;
  MPI(MPI_Info_create(&info));
  MPI(MPI_Info_set(info, "romio_cb_write", "disable"));
  MPI(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
  MPI(MPI_Info_free(&info));
  MPI(MPI_File_get_info(file, &info));
  MPI(MPI_File_set_info(file, info));
  MPI(MPI_Info_free(&info));
  int mode = 0;
  MPI(MPI_File_get_amode(file, &mode));
  CHECK(mode == (MPI_MODE_CREATE | MPI_MODE_RDWR));
  MPI_Group group;
  MPI(MPI_File_get_group(file, &group));
  MPI(MPI_Group_free(&group));
  MPI(MPI_File_set_size(file, 0));
  MPI(MPI_File_preallocate(file, (MPI_Offset)size * bytes));

  // Explicit offsets.
  MPI(MPI_File_write_at(file, mine, out, kWords, MPI_INT, &status));
  MPI(MPI_Get_count(&status, MPI_INT, &count));
  CHECK(count == kWords);
  MPI(MPI_File_sync(file));
  MPI(MPI_Barrier(MPI_COMM_WORLD));
  MPI(MPI_File_read_at(file, (MPI_Offset)right() * bytes, in, kWords, MPI_INT, MPI_STATUS_IGNORE));
  expect(in, 100 * right());
  MPI(MPI_Barrier(MPI_COMM_WORLD));
  MPI(MPI_File_write_at_all(file, mine, out, kWords, MPI_INT, &status));
  MPI(MPI_File_read_at_all(file, mine, in, kWords, MPI_INT, &status));
  expect(in, 100 * rank);
  MPI(MPI_File_iwrite_at(file, mine, out, kWords, MPI_INT, &request));
  MPI(MPI_Wait(&request, &status));
  MPI(MPI_File_iread_at(file, mine, in, kWords, MPI_INT, &request));
  MPI(MPI_Wait(&request, &status));
  expect(in, 100 * rank);
  MPI(MPI_File_iwrite_at_all(file, mine, out, kWords, MPI_INT, &request));
  MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
  MPI(MPI_File_iread_at_all(file, mine, in, kWords, MPI_INT, &request));
  MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
  MPI(MPI_File_write_at_all_begin(file, mine, out, kWords, MPI_INT));
  MPI(MPI_File_write_at_all_end(file, out, &status));
  MPI(MPI_File_read_at_all_begin(file, mine, in, kWords, MPI_INT));
  MPI(MPI_File_read_at_all_end(file, in, &status));
  expect(in, 100 * rank);

  // Individual pointers, through a view.
  MPI_Datatype words;
  MPI(MPI_Type_contiguous(kWords, MPI_INT, &words));
  MPI(MPI_Type_commit(&words));
  MPI(MPI_File_set_view(file, mine, MPI_INT, words, "native", MPI_INFO_NULL));
  MPI_Datatype etype;
  MPI_Datatype filetype;
  char representation[MPI_MAX_DATAREP_STRING];
  MPI(MPI_File_get_view(file, &offset, &etype, &filetype, representation));
  CHECK(offset == mine && strcmp(representation, "native") == 0);
  if (filetype != MPI_INT && filetype != etype) {
    int a = 0, b = 0, c = 0, combiner = 0;
    MPI(MPI_Type_get_envelope(filetype, &a, &b, &c, &combiner));
    if (combiner != MPI_COMBINER_NAMED) MPI(MPI_Type_free(&filetype));
  }
  MPI(MPI_File_seek(file, 0, MPI_SEEK_SET));
  MPI(MPI_File_write(file, out, kWords, MPI_INT, &status));
  MPI(MPI_File_get_position(file, &offset));
  CHECK(offset == kWords);
  MPI(MPI_File_get_byte_offset(file, 2, &offset));
  CHECK(offset == mine + 8);
  MPI(MPI_File_seek(file, -kWords, MPI_SEEK_CUR));
  MPI(MPI_File_read(file, in, kWords, MPI_INT, &status));
  expect(in, 100 * rank);
  MPI(MPI_File_seek(file, 0, MPI_SEEK_SET));
  MPI(MPI_File_write_all(file, out, kWords, MPI_INT, MPI_STATUS_IGNORE));
  MPI(MPI_File_seek(file, 0, MPI_SEEK_SET));
  MPI(MPI_File_read_all(file, in, kWords, MPI_INT, &status));
  expect(in, 100 * rank);
  MPI(MPI_File_seek(file, 0, MPI_SEEK_SET));
  MPI(MPI_File_iwrite(file, out, kWords, MPI_INT, &request));
  MPI(MPI_Wait(&request, &status));
  MPI(MPI_File_seek(file, 0, MPI_SEEK_SET));
  MPI(MPI_File_iread(file, in, kWords, MPI_INT, &request));
  MPI(MPI_Wait(&request, &status));
  MPI(MPI_File_seek(file, 0, MPI_SEEK_SET));
  MPI(MPI_File_iwrite_all(file, out, kWords, MPI_INT, &request));
  MPI(MPI_Wait(&request, &status));
  MPI(MPI_File_seek(file, 0, MPI_SEEK_SET));
  MPI(MPI_File_iread_all(file, in, kWords, MPI_INT, &request));
  MPI(MPI_Wait(&request, &status));
  expect(in, 100 * rank);
  MPI(MPI_File_seek(file, 0, MPI_SEEK_SET));
  MPI(MPI_File_write_all_begin(file, out, kWords, MPI_INT));
  MPI(MPI_File_write_all_end(file, out, &status));
  MPI(MPI_File_seek(file, 0, MPI_SEEK_SET));
  MPI(MPI_File_read_all_begin(file, in, kWords, MPI_INT));
  MPI(MPI_File_read_all_end(file, in, MPI_STATUS_IGNORE));
  expect(in, 100 * rank);
  MPI_Aint extent = 0;
  MPI(MPI_File_get_type_extent(file, words, &extent));
  CHECK(extent == bytes);

  // Shared pointer.
  MPI(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  rewind_shared(file);
  MPI(MPI_File_write_ordered(file, out, kWords, MPI_INT, &status));
  MPI(MPI_Barrier(MPI_COMM_WORLD));
  MPI(MPI_File_get_position_shared(file, &offset));
  MPI(MPI_Barrier(MPI_COMM_WORLD));
  CHECK(offset == (MPI_Offset)size * kWords);
  rewind_shared(file);
  MPI(MPI_File_read_ordered(file, in, kWords, MPI_INT, &status));
  expect(in, 100 * rank);
  rewind_shared(file);
  MPI(MPI_File_write_ordered_begin(file, out, kWords, MPI_INT));
  MPI(MPI_File_write_ordered_end(file, out, &status));
  rewind_shared(file);
  MPI(MPI_File_read_ordered_begin(file, in, kWords, MPI_INT));
  MPI(MPI_File_read_ordered_end(file, in, &status));
  expect(in, 100 * rank);
  rewind_shared(file);
  MPI(MPI_File_write_shared(file, out, kWords, MPI_INT, &status));
  MPI(MPI_Barrier(MPI_COMM_WORLD));
  rewind_shared(file);
  MPI(MPI_File_read_shared(file, in, kWords, MPI_INT, &status));
  CHECK(in[0] % 100 == 0);
  MPI(MPI_Barrier(MPI_COMM_WORLD));
  rewind_shared(file);
  MPI(MPI_File_iwrite_shared(file, out, kWords, MPI_INT, &request));
  MPI(MPI_Wait(&request, &status));
  MPI(MPI_Barrier(MPI_COMM_WORLD));
  rewind_shared(file);
  MPI(MPI_File_iread_shared(file, in, kWords, MPI_INT, &request));
  MPI(MPI_Wait(&request, &status));
  CHECK(in[0] % 100 == 0);
  MPI(MPI_Barrier(MPI_COMM_WORLD));

  MPI(MPI_File_get_size(file, &offset));
  CHECK(offset == (MPI_Offset)size * bytes);
  int atomic = 0;
  MPI(MPI_File_set_atomicity(file, 1));
  MPI(MPI_File_get_atomicity(file, &atomic));
  CHECK(atomic);
  // Beyond the end: a short read.
  MPI(MPI_File_read_at(file, (MPI_Offset)size * kWords - 3, in, kWords, MPI_INT, &status));
  MPI(MPI_Get_count(&status, MPI_INT, &count));
  CHECK(count == 3);
  MPI(MPI_File_close(&file));
  CHECK(file == MPI_FILE_NULL);
  MPI(MPI_Type_free(&words));
  MPI(MPI_Barrier(MPI_COMM_WORLD));
  CHECK(MPI_File_open(MPI_COMM_SELF, "/nowhere/at/all", MPI_MODE_RDONLY, MPI_INFO_NULL, &file) != MPI_SUCCESS);
  if (rank == 0) MPI(MPI_File_delete(path, MPI_INFO_NULL));
  // One that must not exist, which no MPI call removes.
  for (int i = 0; i < 2; ++i) {
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_EXCL, MPI_INFO_NULL, &file));
    MPI(MPI_File_close(&file));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) CHECK(remove(path) == 0);
  }
  return finish();
}
