// Attributes on communicators, datatypes and windows, with callbacks that call MPI, and the predefined ones.
#include "check.h"

static int copied = 0;
static int deleted = 0;
static int state = 17;

static int copy_comm(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag) {
  int members = 0;
  (void)keyval;
  CHECK(extra == &state);
  MPI(MPI_Comm_size(comm, &members));
  ++copied;
  *(void **)out = in;
  *flag = members > 0;
  return MPI_SUCCESS;
}

static int delete_comm(MPI_Comm comm, int keyval, void *value, void *extra) {
  int mine = 0;
  (void)keyval;
  (void)value;
  CHECK(extra == &state);
  if (comm != MPI_COMM_SELF) MPI(MPI_Comm_rank(comm, &mine));
  ++deleted;
  return MPI_SUCCESS;
}

static int delete_type(MPI_Datatype type, int keyval, void *value, void *extra) {
  (void)type, (void)keyval, (void)value, (void)extra;
  ++deleted;
  return MPI_SUCCESS;
}

static int delete_win(MPI_Win win, int keyval, void *value, void *extra) {
  (void)win, (void)keyval, (void)value, (void)extra;
  ++deleted;
  return MPI_SUCCESS;
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  int key = 0;
  int type_key = 0;
  int win_key = 0;
  int flag = 0;
  int found = 0;
  static int payload[4];
  void *value = NULL;
  MPI_Comm dup;
  MPI(MPI_Comm_create_keyval(copy_comm, delete_comm, &key, &state));
  MPI(MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag));
  CHECK(!flag);
  MPI(MPI_Comm_set_attr(MPI_COMM_WORLD, key, &payload[1]));
  MPI(MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag));
  CHECK(flag && value == &payload[1]);
  MPI(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
  CHECK(copied == 1);
  MPI(MPI_Comm_get_attr(dup, key, &value, &flag));
  CHECK(flag && value == &payload[1]);
  MPI(MPI_Comm_set_attr(dup, key, &payload[2]));
  CHECK(deleted == 1);
  MPI(MPI_Comm_free(&dup));
  CHECK(deleted == 2);
  MPI(MPI_Comm_delete_attr(MPI_COMM_WORLD, key));
  CHECK(deleted == 3);
  MPI(MPI_Comm_set_attr(MPI_COMM_SELF, key, (void *)12345));  // deleted at finalize
  MPI(MPI_Comm_free_keyval(&key));
  CHECK(key == MPI_KEYVAL_INVALID);

  int *number = NULL;
  MPI(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &number, &found));
  CHECK(found && *number >= 32767);
  MPI(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &number, &found));
  MPI(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &found));
  MPI(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &number, &found));

  MPI_Datatype type;
  MPI_Datatype other;
  MPI(MPI_Type_create_keyval(MPI_TYPE_DUP_FN, delete_type, &type_key, NULL));
  MPI(MPI_Type_contiguous(2, MPI_INT, &type));
  MPI(MPI_Type_set_attr(type, type_key, payload));
  MPI(MPI_Type_dup(type, &other));
  MPI(MPI_Type_get_attr(other, type_key, &value, &flag));
  CHECK(flag && value == payload);
  MPI(MPI_Type_delete_attr(other, type_key));
  MPI(MPI_Type_get_attr(other, type_key, &value, &flag));
  CHECK(!flag);
  MPI(MPI_Type_free(&type));
  MPI(MPI_Type_free(&other));
  MPI(MPI_Type_free_keyval(&type_key));

  MPI_Win win;
  MPI(MPI_Win_create(payload, sizeof payload, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  MPI(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_win, &win_key, NULL));
  MPI(MPI_Win_set_attr(win, win_key, payload + 3));
  MPI(MPI_Win_get_attr(win, win_key, &value, &flag));
  CHECK(flag && value == payload + 3);
  MPI(MPI_Win_delete_attr(win, win_key));
  MPI(MPI_Win_get_attr(win, MPI_WIN_BASE, &value, &flag));
  CHECK(flag && value == payload);
  MPI_Aint *extent = NULL;
  MPI(MPI_Win_get_attr(win, MPI_WIN_SIZE, &extent, &flag));
  CHECK(*extent == (MPI_Aint)sizeof payload);
  MPI(MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &number, &flag));
  CHECK(*number == 4);
  MPI(MPI_Win_free(&win));
  MPI(MPI_Win_free_keyval(&win_key));
  // Names.
  char name[MPI_MAX_OBJECT_NAME];
  int length = 0;
  MPI(MPI_Comm_get_name(MPI_COMM_WORLD, name, &length));
  CHECK(strcmp(name, "MPI_COMM_WORLD") == 0 && length == 14);
  MPI(MPI_Comm_set_name(MPI_COMM_SELF, "myself"));
  MPI(MPI_Comm_get_name(MPI_COMM_SELF, name, &length));
  CHECK(strcmp(name, "myself") == 0);
  MPI(MPI_Type_contiguous(3, MPI_INT, &type));
  MPI(MPI_Type_get_name(type, name, &length));
  CHECK(length == 0);
  MPI(MPI_Type_set_name(type, "three ints"));
  MPI(MPI_Type_get_name(type, name, &length));
  CHECK(length == 10);
  MPI(MPI_Type_free(&type));
  MPI(MPI_Type_get_name(MPI_INT, name, &length));
  // No key at all: -1 in Open MPI.
  MPI(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  CHECK(MPI_Comm_get_attr(MPI_COMM_SELF, MPI_KEYVAL_INVALID, &value, &flag) != MPI_SUCCESS);
  return finish();
}
