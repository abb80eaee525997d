// What stands in for functions of the program that MPI calls: they make the calls that those made, and answer what lets
// MPI go on. Which functions a C type's name means is a table at the end.
#include <array>

#include "replay/mpi/words.h"

namespace cairn::replay {
namespace {

void user_function(void * /*in*/, void * /*inout*/, int * /*length*/, MPI_Datatype * /*type*/) { make_nested_calls(); }

#if MPI_VERSION >= 4
void user_function_c(void * /*in*/, void * /*inout*/, MPI_Count * /*length*/, MPI_Datatype * /*type*/) {
  make_nested_calls();
}
#endif

/// Every attribute goes on to the copy, as it is.
template <typename Handle>
int copy_attribute(Handle /*old*/, int /*keyval*/, void * /*state*/, void *value, void *copy, int *flag) {
  make_nested_calls();
  *static_cast<void **>(copy) = value;
  *flag = 1;
  return is_to_fail() ? MPI_ERR_OTHER : MPI_SUCCESS;
}

template <typename Handle>
int delete_attribute(Handle /*object*/, int /*keyval*/, void * /*value*/, void * /*state*/) {
  make_nested_calls();
  return is_to_fail() ? MPI_ERR_OTHER : MPI_SUCCESS;
}

/// What failed returns its code, as it did where the program's function returned.
template <typename Handle>
void handle_error(Handle * /*object*/, int * /*code*/, ...) {
  make_nested_calls();
}

int query_request(void * /*state*/, MPI_Status *status) {
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  make_nested_calls(status);
  return MPI_SUCCESS;
}

int free_request(void * /*state*/) {
  make_nested_calls();
  return MPI_SUCCESS;
}

int cancel_request(void * /*state*/, int /*complete*/) {
  make_nested_calls();
  return MPI_SUCCESS;
}

#ifdef MPICH_VERSION
/// The program's own completes its request, which is one of the calls that it makes.
int poll_request(void * /*state*/, MPI_Status * /*status*/) {
  make_nested_calls();
  return MPI_SUCCESS;
}

int wait_for_requests(int /*count*/, void ** /*states*/, double /*timeout*/, MPI_Status * /*status*/) {
  make_nested_calls();
  return MPI_SUCCESS;
}
#endif

int file_extent(MPI_Datatype type, MPI_Aint *extent, void * /*state*/) {
  make_nested_calls();
  MPI_Aint lower = 0;
  return PMPI_Type_get_extent(type, &lower, extent);
}

int convert(void * /*user*/, MPI_Datatype /*type*/, int /*count*/, void * /*file*/, MPI_Offset /*at*/,
            void * /*state*/) {
  make_nested_calls();
  return MPI_SUCCESS;
}

struct StandIn {
  std::string_view ctype;
  Word (*address)();
};

#define CAIRN_STAND_IN(ctype, function)                             \
  {                                                                 \
#ctype "*", [] { return word(static_cast<ctype *>(function)); } \
  }
constexpr StandIn kStandIns[] = {
    CAIRN_STAND_IN(MPI_User_function, user_function),
#if MPI_VERSION >= 4
    CAIRN_STAND_IN(MPI_User_function_c, user_function_c),
    CAIRN_STAND_IN(MPI_Session_errhandler_function, handle_error<MPI_Session>),
#endif
    CAIRN_STAND_IN(MPI_Comm_copy_attr_function, copy_attribute<MPI_Comm>),
    CAIRN_STAND_IN(MPI_Type_copy_attr_function, copy_attribute<MPI_Datatype>),
    CAIRN_STAND_IN(MPI_Win_copy_attr_function, copy_attribute<MPI_Win>),
    CAIRN_STAND_IN(MPI_Copy_function, copy_attribute<MPI_Comm>),
    CAIRN_STAND_IN(MPI_Comm_delete_attr_function, delete_attribute<MPI_Comm>),
    CAIRN_STAND_IN(MPI_Type_delete_attr_function, delete_attribute<MPI_Datatype>),
    CAIRN_STAND_IN(MPI_Win_delete_attr_function, delete_attribute<MPI_Win>),
    CAIRN_STAND_IN(MPI_Delete_function, delete_attribute<MPI_Comm>),
    CAIRN_STAND_IN(MPI_Comm_errhandler_function, handle_error<MPI_Comm>),
    CAIRN_STAND_IN(MPI_Win_errhandler_function, handle_error<MPI_Win>),
    CAIRN_STAND_IN(MPI_File_errhandler_function, handle_error<MPI_File>),
    CAIRN_STAND_IN(MPI_Grequest_query_function, query_request),
    CAIRN_STAND_IN(MPI_Grequest_free_function, free_request),
    CAIRN_STAND_IN(MPI_Grequest_cancel_function, cancel_request),
#ifdef MPICH_VERSION
    CAIRN_STAND_IN(MPIX_Grequest_poll_function, poll_request),
    CAIRN_STAND_IN(MPIX_Grequest_wait_function, wait_for_requests),
#endif
    CAIRN_STAND_IN(MPI_Datarep_extent_function, file_extent),
    CAIRN_STAND_IN(MPI_Datarep_conversion_function, convert),
};
#undef CAIRN_STAND_IN

}  // namespace

Word stand_in_for(std::string_view ctype) {
  for (const StandIn &each : kStandIns) {
    if (each.ctype == ctype) return each.address();
  }
  return 0;
}

}  // namespace cairn::replay
