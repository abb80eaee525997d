#include "terminal/launcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// The number that the variable holds; nothing if it is not there or holds something else.
std::optional<uint64_t> number_in(const char *variable) {
  const char *text = variable == nullptr ? nullptr : getenv(variable);
  if (text == nullptr) return std::nullopt;
  const std::string_view word(text);
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

/// What launchers tell the processes that they start. SLURM_PROCID and SLURM_NTASKS are no such thing: a batch script's
/// own shell has them too.
struct Told {
  const char *rank;
  const char *size;
  const char *command;
};
constexpr std::array<Told, 9> kTold = {{
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "mpiexec"},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "srun"},
    {"PMI_RANK", "PMI_SIZE", "mpiexec"},
    {"PALS_RANKID", "PALS_SIZE", "mpiexec"},
    {"FLUX_TASK_RANK", "FLUX_JOB_SIZE", "flux run"},
    {"JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", "jsrun"},
    {"ALPS_APP_PE", nullptr, "aprun"},
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "mpiexec"},
    {"PMIX_RANK", nullptr, "mpiexec"},
}};

/// Of Slurm: the step is one that somebody has started, not the shell of a batch script or of an interactive
/// allocation, which have numbers of their own and may inherit how many tasks there are.
bool is_started_step() {
  constexpr uint64_t kFirstSpecial = 0xfffffff0U;
  const auto step = number_in("SLURM_STEP_ID");
  return step && *step < kFirstSpecial;
}

std::string base_of(const std::string &word) { return fs::path(word).filename().string(); }

bool begins_with(const std::string &word, const std::vector<std::string_view> &any) {
  return std::any_of(any.begin(), any.end(), [&](std::string_view each) { return word.starts_with(each); });
}

bool is_one_of(const std::string &word, const std::vector<std::string_view> &any) {
  return std::find(any.begin(), any.end(), word) != any.end();
}

/// How many words behind that option are its values, as far as launchers and their like have it in common. Of an option
/// that is not known, the next word is taken for its value.
size_t values_of(const std::string &option) {
  static const std::vector<std::string_view> two = {"-env",  "-genv",  "--env",     "--genv",   "-mca",
                                                    "--mca", "--gmca", "--pmixmca", "--prtemca"};
  static const std::vector<std::string_view> none = {"-",
                                                     "--",
                                                     "-i",
                                                     "-E",
                                                     "-l",
                                                     "-v",
                                                     "-q",
                                                     "--quiet",
                                                     "--verbose",
                                                     "-verbose",
                                                     "--label",
                                                     "--pty",
                                                     "--exclusive",
                                                     "--overlap",
                                                     "--unbuffered",
                                                     "-genvnone",
                                                     "-genvall",
                                                     "-envnone",
                                                     "-envall",
                                                     "-prepend-rank",
                                                     "--oversubscribe",
                                                     "--nooversubscribe",
                                                     "--tag-output",
                                                     "--report-bindings",
                                                     "--allow-run-as-root",
                                                     "--use-hwthread-cpus",
                                                     "--ignore-environment",
                                                     "--foreground",
                                                     "--preserve-status",
                                                     "-oversubscribe",
                                                     "-tag-output"};
  if (is_one_of(option, two)) return 2;
  return option.find('=') != std::string::npos || is_one_of(option, none) ? 0 : 1;
}

/// The beginning of a script that the word names; empty if it names none.
std::string script_text(const std::string &path) {
  constexpr size_t kMost = size_t{1} << 18;
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return {};
  std::ifstream file(path, std::ios::binary);
  std::string text(2, '\0');
  if (!file.read(text.data(), 2) || text != "#!") return {};
  text.resize(kMost);
  file.read(text.data() + 2, kMost - 2);
  text.resize(2 + static_cast<size_t>(file.gcount()));
  return text;
}

/// What a shell is told to do to the environment of what it starts.
std::string dropped_by_shell(const std::string &text) {
  constexpr std::string_view kSets = "LD_PRELOAD=";
  for (size_t at = text.find(kSets); at != std::string::npos; at = text.find(kSets, at + 1)) {
    const std::string line = text.substr(at, text.find('\n', at) - at);
    if (line.find("$LD_PRELOAD") == std::string::npos && line.find("${LD_PRELOAD") == std::string::npos &&
        line.find("libcairn") == std::string::npos) {
      return "replaces LD_PRELOAD";
    }
  }
  if (text.find("unset LD_PRELOAD") != std::string::npos) return "unsets LD_PRELOAD";
  return text.find("env -i") != std::string::npos ? "has env -i" : "";
}

/// What `env`, whose own words begin at `i`, does.
std::string dropped_by_env(const Words &command, size_t i) {
  for (; i < command.size(); ++i) {
    const std::string &word = command[i];
    if (word == "-" || word == "--ignore-environment" || (word.starts_with("-i") && word.size() < 4)) {
      return "env " + word + " drops LD_PRELOAD";
    }
    const bool unsets = word == "-u" || word == "--unset";
    if (word == "--unset=LD_PRELOAD" || word == "-uLD_PRELOAD" ||
        (unsets && i + 1 < command.size() && command[i + 1] == "LD_PRELOAD")) {
      return "env drops LD_PRELOAD";
    }
    if (unsets) ++i;
    if (!word.starts_with('-') && word.find('=') == std::string::npos) break;
  }
  return {};
}

/// Slurm's --export: whether its value leaves LD_PRELOAD out.
bool is_left_out(const std::string &exported) {
  return exported.find("ALL") == std::string::npos && exported.find("LD_PRELOAD") == std::string::npos;
}

}  // namespace

std::optional<Launched> launched() {
  for (const Told &told : kTold) {
    const auto rank = number_in(told.rank);
    const auto size = number_in(told.size);
    if (!rank || (told.size != nullptr && !size)) continue;
    if (std::string_view(told.rank) == "SLURM_PROCID" && !is_started_step()) continue;
    // The only process of its launcher: an interactive shell of srun, or mpiexec -n 1.
    if (size && *size <= 1) return std::nullopt;
    return Launched{size ? fmt::format("{} -n {}", told.command, *size) : told.command, *rank, size};
  }
  return std::nullopt;
}

bool is_launcher(const std::string &word) {
  const std::string name = base_of(word);
  return begins_with(name, {"mpiexec", "mpirun"}) ||
         is_one_of(name, {"srun", "prun", "prterun", "orterun", "aprun", "jsrun", "flux", "ibrun"});
}

std::vector<bool> program_places(const Words &command) {
  std::vector<bool> places(command.size(), false);
  for (size_t i = 0; i < command.size(); ++i) {
    if (i == 0 || command[i].empty() || command[i][0] != '-') {
      places[i] = true;
    } else {
      i += values_of(command[i]);
    }
  }
  return places;
}

std::string what_drops_preload(const Words &command) {
  const std::vector<bool> places = program_places(command);
  for (size_t i = 0; i < command.size(); ++i) {
    const std::string &word = command[i];
    const std::string next = i + 1 < command.size() ? command[i + 1] : "";
    if (places[i] && base_of(word) == "env") {
      if (std::string dropped = dropped_by_env(command, i + 1); !dropped.empty()) return dropped;
    }
    if (places[i] && is_one_of(base_of(word), {"sudo", "ssh"})) return base_of(word) + " drops LD_PRELOAD";
    if (is_one_of(word, {"-env", "-genv", "--env", "--genv"}) && next == "LD_PRELOAD") {
      return word + " LD_PRELOAD replaces LD_PRELOAD";
    }
    const bool is_text = word.find(' ') != std::string::npos;
    if (!is_text && (word.starts_with("LD_PRELOAD=") || word.starts_with("--env=LD_PRELOAD=")))
      return word + " replaces LD_PRELOAD";
    if (is_one_of(word, {"-genvnone", "-envnone"})) return word + " drops LD_PRELOAD";
    if (is_one_of(word, {"-genvlist", "-envlist"}) && next.find("LD_PRELOAD") == std::string::npos) {
      return word + " leaves LD_PRELOAD out";
    }
    if ((word == "--export" && is_left_out(next)) || (word.starts_with("--export=") && is_left_out(word))) {
      return word + " leaves LD_PRELOAD out";
    }
    // What `sh -c` is given, and scripts.
    if (std::string dropped = dropped_by_shell(is_text ? word : ""); !dropped.empty()) {
      return "what the shell runs " + dropped;
    }
    if (std::string dropped = dropped_by_shell(places[i] ? script_text(word) : ""); !dropped.empty()) {
      return word + " " + dropped;
    }
  }
  return {};
}

}  // namespace cairn::cli
