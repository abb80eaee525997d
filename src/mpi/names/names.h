// Names: the tables by which raw values of one process get their names, one of each.
//
// Part of the Process at the front of the arena (store/process.h); the tables lie in the arena, too. Made when the
// recorder is attached, before any call is recorded, and there until the process ends. What threads may do with a table
// stands at the table. Every call reads the first two words.
#pragma once

#include <cstdint>

#include "mpi/names/places.h"

namespace cairn::recorder {

class AddressSpace;
class HandleTable;
class Modules;
struct LocalValues;
struct Site;

struct Names {
  HandleTable *handles;
  const volatile uint32_t *preload_epoch;  ///< preload.h: grows when memory that MPI has seen goes
  AddressSpace *addresses;
  Modules *modules;
  PlacePool comm_numbers;
  Site *function_sites;  ///< without call sites: one pseudo-site a function, by id
  LocalValues *local;
};

}  // namespace cairn::recorder
