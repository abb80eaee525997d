#include "mpi/call/fortran_calls.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>

#include "mpi/call/facts.h"
#include "mpi/call/fortran_sites.h"
#include "mpi/call/frame.h"
#include "mpi/call/mpi_calls.h"
#include "mpi/call/thread.h"
#include "spec/ids.h"

namespace cairn::recorder {
namespace {

namespace fn = spec::function_id;
namespace con = spec::constant_id;

using Fint = int;  // INTEGER and LOGICAL
using Aint = intptr_t;
using Handle = void *;  // Open MPI's are pointers
using F2c = Handle (*)(Fint);

enum Object { kComm, kType, kWindow, kErrhandler, kRequest, kObjects };
constexpr const char *kConversions[kObjects] = {"PMPI_Comm_f2c", "PMPI_Type_f2c", "PMPI_Win_f2c", "PMPI_Errhandler_f2c",
                                                "PMPI_Request_f2c"};
F2c f2c[kObjects];

constexpr uint16_t kWrapped[] = {fn::Comm_get_attr,
                                 fn::Comm_set_attr,
                                 fn::Type_get_attr,
                                 fn::Type_set_attr,
                                 fn::Win_get_attr,
                                 fn::Win_set_attr,
                                 fn::Attr_get,
                                 fn::Attr_put,
                                 fn::Comm_create_keyval,
                                 fn::Type_create_keyval,
                                 fn::Win_create_keyval,
                                 fn::Keyval_create,
                                 fn::Comm_create_errhandler,
                                 fn::File_create_errhandler,
                                 fn::Win_create_errhandler,
                                 fn::Errhandler_create,
                                 fn::Type_match_size,

                                 fn::Waitall,
                                 fn::Waitany,
                                 fn::Waitsome,
                                 fn::Testall,
                                 fn::Testany,
                                 fn::Testsome,
                                 fn::Request_get_status};
constexpr int kCount = std::size(kWrapped);

constexpr int number_of(uint16_t function) {
  return static_cast<int>(std::find(std::begin(kWrapped), std::end(kWrapped), function) - std::begin(kWrapped));
}

/// mpif.h and `use mpi`, or `use mpi_f08`: two entries of the binding with the same parameters.
constexpr int kForms = 2;
void *entries[kForms][kCount];
void *c_functions[kCount];
const CairnPreload *of_preload;

/// A call that was handed to the C function and waits for what the entry makes of it.
struct Waiting {
  uint16_t function;
  int64_t (*answer)(const void *of);
  const void *of;
};
thread_local Waiting *waiting __attribute__((tls_model("initial-exec"))) = nullptr;

/// In place of the C function in `pmpi_function`.
template <uint16_t function, typename Result, typename... Arguments>
Result either(Arguments... arguments) {
  Waiting *const taken = waiting;
  if (taken != nullptr && taken->function == function) {
    waiting = nullptr;  // callbacks of the program may make calls of their own
    return static_cast<Result>(taken->answer(taken->of));
  }
  return reinterpret_cast<Result (*)(Arguments...)>(c_functions[number_of(function)])(arguments...);
}

template <uint16_t function, typename... Arguments>
auto *entry_of(int form) {
  return reinterpret_cast<void (*)(Arguments...)>(entries[form][number_of(function)]);
}

/// Whether an entry of the binding has called another, as those of mpi_f08 do where there are logicals.
bool is_from_binding(void *return_address) {
  Thread *const thread = current_thread;
  if (thread == nullptr || thread->busy) return false;
  thread->busy = true;
  const Site *site = thread->site_table->find(reinterpret_cast<uintptr_t>(return_address));
  thread->busy = false;
  return site != nullptr && site->binding == Binding::fortran;
}

/// The frame of a call that a wrapper records; nullptr: it is not to be recorded.
Frame *enter_answered(uint32_t function, void *return_address, void *frame_address) {
  of_preload->fortran_entry()->stack = 0;
  return is_from_binding(return_address) ? nullptr : enter(function, return_address, frame_address);
}

/// Records a call of the C function with `arguments`; `answer` does it.
template <uint16_t function, typename Result, typename Answer, typename... Arguments>
Result record_as(void *return_address, void *frame_address, const Answer &answer, Arguments... arguments) {
  Frame *frame = enter_answered(function, return_address, frame_address);
  if (frame == nullptr) return static_cast<Result>(answer());
  int i = 0;
  ((frame->argument[i++] = word<Arguments>(arguments)), ...);
  begin(frame);
  Result result = 0;
  if (!oracle_between) {
    result = static_cast<Result>(answer());
  } else {  // the oracle sees the C call first
    Waiting here = {function, [](const void *of) { return (*static_cast<const Answer *>(of))(); }, &answer};
    waiting = &here;
    result = reinterpret_cast<Result (*)(Arguments...)>(real_function[function])(arguments...);
    waiting = nullptr;
  }
  frame->result = word(result);
  end(frame);
  return result;
}

#define CALLER __builtin_return_address(0), __builtin_frame_address(0)

void give(Fint *error, int value) {
  if (error != nullptr) *error = value;  // optional in mpi_f08
}

template <uint16_t function, Object object, typename Value, int form>
void get_attribute(Fint *of, Fint *keyval, Value *value, Fint *flag, Fint *error) {
  void *found = nullptr;
  int is_set = 0;
  const auto answer = [&]() -> int64_t {
    Fint result = 0;
    entry_of<function, Fint *, Fint *, Value *, Fint *, Fint *>(form)(of, keyval, value, flag, &result);
    is_set = *flag != 0;
    if (is_set != 0) found = reinterpret_cast<void *>(static_cast<intptr_t>(*value));
    return result;
  };
  give(error,
       record_as<function, int>(CALLER, answer, f2c[object](*of), *keyval, static_cast<void *>(&found), &is_set));
}

template <uint16_t function, Object object, typename Value, int form>
void set_attribute(Fint *of, Fint *keyval, Value *value, Fint *error) {
  const auto answer = [&]() -> int64_t {
    Fint result = 0;
    entry_of<function, Fint *, Fint *, Value *, Fint *>(form)(of, keyval, value, &result);
    return result;
  };
  give(error, record_as<function, int>(CALLER, answer, f2c[object](*of), *keyval,
                                       reinterpret_cast<void *>(static_cast<intptr_t>(*value))));
}

template <uint16_t function, typename Value, int form>
void create_keyval(void *copy, void *remove, Fint *keyval, Value *extra_state, Fint *error) {
  int made = 0;
  const auto answer = [&]() -> int64_t {
    Fint result = 0;
    entry_of<function, void *, void *, Fint *, Value *, Fint *>(form)(copy, remove, keyval, extra_state, &result);
    made = *keyval;
    return result;
  };
  give(error, record_as<function, int>(CALLER, answer, copy, remove, &made,
                                       reinterpret_cast<void *>(static_cast<intptr_t>(*extra_state))));
}

template <uint16_t function, int form>
void create_errhandler(void *callback, Fint *errhandler, Fint *error) {
  Handle made = nullptr;
  const auto answer = [&]() -> int64_t {
    Fint result = 0;
    entry_of<function, void *, Fint *, Fint *>(form)(callback, errhandler, &result);
    if (result == mpi::success) made = f2c[kErrhandler](*errhandler);
    return result;
  };
  give(error, record_as<function, int>(CALLER, answer, callback, &made));
}

template <uint16_t function, int form>
void match_size(Fint *type_class, Fint *size, Fint *type, Fint *error) {
  Handle found = nullptr;
  const auto answer = [&]() -> int64_t {
    Fint result = 0;
    entry_of<function, Fint *, Fint *, Fint *, Fint *>(form)(type_class, size, type, &result);
    if (result == mpi::success) found = f2c[kType](*type);
    return result;
  };
  give(error, record_as<function, int>(CALLER, answer, *type_class, *size, &found));
}

/// No other tool's: Fortran's entries do not call these.
void *c_function(uint16_t function) { return (oracle_between ? real_function : pmpi_function)[function]; }

/// Of no request: the entry calls no C function then. Here that is called, for what is recorded, and then the entry.
template <uint16_t function, typename Entry, typename... Arguments>
void of_none(void *return_address, void *frame_address, Entry entry, Arguments... arguments) {
  Frame *frame = enter_answered(function, return_address, frame_address);
  if (frame != nullptr) {
    int i = 0;
    ((frame->argument[i++] = word<Arguments>(arguments)), ...);
    begin(frame);
    frame->result = word(reinterpret_cast<int (*)(Arguments...)>(c_function(function))(arguments...));
    end(frame);
  }
  entry();
}

/// C's place for a status, or for no status, as Fortran's is.
struct StatusPlace {
  StatusPlace(const Fint *fortran, bool all) : c(space) {
    uint64_t value = 0;
    if (is_no_status(fortran, all) && local_constant(all ? con::k_STATUSES_IGNORE : con::k_STATUS_IGNORE, &value)) {
      c = reinterpret_cast<void *>(value);
    }
  }
  alignas(8) uint8_t space[64] = {};  // Open MPI's has 24 bytes
  void *c;
};

template <uint16_t function, int form>
void all_of(Fint *count, Fint *requests, Fint *statuses, Fint *error) {
  const auto entry = [&] {
    entry_of<function, Fint *, Fint *, Fint *, Fint *>(form)(count, requests, statuses, error);
  };
  if (*count != 0) return entry();
  StatusPlace place(statuses, true);
  Handle none = nullptr;
  of_none<function>(CALLER, entry, 0, &none, place.c);
}

template <uint16_t function, int form>
void test_all(Fint *count, Fint *requests, Fint *flag, Fint *statuses, Fint *error) {
  const auto entry = [&] {
    entry_of<function, Fint *, Fint *, Fint *, Fint *, Fint *>(form)(count, requests, flag, statuses, error);
  };
  if (*count != 0) return entry();
  StatusPlace place(statuses, true);
  Handle none = nullptr;
  int c_flag = 0;
  of_none<function>(CALLER, entry, 0, &none, &c_flag, place.c);
}

template <uint16_t function, int form>
void wait_any(Fint *count, Fint *requests, Fint *index, Fint *status, Fint *error) {
  const auto entry = [&] {
    entry_of<function, Fint *, Fint *, Fint *, Fint *, Fint *>(form)(count, requests, index, status, error);
  };
  if (*count != 0) return entry();
  StatusPlace place(status, false);
  Handle none = nullptr;
  int c_index = 0;
  of_none<function>(CALLER, entry, 0, &none, &c_index, place.c);
}

template <uint16_t function, int form>
void test_any(Fint *count, Fint *requests, Fint *index, Fint *flag, Fint *status, Fint *error) {
  const auto entry = [&] {
    entry_of<function, Fint *, Fint *, Fint *, Fint *, Fint *, Fint *>(form)(count, requests, index, flag, status,
                                                                             error);
  };
  if (*count != 0) return entry();
  StatusPlace place(status, false);
  Handle none = nullptr;
  int c_index = 0;
  int c_flag = 0;
  of_none<function>(CALLER, entry, 0, &none, &c_index, &c_flag, place.c);
}

template <uint16_t function, int form>
void some_of(Fint *count, Fint *requests, Fint *done, Fint *indices, Fint *statuses, Fint *error) {
  const auto entry = [&] {
    entry_of<function, Fint *, Fint *, Fint *, Fint *, Fint *, Fint *>(form)(count, requests, done, indices, statuses,
                                                                             error);
  };
  if (*count != 0) return entry();
  StatusPlace place(statuses, true);
  Handle none = nullptr;
  int c_done = 0;
  int c_index = 0;
  of_none<function>(CALLER, entry, 0, &none, &c_done, &c_index, place.c);
}

/// Without a status the entry says that the request is not complete, whatever it is.
template <uint16_t function, int form>
void get_status(Fint *request, Fint *flag, Fint *status, Fint *error) {
  if (!is_no_status(status, false)) {
    return entry_of<function, Fint *, Fint *, Fint *, Fint *>(form)(request, flag, status, error);
  }
  int c_flag = 0;
  const StatusPlace place(status, false);
  const auto answer = [&]() -> int64_t {
    Fint result = 0;
    entry_of<function, Fint *, Fint *, Fint *, Fint *>(form)(request, flag, status, &result);
    c_flag = *flag != 0;
    return result;
  };
  give(error, record_as<function, int>(CALLER, answer, f2c[kRequest](*request), &c_flag, place.c));
}

template <typename F>
void *address(F *function) {
  return reinterpret_cast<void *>(function);
}

template <int form>
void *wrapper(uint32_t function) {
  switch (function) {
    case fn::Comm_get_attr:
      return address(get_attribute<fn::Comm_get_attr, kComm, Aint, form>);
    case fn::Comm_set_attr:
      return address(set_attribute<fn::Comm_set_attr, kComm, Aint, form>);
    case fn::Type_get_attr:
      return address(get_attribute<fn::Type_get_attr, kType, Aint, form>);
    case fn::Type_set_attr:
      return address(set_attribute<fn::Type_set_attr, kType, Aint, form>);
    case fn::Win_get_attr:
      return address(get_attribute<fn::Win_get_attr, kWindow, Aint, form>);
    case fn::Win_set_attr:
      return address(set_attribute<fn::Win_set_attr, kWindow, Aint, form>);
    case fn::Attr_get:
      return address(get_attribute<fn::Attr_get, kComm, Fint, form>);
    case fn::Attr_put:
      return address(set_attribute<fn::Attr_put, kComm, Fint, form>);
    case fn::Comm_create_keyval:
      return address(create_keyval<fn::Comm_create_keyval, Aint, form>);
    case fn::Type_create_keyval:
      return address(create_keyval<fn::Type_create_keyval, Aint, form>);
    case fn::Win_create_keyval:
      return address(create_keyval<fn::Win_create_keyval, Aint, form>);
    case fn::Keyval_create:
      return address(create_keyval<fn::Keyval_create, Fint, form>);
    case fn::Comm_create_errhandler:
      return address(create_errhandler<fn::Comm_create_errhandler, form>);
    case fn::File_create_errhandler:
      return address(create_errhandler<fn::File_create_errhandler, form>);
    case fn::Win_create_errhandler:
      return address(create_errhandler<fn::Win_create_errhandler, form>);
    case fn::Errhandler_create:
      return address(create_errhandler<fn::Errhandler_create, form>);
    case fn::Type_match_size:
      return address(match_size<fn::Type_match_size, form>);
    case fn::Waitall:
      return address(all_of<fn::Waitall, form>);
    case fn::Waitany:
      return address(wait_any<fn::Waitany, form>);
    case fn::Waitsome:
      return address(some_of<fn::Waitsome, form>);
    case fn::Testall:
      return address(test_all<fn::Testall, form>);
    case fn::Testany:
      return address(test_any<fn::Testany, form>);
    case fn::Testsome:
      return address(some_of<fn::Testsome, form>);
    case fn::Request_get_status:
      return address(get_status<fn::Request_get_status, form>);
    default:
      return nullptr;
  }
}

/// Lets a C function in `pmpi_function` serve both languages.
template <uint16_t function, typename Result, typename... Arguments>
void replace() {
  if (pmpi_function[function] == nullptr) return;
  c_functions[number_of(function)] = pmpi_function[function];
  real_function[function] = pmpi_function[function] = address(either<function, Result, Arguments...>);
}

}  // namespace

void prepare_fortran_calls(const CairnPreload &preload, bool with_oracle) {
  if (dlsym(preload.mpi_handle, "ompi_mpi_comm_world") == nullptr) return;  // not Open MPI
  for (int i = 0; i < kObjects; ++i) {
    f2c[i] = reinterpret_cast<F2c>(dlsym(preload.mpi_handle, kConversions[i]));
    if (f2c[i] == nullptr) return;
  }
  of_preload = &preload;
  if (!with_oracle) return;
  replace<fn::Comm_get_attr, int, Handle, int, void *, int *>();
  replace<fn::Type_get_attr, int, Handle, int, void *, int *>();
  replace<fn::Win_get_attr, int, Handle, int, void *, int *>();
  replace<fn::Attr_get, int, Handle, int, void *, int *>();
  replace<fn::Comm_set_attr, int, Handle, int, void *>();
  replace<fn::Type_set_attr, int, Handle, int, void *>();
  replace<fn::Win_set_attr, int, Handle, int, void *>();
  replace<fn::Attr_put, int, Handle, int, void *>();
  replace<fn::Comm_create_keyval, int, void *, void *, int *, void *>();
  replace<fn::Type_create_keyval, int, void *, void *, int *, void *>();
  replace<fn::Win_create_keyval, int, void *, void *, int *, void *>();
  replace<fn::Keyval_create, int, void *, void *, int *, void *>();
  replace<fn::Comm_create_errhandler, int, void *, Handle *>();
  replace<fn::File_create_errhandler, int, void *, Handle *>();
  replace<fn::Win_create_errhandler, int, void *, Handle *>();
  replace<fn::Errhandler_create, int, void *, Handle *>();
  replace<fn::Request_get_status, int, Handle, int *, void *>();
  replace<fn::Type_match_size, int, int, int, Handle *>();
}

}  // namespace cairn::recorder

extern "C" __attribute__((visibility("default"))) void *cairn_recorder_wrap_fortran(const char *name, uint32_t function,
                                                                                    void *real) {
  using namespace cairn::recorder;
  if (of_preload == nullptr) return nullptr;
  const int number = number_of(static_cast<uint16_t>(function));
  if (number == kCount || pmpi_function[function] == nullptr) return nullptr;
  const int form = std::strstr(name, "_f08") != nullptr ? 1 : 0;
  __atomic_store_n(&entries[form][number], real, __ATOMIC_RELEASE);
  return form == 0 ? wrapper<0>(function) : wrapper<1>(function);
}
