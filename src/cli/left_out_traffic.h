// What the verbs that tell traffic say of what they had to leave out, and of what they had to expand.
#pragma once

#include "traffic/traffic.h"

namespace cairn::cli {

void say_left_out(const traffic::Seen &seen);

}  // namespace cairn::cli
