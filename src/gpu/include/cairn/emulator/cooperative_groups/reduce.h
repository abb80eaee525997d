// Where CUDA has it; see ../cooperative_groups.h.
#pragma once

#include "cairn/emulator/cooperative_groups.h"
