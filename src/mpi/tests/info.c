// Info objects.
#include "check.h"

int main(int argc, char **argv) {
  start(&argc, &argv);
  MPI_Info info;
  MPI_Info dup;
  int flag = 0;
  int keys = 0;
  int length = 0;
  char key[MPI_MAX_INFO_KEY + 1];
  char value[64];
  MPI(MPI_Info_create(&info));
  MPI(MPI_Info_set(info, "colour", "green"));
  MPI(MPI_Info_set(info, "shape", "r"));
  MPI(MPI_Info_set(info, "size", "a rather longer value, with spaces"));
  MPI(MPI_Info_get_nkeys(info, &keys));
  CHECK(keys >= 2);
  MPI(MPI_Info_get_nthkey(info, 0, key));
  CHECK(strlen(key) > 0);
  MPI(MPI_Info_get(info, "colour", sizeof value - 1, value, &flag));
  CHECK(flag && strcmp(value, "green") == 0);
  MPI(MPI_Info_get(info, "size", 40, value, &flag));
  CHECK(flag && strncmp(value, "a rather", 8) == 0);
  MPI(MPI_Info_get(info, "absent", sizeof value - 1, value, &flag));
  CHECK(!flag);
  MPI(MPI_Info_get_valuelen(info, "size", &length, &flag));
  CHECK(flag && length == 34);
  MPI(MPI_Info_get_valuelen(info, "absent", &length, &flag));
  CHECK(!flag);
#if MPI_VERSION >= 4
  length = sizeof value;
  MPI(MPI_Info_get_string(info, "colour", &length, value, &flag));
  CHECK(flag && length == 6);
  length = 0;
  value[0] = 'x';
  MPI(MPI_Info_get_string(info, "colour", &length, value, &flag));  // asks for the length only
  CHECK(value[0] == 'x');
  CHECK(flag && length == 6);
  length = 4;
  MPI(MPI_Info_get_string(info, "colour", &length, value, &flag));
  CHECK(flag && strcmp(value, "gre") == 0);
  MPI_Info env;
  MPI(MPI_Info_create_env(argc, argv, &env));
  MPI(MPI_Info_free(&env));
#endif
  MPI(MPI_Info_dup(info, &dup));
  MPI(MPI_Info_delete(info, "colour"));
  MPI(MPI_Info_get(dup, "colour", sizeof value - 1, value, &flag));
  CHECK(flag);
  MPI(MPI_Info_get(info, "colour", sizeof value - 1, value, &flag));
  CHECK(!flag);
  for (int i = 0; i < 3; ++i) {
    MPI_Info brief;
    MPI(MPI_Info_create(&brief));
    MPI(MPI_Info_free(&brief));
  }
  MPI(MPI_Info_free(&info));
  CHECK(info == MPI_INFO_NULL);
  MPI(MPI_Info_free(&dup));
  MPI(MPI_Info_get_nkeys(MPI_INFO_ENV, &keys));
  return finish();
}
