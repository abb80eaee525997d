// What `record`, `exec` and `env` share: the options of a recording and the environment that tells the injected
// library.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "spool/folder.h"
#include "terminal/options.h"
#include "timing/setting.h"

namespace cairn::cli {

struct RecordingOptions {
  std::string output = "run.cairn";
  std::vector<std::string> timing;
  std::string callsites = "site";
  std::string memory = "64M";
  std::string merge = "tree";
  std::string oracle;
  std::string spool;  ///< where the folder for what processes leave is made; empty: OUTPUT.spool
  std::string start = "on";
  std::vector<std::string> exclude;
  bool no_command = false;
  bool quiet = false;
  bool force = false;
  bool named = false;  ///< the user named the trace; under the name that it has otherwise, an earlier one is kept aside
};

/// --timing, with the modes that there are; `usual` is what holds without it.
void add_timing_option(Options &verb, std::vector<std::string> &timing, const std::string &usual);
void add_recording_options(Options &verb, RecordingOptions &options);

/// Paths made absolute, sizes made numbers, and what is injected.
struct Recording {
  std::string output;
  std::string place;    ///< where the spool is made
  spool::Folder spool;  ///< once it is made
  std::string oracle;   ///< or empty
  std::string library;
  timing::Setting timing;  ///< with rules of call sites: recorded exactly, changed once their lines are known
  uint64_t memory = 0;
};
Result<Recording> resolve(const RecordingOptions &options);
/// "64M" → bytes; K, M, G or nothing; at least 1 MiB.
Result<uint64_t> parse_size(const std::string &text);

/// Those for the spool, which is `recording->spool` then, and the oracle's logs. `shared`: what the spool is called
/// where several processes make one together.
Result<void> make_folders(Recording *recording, std::string_view shared = {});

/// Where nobody changes a trace once it is there: an error if bounds of call sites were asked for.
Result<void> timed_at_once(const Recording &recording);

/// NAME=value pairs that inject the library and tell it what to do.
std::vector<std::pair<std::string, std::string>> recording_environment(const RecordingOptions &options,
                                                                       const Recording &recording,
                                                                       const std::vector<std::string> &command);
/// `library` before what LD_PRELOAD holds already.
std::string preload_value(const std::string &library);

}  // namespace cairn::cli
