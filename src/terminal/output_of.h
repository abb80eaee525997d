// What a program prints, and its exit code. Both of its outputs go to files in memory, so that neither can fill up
// while the other is read. Cost: the program, and memory for what it prints.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"

namespace cairn::cli {

struct Printed {
  int code = 0;       ///< 128 plus the number of the signal that killed it
  std::string out;    ///< stdout
  std::string error;  ///< stderr
  bool late = false;  ///< it was killed, since it took too long
};

/// `command`: the path of the program, and its words. It is killed if it has not ended `within` that; 0: however long
/// it takes. An environment error if it cannot be started. Any thread.
Result<Printed> output_of(const std::vector<std::string> &command, std::chrono::seconds within = {});

}  // namespace cairn::cli
