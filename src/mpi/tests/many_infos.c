// Thousands of info objects that live at one time, each with keys and values of its own: 204,005 calls, of which hardly
// two are alike.
#include "check.h"

enum { kInfos = 4000, kKeys = 24 };

int main(int argc, char **argv) {
  start(&argc, &argv);
  static MPI_Info infos[kInfos];
  char key[MPI_MAX_INFO_KEY], value[MPI_MAX_INFO_VAL];
  for (int i = 0; i < kInfos; ++i) {
    MPI(MPI_Info_create(&infos[i]));
    for (int k = 0; k < kKeys; ++k) {
      snprintf(key, sizeof key, "key%d-%d", i, k);
      snprintf(value, sizeof value, "value%d-%d", i, k);
      MPI(MPI_Info_set(infos[i], key, value));
    }
  }
  for (int i = 0; i < kInfos; ++i) {
    for (int k = 0; k < kKeys; ++k) {
      char got[MPI_MAX_INFO_VAL];
      int there = 0;
      snprintf(key, sizeof key, "key%d-%d", i, k);
      snprintf(value, sizeof value, "value%d-%d", i, k);
      MPI(MPI_Info_get(infos[i], key, sizeof got - 1, got, &there));
      CHECK(there && strcmp(got, value) == 0);
    }
    int keys = 0;
    MPI(MPI_Info_get_nkeys(infos[i], &keys));
    CHECK(keys == kKeys);
  }
  for (int i = 0; i < kInfos; ++i) MPI(MPI_Info_free(&infos[i]));
  return finish();
}
