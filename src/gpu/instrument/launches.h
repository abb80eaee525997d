// Kernels get a last parameter, and every launch a last argument that says what is launched, how large and on which
// stream. For the emulator, which has no compiler behind it that knows `<<<>>>`, launches become a macro.
#pragma once

#include "gpu/instrument/program.h"

namespace cairn::instrument {

/// The parameter in every declaration and explicit instantiation of every traced kernel.
void put_parameters(Program &program);
/// For the emulator: what is `extern __shared__` becomes a reference to its memory.
void put_dynamic_shared(Program &program);
/// For the emulator: inline PTX in device code becomes a call of what knows some of it.
void put_ptx(Program &program);
void put_launches(Program &program, bool points, bool emulator);

}  // namespace cairn::instrument
