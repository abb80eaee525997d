#include "mpi/call/fortran_attributes.h"

#include <dlfcn.h>

#include <cstring>

#include "mpi/call/fortran_sites.h"
#include "mpi/call/frame.h"
#include "spec/ids.h"

namespace cairn::recorder {
namespace {

namespace function_id = spec::function_id;

/// How the binding wants an attribute's value; MPIR_Attr_type of MPICH.
enum AttributeType : int { kPointer = 0, kAddressInteger = 1, kInteger = 3 };

/// What the next call through `pmpi_function` in this thread is for. A callback's calls come after it was taken.
thread_local int wanted_type __attribute__((tls_model("initial-exec"))) = kPointer;

using GetC = int (*)(int, int, void *, int *);
using SetC = int (*)(int, int, void *);
using GetFortran = int (*)(int, int, void *, int *, int);
using SetFortran = int (*)(int, int, void *, int);

enum Object { kComm, kType, kWindow, kObjects };
struct Attributes {
  GetFortran get;
  SetFortran set;
};
Attributes fortran[kObjects];

/// The C functions that are replaced in `pmpi_function`.
enum Replaced { kCommGet, kCommSet, kTypeGet, kTypeSet, kWinGet, kWinSet, kOldGet, kOldSet, kReplaced };
constexpr uint16_t kReplacedIds[kReplaced] = {
    function_id::Comm_get_attr, function_id::Comm_set_attr, function_id::Type_get_attr, function_id::Type_set_attr,
    function_id::Win_get_attr,  function_id::Win_set_attr,  function_id::Attr_get,      function_id::Attr_put};
void *replaced[kReplaced];

/// MPICH numbers its own attributes (MPI_TAG_UB, MPI_WIN_BASE, …) one higher for Fortran. Calls are recorded with C's.
int c_keyval(int keyval) {
  return (static_cast<unsigned>(keyval) >> 26) == 0x19 && keyval % 2 == 0 ? keyval - 1 : keyval;
}
int fortran_keyval(int keyval) {
  return (static_cast<unsigned>(keyval) >> 26) == 0x19 && keyval % 2 != 0 ? keyval + 1 : keyval;
}

int take_wanted_type() {
  const int type = wanted_type;
  wanted_type = kPointer;
  return type;
}

template <Object object, Replaced function>
int get_either(int of, int keyval, void *value, int *flag) {
  const int type = take_wanted_type();
  if (type == kPointer) return reinterpret_cast<GetC>(replaced[function])(of, keyval, value, flag);
  // MPICH writes an int or a word, as the attribute is predefined or not, to a word that nobody has set.
  std::memset(value, 0, sizeof(void *));
  const int result = fortran[object].get(of, fortran_keyval(keyval), value, flag, type);
  if (type == kInteger) {
    int32_t integer = 0;
    std::memcpy(&integer, value, sizeof integer);
    const int64_t whole = integer;
    std::memcpy(value, &whole, sizeof whole);
  }
  return result;
}

template <Object object, Replaced function>
int set_either(int of, int keyval, void *value) {
  const int type = take_wanted_type();
  if (type == kPointer) return reinterpret_cast<SetC>(replaced[function])(of, keyval, value);
  return fortran[object].set(of, fortran_keyval(keyval), value, type);
}

/// The frame of a call that entered the binding as `one` or `other`, which have the same parameters.
Frame *enter_attribute(uint32_t one, uint32_t other, void *return_address, void *frame_address) {
  if (process == nullptr) return nullptr;
  const CairnFortranEntry &entry = *process->run.preload->fortran_entry();
  if (!is_pending(entry, reinterpret_cast<uintptr_t>(frame_address))) return nullptr;
  const uint32_t function = entered(entry) == other ? other : one;
  return enter(function, return_address, frame_address);
}

int get_recorded(Frame *frame, int of, int fortran_number, void *value, int *flag, int type) {
  const int keyval = c_keyval(fortran_number);
  frame->argument[0] = word(of);
  frame->argument[1] = word(keyval);
  frame->argument[2] = word(value);
  frame->argument[3] = word(flag);
  begin(frame);
  wanted_type = type;
  const int result = reinterpret_cast<GetC>(real_function[frame->function])(of, keyval, value, flag);
  frame->result = word(result);
  end(frame);
  return result;
}

int set_recorded(Frame *frame, int of, int fortran_number, void *value, int type) {
  const int keyval = c_keyval(fortran_number);
  frame->argument[0] = word(of);
  frame->argument[1] = word(keyval);
  frame->argument[2] = word(value);
  begin(frame);
  wanted_type = type;
  const int result = reinterpret_cast<SetC>(real_function[frame->function])(of, keyval, value);
  frame->result = word(result);
  end(frame);
  return result;
}

}  // namespace

void prepare_fortran(const CairnPreload &preload) {
  const auto find = [&](const char *name) { return dlsym(preload.mpi_handle, name); };
  fortran[kComm] = {reinterpret_cast<GetFortran>(find("MPII_Comm_get_attr")),
                    reinterpret_cast<SetFortran>(find("MPII_Comm_set_attr"))};
  fortran[kType] = {reinterpret_cast<GetFortran>(find("MPII_Type_get_attr")),
                    reinterpret_cast<SetFortran>(find("MPII_Type_set_attr"))};
  fortran[kWindow] = {reinterpret_cast<GetFortran>(find("MPII_Win_get_attr")),
                      reinterpret_cast<SetFortran>(find("MPII_Win_set_attr"))};
  for (const Attributes &attributes : fortran) {
    if (attributes.get == nullptr || attributes.set == nullptr) return;  // not MPICH: nobody will ask
  }
  void *const either[kReplaced] = {
      reinterpret_cast<void *>(get_either<kComm, kCommGet>),  reinterpret_cast<void *>(set_either<kComm, kCommSet>),
      reinterpret_cast<void *>(get_either<kType, kTypeGet>),  reinterpret_cast<void *>(set_either<kType, kTypeSet>),
      reinterpret_cast<void *>(get_either<kWindow, kWinGet>), reinterpret_cast<void *>(set_either<kWindow, kWinSet>),
      reinterpret_cast<void *>(get_either<kComm, kOldGet>),   reinterpret_cast<void *>(set_either<kComm, kOldSet>)};
  for (int i = 0; i < kReplaced; ++i) {
    const uint16_t id = kReplacedIds[i];
    replaced[i] = pmpi_function[id];
    if (replaced[i] != nullptr) real_function[id] = pmpi_function[id] = either[i];
  }
}

}  // namespace cairn::recorder

// What the binding calls. MPICH's handles are ints.
#define EXPORTED extern "C" __attribute__((visibility("default")))
#define GET_ATTRIBUTE(name, object, one, other)                                                       \
  EXPORTED int name(int of, int keyval, void *value, int *flag, int type) {                           \
    using namespace cairn::recorder;                                                                  \
    Frame *frame = enter_attribute(function_id::one, function_id::other, __builtin_return_address(0), \
                                   __builtin_frame_address(0));                                       \
    if (frame == nullptr) return fortran[object].get(of, keyval, value, flag, type);                  \
    return get_recorded(frame, of, keyval, value, flag, type);                                        \
  }
#define SET_ATTRIBUTE(name, object, one, other)                                                       \
  EXPORTED int name(int of, int keyval, void *value, int type) {                                      \
    using namespace cairn::recorder;                                                                  \
    Frame *frame = enter_attribute(function_id::one, function_id::other, __builtin_return_address(0), \
                                   __builtin_frame_address(0));                                       \
    if (frame == nullptr) return fortran[object].set(of, keyval, value, type);                        \
    return set_recorded(frame, of, keyval, value, type);                                              \
  }

GET_ATTRIBUTE(MPII_Comm_get_attr, kComm, Comm_get_attr, Attr_get)
SET_ATTRIBUTE(MPII_Comm_set_attr, kComm, Comm_set_attr, Attr_put)
GET_ATTRIBUTE(MPII_Type_get_attr, kType, Type_get_attr, Type_get_attr)
SET_ATTRIBUTE(MPII_Type_set_attr, kType, Type_set_attr, Type_set_attr)
GET_ATTRIBUTE(MPII_Win_get_attr, kWindow, Win_get_attr, Win_get_attr)
SET_ATTRIBUTE(MPII_Win_set_attr, kWindow, Win_set_attr, Win_set_attr)
