// own_calls FILE PLAIN: a program that opens a compressed file by MPI-IO's own calls, as one with a static PnetCDF
// does, reads in each way that is known, and must find what PLAIN has; all other ways must be refused, and change
// nothing. own_calls names FILE: a file with an attribute of a name that Cairn's own have must be refused when it is
// defined.
#include "check.h"

static char *plain;
static MPI_Offset length;

static void read_plain(const char *path) {
  FILE *file = fopen(path, "rb");
  CHECK(file != NULL && fseek(file, 0, SEEK_END) == 0);
  length = ftell(file);
  plain = malloc((size_t)length);
  rewind(file);
  CHECK(fread(plain, 1, (size_t)length, file) == (size_t)length);
  fclose(file);
}

#define GIVES(call, from)                           \
  do {                                              \
    memset(got, 0, kSome);                          \
    CHECK((call) == MPI_SUCCESS);                   \
    CHECK(memcmp(got, plain + (from), kSome) == 0); \
  } while (0)
#define REFUSED(call)                                            \
  do {                                                           \
    request = MPI_REQUEST_NULL;                                  \
    CHECK((call) != MPI_SUCCESS && request == MPI_REQUEST_NULL); \
  } while (0)

enum { kSome = 200 };

static void read_and_refuse(const char *path) {
  MPI_File file;
  MPI_Offset at = 0;
  MPI_Request request;
  MPI_Status *none = MPI_STATUS_IGNORE;
  char got[kSome];
  CHECK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &file) == MPI_SUCCESS);
  CHECK(MPI_File_get_size(file, &at) == MPI_SUCCESS && at == length);
  GIVES(MPI_File_read_at(file, 40, got, kSome, MPI_BYTE, none), 40);
  GIVES(MPI_File_read(file, got, kSome, MPI_BYTE, none), 0);
  CHECK(MPI_File_get_position(file, &at) == MPI_SUCCESS && at == kSome);
  CHECK(MPI_File_seek(file, -100, MPI_SEEK_CUR) == MPI_SUCCESS);
  GIVES(MPI_File_read(file, got, kSome, MPI_BYTE, none), kSome - 100);
  CHECK(MPI_File_seek(file, -kSome, MPI_SEEK_END) == MPI_SUCCESS);
  GIVES(MPI_File_read_all(file, got, kSome, MPI_BYTE, none), length - kSome);
  REFUSED(MPI_File_iread_at(file, 0, got, kSome, MPI_BYTE, &request));
  REFUSED(MPI_File_iread_at_all(file, 0, got, kSome, MPI_BYTE, &request));
  REFUSED(MPI_File_iread(file, got, kSome, MPI_BYTE, &request));
  REFUSED(MPI_File_iread_shared(file, got, kSome, MPI_BYTE, &request));
  REFUSED(MPI_File_read_shared(file, got, kSome, MPI_BYTE, none));
  REFUSED(MPI_File_read_ordered(file, got, kSome, MPI_BYTE, none));
  REFUSED(MPI_File_read_at_all_begin(file, 0, got, kSome, MPI_BYTE));
  REFUSED(MPI_File_iwrite_at(file, 0, got, kSome, MPI_BYTE, &request));
  REFUSED(MPI_File_iwrite(file, got, kSome, MPI_BYTE, &request));
  REFUSED(MPI_File_write_shared(file, got, kSome, MPI_BYTE, none));
  REFUSED(MPI_File_write_ordered(file, got, kSome, MPI_BYTE, none));
  REFUSED(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  REFUSED(MPI_File_set_size(file, 0));
  REFUSED(MPI_File_preallocate(file, 2 * length));
  CHECK(MPI_File_close(&file) == MPI_SUCCESS);
  CHECK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_WRONLY | MPI_MODE_APPEND, MPI_INFO_NULL, &file) != MPI_SUCCESS);
  // What is no header never becomes one.
  CHECK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &file) == MPI_SUCCESS);
  memset(got, 'x', kSome);
  CHECK(MPI_File_write_at(file, 0, got, kSome, MPI_BYTE, none) == MPI_SUCCESS);
  CHECK(MPI_File_close(&file) != MPI_SUCCESS);
}

static void define_with_our_name(const char *path) {
  const int file = create(path, NC_64BIT_DATA);
  const int x = dimension(file, "x", 10);
  variable(file, "v", NC_INT, 1, &x);
  NC(ncmpi_put_att_text(file, NC_GLOBAL, "_Cairn_arrays", 5, "hello"));
  ENDS(ncmpi_enddef(file), NC_EWRITE);
  CHECK(ncmpi_close(file) != NC_NOERR);
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  CHECK(argc == 3);
  if (strcmp(argv[1], "names") == 0) {
    define_with_our_name(argv[2]);
  } else {
    read_plain(argv[2]);
    read_and_refuse(argv[1]);
    free(plain);
  }
  return finish();
}
