// What `cairn export --to simgrid` and `cairn replay --simulate` do: a run as actions for SimGrid's SMPI, written, and
// replayed on a platform that need not be there.
#pragma once

#include <string>

#include "simgrid/export.h"
#include "trace/read/trace.h"

namespace cairn::cli {

/// Into a new folder; gives the exit code.
int write_simgrid(const trace::Trace &trace, const std::string &file, const std::string &folder,
                  const simgrid::ExportSettings &settings);

struct Simulation {
  /// A platform file, or a platform that we make: kCluster, kIdeal.
  std::string platform;
  std::string scratch;  ///< where a folder of our own is made
  bool gaps = true;
  bool keep = false;  ///< the folder
  bool quiet = false;
};
constexpr const char *kCluster = "cluster";
constexpr const char *kIdeal = "ideal";

/// Tells how long the run takes there, on stdout; gives the exit code: kNegative where SimGrid found a fault.
int simulate(const trace::Trace &trace, const std::string &file, const Simulation &simulation);

}  // namespace cairn::cli
