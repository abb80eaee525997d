// Stands in for <cuda_runtime_api.h> under the emulator: all that there is of CUDA is in cuda_runtime.h.
#pragma once

#include "cuda_runtime.h"
