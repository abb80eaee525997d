// Every rank writes its block of every step into one file, at an offset that grows, and reads it back at the end.
//
//   file_output [STEPS [FILE]] [collective]
//
// The file is deleted at the end. collective: MPI_File_write_at_all instead of MPI_File_write_at.
#include "pattern.h"

enum { kBlock = 256 };

int main(int argc, char **argv) {
  start(&argc, &argv);
  const long steps = number(argc, argv, 1, 20);
  const char *name = argc > 2 && strcmp(argv[2], "collective") != 0 ? argv[2] : "file_output.data";
  const int collective = said(argc, argv, "collective");
  int block[kBlock];
  MPI_File file;
  MPI(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                    &file));
  for (long i = 0; i < steps; ++i) {
    const MPI_Offset at = (MPI_Offset)sizeof block * (i * size + rank);
    for (int k = 0; k < kBlock; ++k) block[k] = (int)(rank * 10000 + i * 100 + k % 100);
    if (collective)
      MPI(MPI_File_write_at_all(file, at, block, kBlock, MPI_INT, MPI_STATUS_IGNORE));
    else
      MPI(MPI_File_write_at(file, at, block, kBlock, MPI_INT, MPI_STATUS_IGNORE));
  }
  MPI(MPI_File_sync(file));
  MPI(MPI_Barrier(MPI_COMM_WORLD));
  MPI(MPI_File_sync(file));
  for (long i = 0; i < steps; ++i) {  // what the next rank wrote
    const MPI_Offset at = (MPI_Offset)sizeof block * (i * size + right());
    MPI(MPI_File_read_at(file, at, block, kBlock, MPI_INT, MPI_STATUS_IGNORE));
    for (int k = 0; k < kBlock; ++k) CHECK(block[k] == (int)(right() * 10000 + i * 100 + k % 100));
  }
  MPI(MPI_File_close(&file));
  return done("file_output", steps);
}
