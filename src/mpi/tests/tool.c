// The tool interface, before and after MPI_Init; numbers of variables differ between libraries, so little is printed.
#include "check.h"

int main(int argc, char **argv) {
  int provided = 0;
  CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
  start(&argc, &argv);
  int cvars = 0;
  int pvars = 0;
  int categories = 0;
  char name[256];
  char text[1024];
  MPI(MPI_T_cvar_get_num(&cvars));
  MPI(MPI_T_pvar_get_num(&pvars));
  MPI(MPI_T_category_get_num(&categories));
  int used = 0;
  for (int i = 0; i < cvars && used < 3; ++i) {
    int name_length = sizeof name;
    int text_length = sizeof text;
    int verbosity = 0;
    int binding = 0;
    int scope = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_T_enum enumeration = MPI_T_ENUM_NULL;
    if (MPI_T_cvar_get_info(i, name, &name_length, &verbosity, &type, &enumeration, text, &text_length, &binding,
                            &scope) != MPI_SUCCESS)
      continue;
    int again = -1;
    MPI(MPI_T_cvar_get_index(name, &again));
    // Without room for the description, and asking for lengths only.
    name_length = 0;
    MPI(MPI_T_cvar_get_info(i, NULL, &name_length, &verbosity, &type, &enumeration, NULL, NULL, &binding, &scope));
    if (binding != MPI_T_BIND_NO_OBJECT || type != MPI_INT || enumeration != MPI_T_ENUM_NULL) continue;
    MPI_T_cvar_handle handle;
    int count = 0;
    if (MPI_T_cvar_handle_alloc(i, NULL, &handle, &count) != MPI_SUCCESS) continue;
    CHECK(count >= 1);
    if (count == 1) {
      int value = 0;
      MPI(MPI_T_cvar_read(handle, &value));
      ++used;
    }
    MPI(MPI_T_cvar_handle_free(&handle));
  }
  MPI_T_pvar_session session;
  MPI(MPI_T_pvar_session_create(&session));
  used = 0;
  for (int i = 0; i < pvars && used < 3; ++i) {
    int name_length = sizeof name;
    int text_length = sizeof text;
    int verbosity = 0, class = 0, binding = 0, readonly = 0, continuous = 0, atomic = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_T_enum enumeration = MPI_T_ENUM_NULL;
    if (MPI_T_pvar_get_info(i, name, &name_length, &verbosity, &class, &type, &enumeration, text, &text_length,
                            &binding, &readonly, &continuous, &atomic) != MPI_SUCCESS)
      continue;
    if (binding != MPI_T_BIND_NO_OBJECT) continue;
    MPI_T_pvar_handle handle;
    int count = 0;
    if (MPI_T_pvar_handle_alloc(session, i, NULL, &handle, &count) != MPI_SUCCESS) continue;
    char value[4096];
    if (!continuous) {
      MPI_T_pvar_start(session, handle);
      MPI_T_pvar_stop(session, handle);
    }
    if (count <= 64) MPI_T_pvar_read(session, handle, value);
    MPI(MPI_T_pvar_handle_free(session, &handle));
    ++used;
  }
  MPI(MPI_T_pvar_session_free(&session));
  for (int i = 0; i < categories && i < 2; ++i) {
    int name_length = sizeof name;
    int text_length = sizeof text;
    int c = 0, p = 0, sub = 0;
    MPI(MPI_T_category_get_info(i, name, &name_length, text, &text_length, &c, &p, &sub));
    int indices[4] = {-1, -1, -1, -1};
    if (c > 0) MPI(MPI_T_category_get_cvars(i, 4, indices));
    if (sub > 0) MPI(MPI_T_category_get_categories(i, 4, indices));
  }
  int stamp = 0;
  MPI(MPI_T_category_changed(&stamp));
#ifdef OPEN_MPI  // 4.1.4 crashes in MPI_T_finalize after MPI_Finalize
  MPI(MPI_T_finalize());
  return finish();
#else
  const int code = finish();
  return MPI_T_finalize() == MPI_SUCCESS ? code : 1;
#endif
}
