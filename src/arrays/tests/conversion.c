// Values of one type in variables of another: converted exactly where they fit, NC_ERANGE where one does not, and the
// others of that call are written or read all the same. Text and numbers don't mix.
#include "check.h"

enum { kEach = 6 };

static int v_byte, v_short, v_int, v_float, v_double, v_ubyte, v_int64, v_text;
static MPI_Offset first, count = kEach;

static void in_range(int file) {
  const double doubles[kEach] = {-100, 0, 1, 2.75, 100, 127};
  double got[kEach];
  const int ids[] = {v_byte, v_short, v_int, v_int64};
  for (int k = 0; k < 4; ++k) {
    NC(ncmpi_put_vara_double_all(file, ids[k], &first, &count, doubles));
    NC(ncmpi_get_vara_double_all(file, ids[k], &first, &count, got));
    for (int i = 0; i < kEach; ++i) SAME(got[i], (int)doubles[i], "integers from doubles", i);
  }
  const long long big[kEach] = {1LL << 52, -(1LL << 52), 3, 4, 5, -6};
  long long back[kEach];
  NC(ncmpi_put_vara_longlong_all(file, v_double, &first, &count, big));
  NC(ncmpi_get_vara_longlong_all(file, v_double, &first, &count, back));
  for (int i = 0; i < kEach; ++i) SAME(back[i], big[i], "doubles from integers", i);
  const unsigned char small[kEach] = {0, 1, 127, 128, 254, 255};
  unsigned short wide[kEach];
  NC(ncmpi_put_vara_uchar_all(file, v_ubyte, &first, &count, small));
  NC(ncmpi_get_vara_ushort_all(file, v_ubyte, &first, &count, wide));
  for (int i = 0; i < kEach; ++i) SAME(wide[i], small[i], "bytes as shorts", i);
}

static void out_of_range(int file) {
  const double doubles[kEach] = {1, 300, 2, -70000, 3, 4};
  double got[kEach];
  ENDS(ncmpi_put_vara_double_all(file, v_byte, &first, &count, doubles), NC_ERANGE);
  NC(ncmpi_get_vara_double_all(file, v_byte, &first, &count, got));
  for (int i = 0; i < kEach; ++i) {
    SAME(got[i], i == 1 || i == 3 ? NC_FILL_BYTE : doubles[i], "bytes out of range", i);
  }
  const double huge[kEach] = {1.5, 1e300, -2.5, 3, 4, 5};
  ENDS(ncmpi_put_vara_double_all(file, v_float, &first, &count, huge), NC_ERANGE);
  NC(ncmpi_get_vara_double_all(file, v_float, &first, &count, got));
  for (int i = 0; i < kEach; ++i) SAME(got[i], i == 1 ? (double)NC_FILL_FLOAT : huge[i], "floats out of range", i);
  // Read into a smaller type.
  const int ints[kEach] = {7, 70000, -7, 8, -70000, 9};
  short shorts[kEach];
  NC(ncmpi_put_vara_int_all(file, v_int, &first, &count, ints));
  ENDS(ncmpi_get_vara_short_all(file, v_int, &first, &count, shorts), NC_ERANGE);
  for (int i = 0; i < kEach; ++i) SAME(shorts[i], i == 1 || i == 4 ? NC_FILL_SHORT : ints[i], "shorts read", i);
  // One rank only: the others succeed.
  short fits[kEach] = {1, 2, 3, 4, 5, 6};
  if (rank == 0) fits[2] = 1000;
  ENDS(ncmpi_put_vara_short_all(file, v_byte, &first, &count, fits), rank == 0 ? NC_ERANGE : NC_NOERR);
  NC(ncmpi_get_vara_short_all(file, v_byte, &first, &count, shorts));
  for (int i = 0; i < kEach; ++i) SAME(shorts[i], rank == 0 && i == 2 ? NC_FILL_BYTE : i + 1, "of one rank", i);
  // Nonblocking: the request's status says it.
  int request, status = -1;
  ENDS(ncmpi_iput_vara_int(file, v_short, &first, &count, ints, &request), NC_ERANGE);
  NC(ncmpi_wait_all(file, 1, &request, &status));
  NC(ncmpi_get_vara_short_all(file, v_short, &first, &count, shorts));
  for (int i = 0; i < kEach; ++i) SAME(shorts[i], i == 1 || i == 4 ? NC_FILL_SHORT : ints[i], "nonblocking", i);
}

static void text(int file) {
  const int ints[kEach] = {0};
  const char *letters = "letter";
  char got[kEach];
  ENDS(ncmpi_put_vara_int_all(file, v_text, &first, &count, ints), NC_ECHAR);
  ENDS(ncmpi_put_vara_text_all(file, v_int, &first, &count, letters), NC_ECHAR);
  NC(ncmpi_put_vara_text_all(file, v_text, &first, &count, letters));
  NC(ncmpi_get_vara_text_all(file, v_text, &first, &count, got));
  CHECK(memcmp(got, letters, kEach) == 0);
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  int file = create("conversion.nc", NC_64BIT_DATA);
  const int x = dimension(file, "x", kEach * size);
  first = rank * kEach;
  v_byte = variable(file, "byte", NC_BYTE, 1, &x);
  v_short = variable(file, "short", NC_SHORT, 1, &x);
  v_int = variable(file, "int", NC_INT, 1, &x);
  v_float = variable(file, "float", NC_FLOAT, 1, &x);
  v_double = variable(file, "double", NC_DOUBLE, 1, &x);
  v_ubyte = variable(file, "ubyte", NC_UBYTE, 1, &x);
  v_int64 = variable(file, "int64", NC_INT64, 1, &x);
  v_text = variable(file, "text", NC_CHAR, 1, &x);
  NC(ncmpi_enddef(file));
  in_range(file);
  out_of_range(file);
  text(file);
  close_and_tell(file, "created");
  return finish();
}
