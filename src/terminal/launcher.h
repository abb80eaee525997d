// What starts the processes of a parallel program: mpiexec, srun and their like. Looks at words and at the environment
// only; nothing is run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cairn::cli {

/// This process is one of several that a launcher has started.
struct Launched {
  std::string command;           ///< what started it, as far as that is known: "srun -n 4"
  uint64_t rank = 0;             ///< which of them
  std::optional<uint64_t> size;  ///< how many they are, where it is told
};
/// Nothing for a process that stands alone: a batch script's own shell, or the only process of a launcher.
std::optional<Launched> launched();

/// "mpiexec", "/opt/bin/mpirun.openmpi", "srun", …
bool is_launcher(const std::string &word);

/// Which words of a command can be programs that it starts, by their place: not options, and not what follows an option
/// that may take a value. The first is one.
std::vector<bool> program_places(const std::vector<std::string> &command);

/// "-genv LD_PRELOAD replaces LD_PRELOAD": what in the words of a command, or in a script that it names, keeps from the
/// program what `cairn record` sets for it; empty if nothing is seen that does.
std::string what_drops_preload(const std::vector<std::string> &command);

}  // namespace cairn::cli
