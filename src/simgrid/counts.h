// Counts of what was written of a run for SMPI's replay. Plain values.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace cairn::simgrid {

/// What was written, and what was not.
struct Counts {
  uint64_t lines = 0;
  uint64_t sends = 0;  ///< of the program, not of what collective operations became
  uint64_t receives = 0;
  uint64_t bytes = 0;                        ///< of these sends
  uint64_t collectives = 0;                  ///< a rank's part in an operation counts as one
  uint64_t in_messages = 0;                  ///< of them, those that became messages
  double computed_ns = 0;                    ///< by all ranks
  uint64_t longest_ns = 0;                   ///< of a rank, from MPI_Init's end to MPI_Finalize's begin; 0: not known
  std::map<std::string, uint64_t> left_out;  ///< by why
  std::map<std::string, uint64_t> inexact;   ///< what is there in another way than it was, by how
};

}  // namespace cairn::simgrid
