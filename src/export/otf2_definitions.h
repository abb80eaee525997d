// What an OTF2 archive says of functions and communicators, apart from its events. For otf2.cc only.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "export/kernels.h"
#include "export/scope.h"

namespace cairn::exporting {

OTF2_RegionRole role_of(uint32_t function);
OTF2_CollectiveOp operation_of(uint32_t function);

struct Otf2Location {
  uint64_t number = 0;
  uint32_t rank = 0;
  uint32_t thread = 0;
  uint64_t events = 0;
  uint32_t stream = kNoStream;  ///< else of a GPU, which of Kernels::streams
  static constexpr uint32_t kNoStream = UINT32_MAX;
};

struct Otf2Run {
  const Scope *scope = nullptr;
  std::vector<Otf2Location> locations;    ///< each rank's first is of its first thread
  std::vector<uint64_t> first_locations;  ///< by rank in MPI_COMM_WORLD
  Kernels kernels;
  std::map<std::string, uint32_t> kernel_regions;  ///< by the kernel's name; behind those of calls
  uint64_t last_ns = 0;
};

/// All definitions of the run. `writer` must be an archive's global one.
OTF2_ErrorCode write_definitions(OTF2_GlobalDefWriter *writer, const Otf2Run &run);

}  // namespace cairn::exporting
