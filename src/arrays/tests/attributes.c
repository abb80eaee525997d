// Attributes of every type, of the file and of variables: written, converted, replaced, copied between files, renamed
// and deleted, changed in place in data mode; read back by number and by name.
#include "check.h"

static void put_all(int file, int where) {
  const signed char bytes[3] = {-1, 0, 1};
  const short shorts[2] = {-300, 300};
  const int ints[4] = {1, -2, 3, -2000000000};
  const float floats[2] = {0.25F, -1e30F};
  const double doubles[3] = {1e-300, 2, 1e300};
  const unsigned long long big[2] = {1, 18446744073709551615ULL};
  const long long signed_big[1] = {-9223372036854775807LL};
  NC(ncmpi_put_att_text(file, where, "title", 11, "some titles"));
  NC(ncmpi_put_att_text(file, where, "empty", 0, ""));
  NC(ncmpi_put_att_schar(file, where, "bytes", NC_BYTE, 3, bytes));
  NC(ncmpi_put_att_short(file, where, "shorts", NC_SHORT, 2, shorts));
  NC(ncmpi_put_att_int(file, where, "ints", NC_INT, 4, ints));
  NC(ncmpi_put_att_float(file, where, "floats", NC_FLOAT, 2, floats));
  NC(ncmpi_put_att_double(file, where, "doubles", NC_DOUBLE, 3, doubles));
  NC(ncmpi_put_att_ulonglong(file, where, "big", NC_UINT64, 2, big));
  NC(ncmpi_put_att_longlong(file, where, "signed big", NC_INT64, 1, signed_big));
  NC(ncmpi_put_att_int(file, where, "converted", NC_DOUBLE, 4, ints));
}

static void check_all(int file, int where) {
  static const struct {
    const char *name;
    nc_type type;
    MPI_Offset length;
  } kWanted[] = {{"title", NC_CHAR, 11},     {"empty", NC_CHAR, 0}, {"bytes", NC_BYTE, 3},
                 {"shorts", NC_SHORT, 2},    {"ints", NC_INT, 4},   {"floats", NC_FLOAT, 2},
                 {"doubles", NC_DOUBLE, 3},  {"big", NC_UINT64, 2}, {"signed big", NC_INT64, 1},
                 {"converted", NC_DOUBLE, 4}};
  int count = -1;
  if (where == NC_GLOBAL) {
    NC(ncmpi_inq_natts(file, &count));
  } else {
    NC(ncmpi_inq_varnatts(file, where, &count));
  }
  SAME(count, 10, "attributes", where);
  for (int i = 0; i < 10; ++i) {
    char name[NC_MAX_NAME];
    nc_type type;
    MPI_Offset length;
    int number = -1;
    NC(ncmpi_inq_attname(file, where, i, name));
    CHECK(strcmp(name, kWanted[i].name) == 0);
    NC(ncmpi_inq_att(file, where, name, &type, &length));
    SAME(type, kWanted[i].type, name, 0);
    SAME(length, kWanted[i].length, name, 1);
    NC(ncmpi_inq_attid(file, where, name, &number));
    SAME(number, i, name, 2);
  }
  char text[16];
  double doubles[4];
  short shorts[2];
  unsigned long long big[2];
  NC(ncmpi_get_att_text(file, where, "title", text));
  CHECK(memcmp(text, "some titles", 11) == 0);
  NC(ncmpi_get_att_double(file, where, "converted", doubles));
  SAME(doubles[3], -2000000000, "converted", 3);
  NC(ncmpi_get_att_double(file, where, "bytes", doubles));
  SAME(doubles[0], -1, "bytes", 0);
  NC(ncmpi_get_att_double(file, where, "doubles", doubles));
  CHECK(doubles[0] == 1e-300 && doubles[2] == 1e300);
  NC(ncmpi_get_att_short(file, where, "shorts", shorts));
  SAME(shorts[0], -300, "shorts", 0);
  ENDS(ncmpi_get_att_short(file, where, "ints", (short[4]){0}), NC_ERANGE);
  ENDS(ncmpi_get_att_short(file, where, "title", shorts), NC_ECHAR);
  ENDS(ncmpi_get_att_short(file, where, "none such", shorts), NC_ENOTATT);
  NC(ncmpi_get_att_ulonglong(file, where, "big", big));
  CHECK(big[1] == 18446744073709551615ULL);
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  int file = create("attributes.nc", NC_64BIT_DATA);
  const int x = dimension(file, "x", 4 * size);
  int v = variable(file, "values", NC_INT, 1, &x), w = variable(file, "others", NC_INT, 1, &x);
  put_all(file, NC_GLOBAL);
  put_all(file, v);
  NC(ncmpi_put_att_text(file, w, "short lived", 4, "gone"));
  NC(ncmpi_put_att_text(file, w, "longer name", 8, "in place"));
  NC(ncmpi_enddef(file));
  const MPI_Offset begin = 4 * rank, count = 4;
  int values[4] = {4 * rank, 4 * rank + 1, 4 * rank + 2, 4 * rank + 3};
  NC(ncmpi_put_vara_int_all(file, v, &begin, &count, values));
  check_all(file, NC_GLOBAL);
  check_all(file, v);
  // In data mode an attribute may be replaced by one that is no longer.
  NC(ncmpi_put_att_text(file, w, "longer name", 5, "place"));
  NC(ncmpi_rename_att(file, w, "longer name", "name"));
  ENDS(ncmpi_put_att_text(file, w, "new", 3, "one"), NC_ENOTINDEFINE);
  close_and_tell(file, "created");

  file = reopen("attributes.nc", NC_WRITE);
  NC(ncmpi_inq_varid(file, "values", &v));
  NC(ncmpi_inq_varid(file, "others", &w));
  check_all(file, NC_GLOBAL);
  check_all(file, v);
  char text[16];
  MPI_Offset length = -1;
  NC(ncmpi_inq_attlen(file, w, "name", &length));
  SAME(length, 5, "name", 0);
  NC(ncmpi_get_att_text(file, w, "name", text));
  CHECK(memcmp(text, "place", 5) == 0);
  NC(ncmpi_redef(file));
  NC(ncmpi_del_att(file, w, "short lived"));
  NC(ncmpi_put_att_text(file, w, "name", 12, "longer again"));
  NC(ncmpi_enddef(file));
  ENDS(ncmpi_get_att_text(file, w, "short lived", text), NC_ENOTATT);
  int copy = create("attributes_copy.nc", NC_64BIT_DATA), n = -1;
  const int y = dimension(copy, "y", 1);
  const int z = variable(copy, "copied", NC_INT, 1, &y);
  NC(ncmpi_inq_varnatts(file, v, &n));
  for (int i = 0; i < n; ++i) {
    char name[NC_MAX_NAME];
    NC(ncmpi_inq_attname(file, v, i, name));
    NC(ncmpi_copy_att(file, v, name, copy, z));
  }
  NC(ncmpi_enddef(copy));
  const int one = 1;
  NC(ncmpi_put_var_int_all(copy, z, &one));
  check_all(copy, z);
  NC(ncmpi_get_vara_int_all(file, v, &begin, &count, values));
  for (int i = 0; i < 4; ++i) SAME(values[i], 4 * rank + i, "values", i);
  close_and_tell(copy, "copy");
  close_and_tell(file, "changed");
  return finish();
}
