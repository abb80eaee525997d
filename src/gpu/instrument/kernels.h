// Finds what is to be instrumented before anything is: device functions, kernels with all their declarations, launches,
// and every other use of a kernel. A kernel's type changes with its last parameter, so all that names it must be
// changed with it or the kernel stays as it is.
#pragma once

#include "gpu/instrument/program.h"

namespace cairn::instrument {

/// Fills functions, kernels (numbered, with why one stays untraced) and launches from the unit's code in our files.
/// Several units are one program, linked together.
void survey(Program &program, const std::vector<CXTranslationUnit> &units);

/// The configuration of a launch, `<<<...>>>`, or null if `call` is no launch.
CXCursor configuration_of(CXCursor call);

/// The kernel that `cudaLaunchKernel` and its like are given, without casts and `&` around its name.
CXCursor kernel_in(CXCursor argument);

/// Where a kernel's declaration gets one more parameter.
struct ParameterPlace {
  bool found = false;
  uint32_t offset = 0;       ///< of the closing bracket
  bool is_first = false;     ///< no comma before it
  bool has_default = false;  ///< the parameters before it have: it needs one
  Span void_word;            ///< `(void)`, which has to go, or empty
};
ParameterPlace parameter_place(const Source &source, CXCursor declaration);

}  // namespace cairn::instrument
