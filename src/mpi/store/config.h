// What the environment asks of the recorder, as the process was given it (`cairn record`, `cairn exec` and `cairn env`
// set it).
#pragma once

#include <cstddef>
#include <cstdint>

#include "timing/setting.h"

namespace cairn::recorder {

struct Config {
  static constexpr size_t kDefaultMemory = 64u << 20;

  const char *output = nullptr;    ///< CAIRN_OUTPUT: absolute path of the trace; nullptr: record nothing
  const char *spool = nullptr;     ///< CAIRN_SPOOL: folder for what ranks leave on their own; nullptr: none
  const char *oracle = nullptr;    ///< CAIRN_ORACLE: folder for the uncompressed log; nullptr: none
  const char *command = "";        ///< CAIRN_COMMAND
  bool statistics = true;          ///< what CAIRN_TIMING's mode keeps (timing_setting)
  bool times = false;              ///< the same
  bool gaps = false;               ///< the same
  uint64_t blocks_from = 65536;    ///< CAIRN_BLOCKS: mean bytes of times from which ranks write their own
  size_t bundles_from = 1u << 20;  ///< CAIRN_BUNDLES: bytes of packed classes that a part may hold on its way
  bool call_sites = true;          ///< CAIRN_CALLSITES=none (or off)
  bool call_stacks = false;        ///< CAIRN_CALLSITES=stack
  bool merge_after = false;        ///< CAIRN_MERGE=after
  bool start_off = false;          ///< CAIRN_START=off: tracing is off until the program turns it on
  const char *exclude = "";        ///< CAIRN_EXCLUDE: patterns of functions, comm:PATTERN of communicators, with commas
  bool no_command = false;         ///< CAIRN_NO_COMMAND: nor what MPI_Init and MPI_Comm_spawn are given of it
  bool quiet = false;              ///< CAIRN_QUIET
  size_t memory = kDefaultMemory;  ///< CAIRN_MEMORY: limit of the arena, bytes

  long merge_pause_ms = 0;  ///< CAIRN_MERGE_PAUSE: between the steps of a merge in MPI_Finalize, for tests
  long spill_pause_ms = 0;  ///< CAIRN_SPILL_PAUSE: before a spilled segment gets its name, for tests

  /// `setting` gives the value of a variable, here and from now on in timing_setting; nullptr if there is none.
  static Config from(const char *(*setting)(const char *name));
};

/// CAIRN_TIMING; the usual mode if that says nothing that is known. Lives as long as the process.
const timing::Setting &timing_setting();

}  // namespace cairn::recorder
