// What the interpreter CPython 3.11 executes on the calling thread, read out of its memory.
//
// The interpreter is found, not linked: three of its public symbols are looked up where the program has one. The
// structures below are 3.11's, of which only the fields that are read have names; python_layout_test.cc holds them
// against CPython's own headers where those are installed. Any other version counts as no interpreter.
//
// Read are only the frames of the calling thread, which nobody else changes while the interpreter runs, and what their
// code objects hold, which never changes. (What ends changes all: a daemon thread that is stopped for the whole of
// Py_Finalize between asking whether the interpreter is there and reading, some nanoseconds apart, reads freed memory.)
// So the thread need not hold the interpreter's lock, which mpi4py gives up around calls of MPI. Lines
// are worked out of the code's table of locations here, since the interpreter's own function may read a cache that
// another thread is just filling. No references are taken, nothing is written, no Python code runs.
//
// Other ways considered: sys.setprofile and PEP 523's hooks, which slow the whole program down and may be taken by
// others; PyEval_GetFrame and its relatives, which make objects, and want the lock.
//
// Any thread; the search takes the dynamic linker's lock, once. Cost: two nanoseconds to the innermost frame.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cairn::recorder::cpython {

struct Object {
  intptr_t references;
  const void *type;
};

struct Bytes {
  Object head;
  intptr_t size;
  intptr_t hash;
  uint8_t data[1];
};

struct Unicode {
  Object head;
  intptr_t length;
  intptr_t hash;
  uint32_t state;
  const void *wide;
  // Here the characters of ASCII begin.
  intptr_t utf8_length;
  const void *utf8;
  intptr_t wide_length;
  // Here those of other compact ones.
  [[nodiscard]] unsigned bytes_each() const { return state >> 2 & 7; }
  [[nodiscard]] bool is_compact() const { return (state >> 5 & 1) != 0; }
  [[nodiscard]] bool is_ascii() const { return (state >> 6 & 1) != 0; }
};

struct Code {
  Object head;
  intptr_t size;
  const void *before_lines[3];
  int before_first_line[6];
  int first_line;
  int after_first_line[5];
  const void *before_names[2];
  const Unicode *file;
  const Unicode *name;
  const Unicode *qualified_name;
  const Bytes *locations;
  const void *before_first_traceable[3];
  int first_traceable;  ///< what comes before belongs to the making of the frame
  const void *extra;
  uint16_t instructions[1];
};

struct Frame {
  const void *before_code[4];
  const Code *code;
  const void *frame_object;
  const Frame *previous;
  const uint16_t *instruction;  ///< the last one begun
  int stack_top;
  bool is_entry;  ///< the outermost of its loop
  uint8_t owner;
  static constexpr uint8_t kOwnedByGenerator = 1;

  /// The number of the instruction; negative while the frame is being made: it isn't shown then.
  [[nodiscard]] intptr_t place() const {
    const intptr_t place = instruction - code->instructions;
    return owner != kOwnedByGenerator && place < code->first_traceable ? -1 : place;
  }
};

/// One in each C frame that runs the interpreter's loop, in that C frame: so the two stacks are told together.
struct Loop {
  uint8_t traces;
  const Frame *frame;  ///< the innermost; nullptr if it executes none
  const Loop *outer;
};

struct ThreadState {
  const void *others[3];
  int counters[7];
  const Loop *loop;  ///< the innermost; the outermost lies in here and has no C frame
};

struct Interpreter {
  int (*is_initialized)();
  const ThreadState *(*state_of_this_thread)();
  const void *code_type;

  /// The process's; nullptr unless it has one of a version that is known.
  static const Interpreter *find();

  /// The calling thread's innermost loop; nullptr if it runs no Python.
  [[nodiscard]] const Loop *loop() const {
    // Threads that are still there when the interpreter ends have lost their state.
    if (is_initialized() == 0) return nullptr;
    const ThreadState *state = state_of_this_thread();
    return state == nullptr ? nullptr : state->loop;
  }
};

/// Where an instruction stands in the source.
struct Line {
  int64_t line;
  size_t known_from;  ///< bytes at the beginning of the code's table of locations that say so
};
Line line_of(const Code &code, size_t place);

/// The characters of a compact string; nullptr of others, which files and functions have none of.
const uint8_t *characters(const Unicode &text);
/// In UTF-8, as much as there is room for, ended by a zero; bytes that Python could not decode are what they were.
/// False if there is nothing to be had.
bool copy_text(const Unicode &text, char *to, size_t room);

}  // namespace cairn::recorder::cpython
