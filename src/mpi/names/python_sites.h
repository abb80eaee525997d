// PythonSites: the Python lines that a thread executes, as call sites, one a thread.
//
// A call out of mpi4py takes its site from the innermost Python frame; stacks take all frames (call_stack.h). Frames of
// the import machinery are left out, as in Python's own tracebacks: what MPI is told during an import is the
// importer's.
//
// A line that was seen before is found by its code object and instruction. Code objects end without telling anybody,
// and others come to where they were: so what made the line (names, first line, the end of what the table of locations
// said) is compared by a hash each time. What lies farther than kHashed bytes before that end is not compared.
//
// Memory from the arena. Cost: some 30 ns, some microseconds for a line that is new. Without an interpreter that is
// known (python_frames.h), and without memory, nothing is found and the caller keeps the site that it has.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>

#include "base/arena.h"
#include "mpi/names/python_frames.h"
#include "mpi/names/sites.h"

namespace cairn::recorder {

class PythonSites {
 public:
  static constexpr size_t kHashed = 256;

  /// `interpreter`: nullptr if none is known yet.
  PythonSites(Arena &arena, Modules &modules, const cpython::Interpreter *interpreter = nullptr)
      : arena_(arena), modules_(modules), interpreter_(interpreter) {}

  /// The site of a call out of mpi4py, `plain` without callers; `plain` itself if no Python line is known.
  Site *find(Site *plain);
  /// To be called where there is a sign of Python: other programs are not searched, since the linker takes memory of
  /// theirs to say that it found nothing. Searches once.
  void look_for_python();
  /// Whether lines can be told at all.
  [[nodiscard]] bool knows_python() const { return interpreter_ != nullptr; }
  /// The thread's innermost loop; nullptr if there is none.
  [[nodiscard]] const cpython::Loop *loop() const { return interpreter_ == nullptr ? nullptr : interpreter_->loop(); }
  /// nullptr if the frame isn't shown, or nothing can be known of it: `lost` says which.
  Site *site(const cpython::Frame &frame);

 private:
  struct Known {
    const cpython::Code *code;  ///< nullptr: a free place
    const uint16_t *instruction;
    uint64_t hash;
    size_t known_from;  ///< cpython::Line::known_from
    Site *site;         ///< nullptr: not shown, or lost
    bool lost;          ///< there was no room for it
  };
  /// Where `code` and `instruction` are, or may be entered; `known_` must not be empty.
  Known *place(const cpython::Code *code, const uint16_t *instruction);
  bool grow();
  void make(const cpython::Code &code, size_t place, Known *known);

  Arena &arena_;
  Modules &modules_;
  const cpython::Interpreter *interpreter_;
  bool searched_ = false;
  bool lost_ = false;  ///< what `site` was asked about last
  Known *known_ = nullptr;
  size_t mask_ = 0;
  size_t used_ = 0;
  char file_[PATH_MAX];
  char function_[512];
};

}  // namespace cairn::recorder
