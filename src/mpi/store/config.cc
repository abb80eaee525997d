#include "mpi/store/config.h"

#include <cstdlib>
#include <cstring>

namespace cairn::recorder {
namespace {

/// Of the environment.
const char *from_environment(const char *name) { return getenv(name); }
const char *(*setting)(const char *) = from_environment;

const char *text(const char *name) {
  const char *value = setting(name);
  return value != nullptr && value[0] != '\0' ? value : nullptr;
}

bool is(const char *value, const char *wanted) { return value != nullptr && strcmp(value, wanted) == 0; }

}  // namespace

Config Config::from(const char *(*preloads)(const char *)) {
  setting = preloads;
  Config config;
  config.output = text("CAIRN_OUTPUT");
  config.spool = text("CAIRN_SPOOL");
  config.oracle = text("CAIRN_ORACLE");
  if (const char *command = text("CAIRN_COMMAND")) config.command = command;
  config.statistics = timing_setting().mode->statistics;
  config.times = timing_setting().mode->decode != nullptr;
  config.gaps = timing_setting().mode->gaps;
  if (const char *blocks = text("CAIRN_BLOCKS")) config.blocks_from = strtoull(blocks, nullptr, 10);
  if (const char *bundles = text("CAIRN_BUNDLES")) config.bundles_from = strtoull(bundles, nullptr, 10);
  const char *call_sites = text("CAIRN_CALLSITES");
  config.call_sites = !is(call_sites, "none") && !is(call_sites, "off");
  config.call_stacks = is(call_sites, "stack");
  // Several programs in one job: one of them may have no recorder, and merging would wait for it.
  const char *programs = text("OMPI_NUM_APP_CTX");
  config.merge_after = is(text("CAIRN_MERGE"), "after") || (programs != nullptr && atoi(programs) > 1);
  if (const char *pause = text("CAIRN_MERGE_PAUSE")) config.merge_pause_ms = strtol(pause, nullptr, 10);
  if (const char *pause = text("CAIRN_SPILL_PAUSE")) config.spill_pause_ms = strtol(pause, nullptr, 10);
  config.start_off = is(text("CAIRN_START"), "off");
  if (const char *exclude = text("CAIRN_EXCLUDE")) config.exclude = exclude;
  config.no_command = text("CAIRN_NO_COMMAND") != nullptr;
  config.quiet = text("CAIRN_QUIET") != nullptr;
  if (const char *memory = text("CAIRN_MEMORY")) {
    const unsigned long long bytes = strtoull(memory, nullptr, 10);
    // Below a megabyte the recorder could not even hold its own tables.
    config.memory = bytes < (1u << 20) ? (1u << 20) : static_cast<size_t>(bytes);
  }
  return config;
}

const timing::Setting &timing_setting() {
  static const auto *const setting = [] {
    const char *wanted = text("CAIRN_TIMING");
    Result<timing::Setting> parsed = timing::parse_setting(wanted == nullptr ? timing::modes()[0].name : wanted);
    if (!parsed) parsed = timing::parse_setting(timing::modes()[0].name);
    if (parsed->is_after()) parsed = timing::parse_setting("lossless");
    return new timing::Setting(*std::move(parsed));  // threads of the program outlive this library's own objects
  }();
  return *setting;
}

}  // namespace cairn::recorder
