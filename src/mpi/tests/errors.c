// Error handlers on communicators, windows and files; handlers that call MPI; error codes of the program's own.
#include "check.h"

static int called = 0;

static void on_comm(MPI_Comm *comm, int *code, ...) {
  int mine = 0;
  int class = 0;
  MPI(MPI_Comm_rank(*comm, &mine));
  MPI(MPI_Error_class(*code, &class));
  CHECK(class != MPI_SUCCESS);
  ++called;
}

static void on_win(MPI_Win *win, int *code, ...) {
  (void)win, (void)code;
  ++called;
}

static void on_file(MPI_File *file, int *code, ...) {
  (void)file, (void)code;
  ++called;
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  MPI_Errhandler handler;
  MPI_Errhandler got;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  int class = 0;
  int code = 0;
  int value = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI(MPI_Comm_create_errhandler(on_comm, &handler));
  MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler));
  MPI(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got));
  CHECK(got == handler);
  MPI(MPI_Errhandler_free(&got));
  int failed = MPI_Send(&value, 1, MPI_INT, size + 10, 0, MPI_COMM_WORLD);
  CHECK(failed != MPI_SUCCESS && called == 1);
  MPI(MPI_Error_class(failed, &class));
  CHECK(class == MPI_ERR_RANK);
  MPI(MPI_Error_string(failed, text, &length));
  CHECK(length > 0 && (int)strlen(text) == length);
  CHECK(MPI_Isend(&value, -1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request) != MPI_SUCCESS);
  CHECK(MPI_Bcast(&value, 1, MPI_INT, size + 3, MPI_COMM_WORLD) != MPI_SUCCESS && called == 3);
  MPI(MPI_Errhandler_free(&handler));

  MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  MPI(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got));
  CHECK(got == MPI_ERRORS_RETURN);
  CHECK(MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD) != MPI_SUCCESS && called == 3);
  // Truncation is seen when the receive completes.
  int out[4] = {1, 2, 3, 4};
  MPI_Status status;
  MPI(MPI_Isend(out, 4, MPI_INT, right(), 1, MPI_COMM_WORLD, &request));
  failed = MPI_Recv(&value, 1, MPI_INT, left(), 1, MPI_COMM_WORLD, &status);
  MPI(MPI_Error_class(failed, &class));
  CHECK(class == MPI_ERR_TRUNCATE);
  MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
  MPI_Request two[2];
  MPI_Status statuses[2];
  int in[4];
  MPI(MPI_Irecv(in, 1, MPI_INT, left(), 2, MPI_COMM_WORLD, &two[0]));
  MPI(MPI_Irecv(in + 1, 1, MPI_INT, left(), 3, MPI_COMM_WORLD, &two[1]));
  MPI(MPI_Barrier(MPI_COMM_WORLD));
  MPI(MPI_Send(out, 4, MPI_INT, right(), 2, MPI_COMM_WORLD));
  MPI(MPI_Send(out, 1, MPI_INT, right(), 3, MPI_COMM_WORLD));
  MPI(MPI_Barrier(MPI_COMM_WORLD));
  failed = MPI_Waitall(2, two, statuses);
  MPI(MPI_Error_class(failed, &class));
  CHECK(class == MPI_ERR_IN_STATUS);
  for (int i = 0; i < 2; ++i)
    if (two[i] != MPI_REQUEST_NULL) MPI(MPI_Wait(&two[i], MPI_STATUS_IGNORE));

  // Codes of the program's own.
  int own_class = 0;
  int own_code = 0;
  MPI(MPI_Add_error_class(&own_class));
  MPI(MPI_Add_error_code(own_class, &own_code));
  MPI(MPI_Add_error_string(own_code, "out of cheese"));
  MPI(MPI_Error_string(own_code, text, &length));
  CHECK(strcmp(text, "out of cheese") == 0);
  MPI(MPI_Error_class(own_code, &code));
  CHECK(code == own_class);
#if MPI_VERSION == 4 && MPI_SUBVERSION == 0 && defined(MPICH_NUMVERSION)
  // MPI 4.1's MPI_Remove_error_string, _code and _class.
  MPI(MPI_Add_error_code(own_class, &code));
  MPI(MPI_Add_error_string(code, "out of bread"));
  MPI(MPIX_Delete_error_string(code));
  MPI(MPIX_Delete_error_code(code));
#endif
  MPI(MPI_Comm_create_errhandler(on_comm, &handler));
  MPI(MPI_Comm_set_errhandler(MPI_COMM_SELF, handler));
  MPI(MPI_Comm_call_errhandler(MPI_COMM_SELF, own_code));
  CHECK(called == 4);
  MPI(MPI_Errhandler_free(&handler));

  MPI_Win win;
  MPI(MPI_Win_create(in, sizeof in, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  MPI(MPI_Win_create_errhandler(on_win, &handler));
  MPI(MPI_Win_set_errhandler(win, handler));
  MPI(MPI_Win_get_errhandler(win, &got));
  MPI(MPI_Errhandler_free(&got));
  MPI(MPI_Win_call_errhandler(win, own_code));
  CHECK(called == 5);
  MPI(MPI_Errhandler_free(&handler));
  MPI(MPI_Win_free(&win));

  MPI_File file;
  MPI(MPI_File_create_errhandler(on_file, &handler));
  MPI(MPI_File_get_errhandler(MPI_FILE_NULL, &got));
  MPI(MPI_File_set_errhandler(MPI_FILE_NULL, handler));
  CHECK(MPI_File_open(MPI_COMM_SELF, "/nowhere/at/all", MPI_MODE_RDONLY, MPI_INFO_NULL, &file) != MPI_SUCCESS);
  CHECK(called == 6);
  MPI(MPI_File_set_errhandler(MPI_FILE_NULL, got));
  MPI(MPI_Errhandler_free(&handler));
  return finish();
}
