#include "cli/recording.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli/retiming.h"
#include "spec/spec.h"
#include "terminal/executable.h"
#include "terminal/installation.h"
#include "terminal/words.h"

namespace cairn::cli {
namespace fs = std::filesystem;

void add_timing_option(Options &verb, std::vector<std::string> &timing, const std::string &usual) {
  std::vector<std::string> modes;
  std::string help;
  for (const timing::Mode &mode : timing::modes()) {
    modes.emplace_back(mode.name);
    help += fmt::format("{}{}: {}", help.empty() ? "" : "; ", mode.name, mode.help);
  }
  verb.repeated("--timing", timing,
                help + usual + ". With a bound: context:rel=5%; GLOB=BOUND: another one for functions that match",
                "MODE", modes);
}

void add_recording_options(Options &verb, RecordingOptions &options) {
  verb.text("-o,--output", options.output, "Trace to write (run.cairn)", "FILE");
  add_timing_option(verb, options.timing, fmt::format(" ({})", timing::modes()[0].name));
  verb.choice("--callsites", options.callsites, {"site", "stack", "none"},
              "What tells calls apart: site, stack or none (site)", "WHAT");
  verb.text("--memory", options.memory, "What the recorder may use in each process (64M)", "SIZE");
  verb.choice("--merge", options.merge, {"tree", "after"},
              "tree: within MPI_Finalize; after: without communication (tree)", "HOW");
  verb.text("--oracle", options.oracle, "Also log every call uncompressed there, for verify --against", "DIR");
  verb.text("--spool", options.spool, "Where a folder is made for what processes can't merge (FILE.spool)", "DIR");
  verb.choice("--start", options.start, {"on", "off"}, "off: record nothing until the program turns tracing on (on)",
              "HOW");
  verb.repeated("--exclude", options.exclude,
                "Leave out functions that match, as in 'MPI_*probe'; comm:NAME: communicators", "GLOB");
  verb.flag("--no-command", options.no_command, "Keep the command line and MPI_Init's arguments out of the trace");
  verb.flag("-q,--quiet", options.quiet, "Say nothing when all is well");
  verb.flag("-f,--force", options.force, "Overwrite an existing trace");
}

Result<uint64_t> parse_size(const std::string &text) {
  uint64_t value = 0;
  const char *end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  std::string unit(stop, static_cast<size_t>(end - stop));
  if (unit.size() == 3 && unit.ends_with("iB")) unit.resize(1);
  if (unit.size() == 2 && unit.ends_with("B")) unit.resize(1);
  const std::string_view units = "KMG";
  const size_t which = unit.empty() ? 0 : units.find(static_cast<char>(unit[0] & ~0x20));
  const size_t scale = unit.empty() ? 0 : which == std::string_view::npos ? 4 : which + 1;
  if (error != std::errc() || unit.size() > 1 || scale > 3 || value > UINT64_MAX >> (10 * scale)) {
    return fail(ErrorKind::usage, fmt::format("'{}' is no size", text), "write sizes as in --memory 64M");
  }
  value <<= 10 * scale;
  if (value < 1U << 20) {
    return fail(ErrorKind::usage, fmt::format("{} is too little memory to record anything", text), "give at least 1M");
  }
  return value;
}

namespace {

/// Each pattern must mean something.
Result<void> check_excluded(const std::vector<std::string> &patterns) {
  size_t length = 0;
  for (const std::string &pattern : patterns) {
    length += pattern.size() + 1;
    if (pattern.find(',') != std::string::npos) {
      return fail(ErrorKind::usage, fmt::format("--exclude {}: a comma", pattern), "give --exclude several times");
    }
    const auto functions = spec::functions();
    const bool known = pattern.starts_with("comm:") ||
                       std::any_of(functions.begin(), functions.end(), [&](const spec::Function &function) {
                         return fnmatch(pattern.c_str(), function.name, 0) == 0;
                       });
    if (!known) {
      return fail(ErrorKind::usage, fmt::format("--exclude {}: no MPI function is called so", pattern),
                  "write patterns of their names, as in 'MPI_*probe', or comm:NAME");
    }
  }
  constexpr size_t kMost = 511;
  if (length > kMost) return fail(ErrorKind::usage, "the patterns of --exclude are too long", "use fewer, with *");
  return {};
}

}  // namespace

Result<Recording> resolve(const RecordingOptions &options) {
  Recording recording;
  const auto memory = parse_size(options.memory);
  if (!memory) return tl::unexpected(memory.error());
  recording.memory = *memory;
  if (auto known = check_excluded(options.exclude); !known) return tl::unexpected(known.error());
  const auto timing = timing_setting(options.timing);
  if (!timing) return tl::unexpected(timing.error());
  recording.timing = *timing;
  if (options.output.empty()) return fail(ErrorKind::usage, "the name of the trace is empty", "give one with -o");
  std::error_code error;
  const auto absolute = [&](const std::string &path) { return fs::absolute(path, error).lexically_normal().string(); };
  recording.output = absolute(options.output);
  recording.place = absolute(options.spool.empty() ? options.output + ".spool" : options.spool);
  if (!options.oracle.empty()) recording.oracle = absolute(options.oracle);
  auto library = find_library();
  if (!library) return tl::unexpected(library.error());
  recording.library = *std::move(library);
  return recording;
}

Result<void> timed_at_once(const Recording &recording) {
  if (!recording.timing.is_after()) return {};
  return fail(ErrorKind::usage,
              fmt::format("--timing {}: that is made once the run has ended", recording.timing.text()),
              "record with --timing lossless, then give it to cairn repack");
}

Result<void> make_folders(Recording *recording, std::string_view shared) {
  auto folder = shared.empty() ? spool::make_folder(recording->place) : spool::share_folder(recording->place, shared);
  if (!folder) return tl::unexpected(folder.error());
  recording->spool = *std::move(folder);
  if (recording->oracle.empty()) return {};
  std::error_code error;
  fs::create_directories(recording->oracle, error);
  if (!error && access(recording->oracle.c_str(), W_OK | X_OK) == 0) return {};
  const std::string why = error ? error.message() : std::strerror(errno);
  spool::remove_if_empty(recording->spool);
  return tl::unexpected(Error{ErrorKind::environment, fmt::format("cannot make the folder for the oracle: {}", why),
                              recording->oracle, Error::kNoOffset, "choose a place that can be written"});
}

std::vector<std::pair<std::string, std::string>> recording_environment(const RecordingOptions &options,
                                                                       const Recording &recording,
                                                                       const std::vector<std::string> &command) {
  std::vector<std::pair<std::string, std::string>> variables = {
      {"CAIRN_OUTPUT", recording.output},
      {"CAIRN_SPOOL", recording.spool.path},
      {"CAIRN_TIMING", recording.timing.is_after() ? "lossless" : recording.timing.text()},
      {"CAIRN_CALLSITES", options.callsites},
      {"CAIRN_MEMORY", fmt::format("{}", recording.memory)},
      {"CAIRN_MERGE", options.merge},
  };
  if (!recording.oracle.empty()) variables.emplace_back("CAIRN_ORACLE", recording.oracle);
  if (options.quiet) variables.emplace_back("CAIRN_QUIET", "1");
  if (options.start == "off") variables.emplace_back("CAIRN_START", "off");
  if (!options.exclude.empty())
    variables.emplace_back("CAIRN_EXCLUDE", fmt::format("{}", fmt::join(options.exclude, ",")));
  if (options.no_command) {
    variables.emplace_back("CAIRN_NO_COMMAND", "1");
  } else if (!command.empty()) {
    variables.emplace_back("CAIRN_COMMAND", shell_quoted(command));
  }
  const std::vector<Executable> executables = executables_of(command);
  // It ends a program whose libraries come in another order than it wants, which here is as good.
  if (std::any_of(executables.begin(), executables.end(), has_asan)) {
    const char *set = getenv("ASAN_OPTIONS");
    variables.emplace_back("ASAN_OPTIONS", fmt::format("{}{}verify_asan_link_order=0", set == nullptr ? "" : set,
                                                       set == nullptr || *set == '\0' ? "" : ":"));
  }
  // A program of musl's would not start.
  if (std::none_of(executables.begin(), executables.end(), [](const Executable &each) { return each.is_musl; })) {
    variables.emplace_back("LD_PRELOAD", preload_value(recording.library));
  }
  return variables;
}

std::string preload_value(const std::string &library) {
  const char *set = getenv("LD_PRELOAD");
  return set == nullptr || *set == '\0' ? library : library + ":" + set;
}

}  // namespace cairn::cli
