// Stands in for <vector_functions.h> under the emulator: all that there is of CUDA is in cuda_runtime.h.
#pragma once

#include "cuda_runtime.h"
