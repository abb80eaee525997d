// The structures of python_frames.h against CPython 3.11's own headers. Compiled where those are installed.
#define Py_BUILD_CORE  // NOLINT
#include <Python.h>
#include <internal/pycore_frame.h>

#include <cstddef>

#include "mpi/names/python_frames.h"

static_assert(PY_MAJOR_VERSION == 3 && PY_MINOR_VERSION == 11);

namespace cairn::recorder::cpython {

#define SAME_PLACE(ours, member, theirs, field)                     \
  static_assert(offsetof(ours, member) == offsetof(theirs, field)); \
  static_assert(sizeof(ours::member) == sizeof(theirs::field))

SAME_PLACE(Object, type, PyObject, ob_type);
SAME_PLACE(Bytes, size, PyVarObject, ob_size);
SAME_PLACE(Bytes, data, PyBytesObject, ob_sval);
SAME_PLACE(Unicode, length, PyASCIIObject, length);
SAME_PLACE(Unicode, state, PyASCIIObject, state);
static_assert(offsetof(Unicode, utf8_length) == sizeof(PyASCIIObject));
static_assert(sizeof(Unicode) == sizeof(PyCompactUnicodeObject));
SAME_PLACE(Code, size, PyVarObject, ob_size);
SAME_PLACE(Code, first_line, PyCodeObject, co_firstlineno);
SAME_PLACE(Code, file, PyCodeObject, co_filename);
SAME_PLACE(Code, name, PyCodeObject, co_name);
SAME_PLACE(Code, qualified_name, PyCodeObject, co_qualname);
SAME_PLACE(Code, locations, PyCodeObject, co_linetable);
SAME_PLACE(Code, first_traceable, PyCodeObject, _co_firsttraceable);
static_assert(offsetof(Code, instructions) == offsetof(PyCodeObject, co_code_adaptive));
static_assert(sizeof(*Code::instructions) == sizeof(_Py_CODEUNIT));
SAME_PLACE(Frame, code, _PyInterpreterFrame, f_code);
SAME_PLACE(Frame, previous, _PyInterpreterFrame, previous);
SAME_PLACE(Frame, instruction, _PyInterpreterFrame, prev_instr);
SAME_PLACE(Frame, is_entry, _PyInterpreterFrame, is_entry);
SAME_PLACE(Frame, owner, _PyInterpreterFrame, owner);
static_assert(Frame::kOwnedByGenerator == FRAME_OWNED_BY_GENERATOR);
SAME_PLACE(Loop, frame, _PyCFrame, current_frame);
SAME_PLACE(Loop, outer, _PyCFrame, previous);
SAME_PLACE(ThreadState, loop, PyThreadState, cframe);

}  // namespace cairn::recorder::cpython
