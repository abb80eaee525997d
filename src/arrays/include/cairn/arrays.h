/* Compressed arrays under PnetCDF: what a program may say about them. Nothing has to be said: hints and environment
 * variables do the same for programs that are not changed (docs/arrays.md).
 *
 * Link with -lcairn-arrays before -lpnetcdf, or preload it. All functions give PnetCDF's error codes. Those with an
 * ncid are collective over the file's communicator and are called between ncmpi_create or ncmpi_open and the first
 * write of the variable. C and C++.
 *
 * Source: Bicer, Yin, Agrawal, "Improving I/O Throughput of Scientific Applications using Transparent Parallel
 * Compression", Table I. There a variable is named without its file, and a system's parameters follow as further
 * arguments; here the file is named, and the parameters stand in cairn_arrays_args. */
#ifndef CAIRN_ARRAYS_H
#define CAIRN_ARRAYS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a user's codec is given besides the values. */
typedef struct {
  void *user_args; /* the program's own; not looked at */
  size_t user_args_size;
  size_t split_size; /* bytes of values in a block at most; 0: as the file has it */
  const char *name;  /* stands in the file, so that a reader knows what it lacks; NULL: "user" */
} cairn_arrays_args;

/* Codes `in_size` bytes into `out`, where there is room for `out_size`. Gives how many bytes it wrote; 0 if it cannot
 * (the values are then stored as they are). When decoding, `out_size` is exactly what was coded, and has to be given
 * back. Values are little-endian elements of the variable's type, row by row. Called by one thread at a time. */
typedef size_t (*cairn_arrays_code_f)(void *in, size_t in_size, void *out, size_t out_size, cairn_arrays_args *args);

/* Codes a variable with functions of the program's own (Table I: ncmpi_comp_reg). With both functions NULL, and a name
 * of one of Cairn's codecs in `args`, with that. `args` is copied; what user_args points to is not. A reader of the
 * file calls it, too, for user functions only. */
int ncmpi_comp_reg(int ncid, int varid, cairn_arrays_code_f compress, cairn_arrays_code_f decompress,
                   const cairn_arrays_args *args);

/* Fortran: codes a variable with one of Cairn's codecs, `split` bytes of values in a block (0: as the file has it).
 *     integer nfmpi_comp_codec
 *     code = nfmpi_comp_codec(ncid, varid, 'zfp-lossy:0.001', 0_8)
 * Variables are counted from 1. Functions of the program's own are registered through ISO_C_BINDING. */
int nfmpi_comp_codec_(const int *ncid, const int *varid, const char *name, const long long *split, size_t length);

#ifdef __cplusplus
}
#endif
#endif
