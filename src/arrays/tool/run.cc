// cairn arrays run: becomes a command whose programs have the layer over PnetCDF in them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string_view>

#include "arrays/file/codec_words.h"
#include "arrays/tool/preload.h"
#include "arrays/tool/text.h"
#include "arrays/tool/verbs.h"
#include "terminal/child.h"
#include "terminal/executable.h"
#include "terminal/terminal.h"

namespace cairn::array_tool {
namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

struct RunOptions {
  std::string codec;
  std::string layout;
  std::string split;
  std::string chain;
  std::optional<double> ratio;
  std::optional<double> error;
  std::string library;
  bool quiet = false;
};

Result<std::string> find_layer(const RunOptions &options) {
#ifdef CAIRN_PNETCDF_MPI
  return find_library("libcairn-arrays.so", options.library, "install cairn as a whole, or name it with --library");
#else
  return find_library("libcairn-arrays.so", options.library,
                      "this cairn was built without PnetCDF: install libpnetcdf-dev and build it again, or name the "
                      "layer with --library");
#endif
}

Result<Variables> environment_of(const RunOptions &options) {
  // What nobody asks for here is as the environment has it.
  Variables variables;
  const auto choose = [&](const char *name, const std::string &asked, const char *otherwise) {
    const char *there = getenv(name);
    std::string chosen = !asked.empty() ? asked : there != nullptr && *there != '\0' ? there : otherwise;
    variables.emplace_back(name, chosen);
    return chosen;
  };
  const auto codecs = arrays::parse_codec_words(choose("CAIRN_ARRAYS_CODEC", options.codec, "auto"));
  if (!codecs) return tl::unexpected(codecs.error());
  const std::string layout = choose("CAIRN_ARRAYS_LAYOUT", options.layout, "dense");
  if (!options.split.empty()) {
    const auto split = parse_split(options.split);
    if (!split) return tl::unexpected(split.error());
    variables.emplace_back("CAIRN_ARRAYS_SPLIT", fmt::format("{}", *split));
  }
  if (!options.chain.empty()) {
    if (const auto chain = arrays::parse_chain(options.chain); !chain) return tl::unexpected(chain.error());
    variables.emplace_back("CAIRN_ARRAYS_CHAIN", options.chain);
  }
  if ((options.ratio || options.error) && layout != "hybrid") {
    return fail(ErrorKind::usage, "--ratio and --error are for --layout hybrid", "choose that, or leave them out");
  }
  const double ratio = options.ratio.value_or(1);
  const double error = options.error.value_or(0);
  if (!std::isfinite(ratio) || !std::isfinite(error) || error < 0 || ratio - error <= 0) {
    return fail(ErrorKind::usage, "a ratio less its error has to be above 0", "write as in --ratio 2 --error 0.5");
  }
  if (options.ratio) variables.emplace_back("CAIRN_ARRAYS_RATIO", fmt::format("{}", ratio));
  if (options.error) variables.emplace_back("CAIRN_ARRAYS_ERROR", fmt::format("{}", error));
  return variables;
}

/// Whether a program brings PnetCDF itself, where nothing can be preloaded in front of it: its functions' names are in
/// the file, but no shared library of that name is wanted.
bool brings_pnetcdf(const cli::Executable &program) {
  const auto shared = [](const std::string &each) { return each.starts_with("libpnetcdf.so"); };
  if (std::any_of(program.libraries.begin(), program.libraries.end(), shared)) return false;
  constexpr std::string_view kName = "ncmpi_def_dim";  // also in messages, which stripping leaves
  std::ifstream in(program.path, std::ios::binary);
  std::string text(size_t{1} << 20, '\0');
  size_t kept = 0;  // of the stretch before: the name may lie across two
  while (in) {
    in.read(text.data() + kept, static_cast<std::streamsize>(text.size() - kept));
    const size_t held = kept + static_cast<size_t>(in.gcount());
    if (std::string_view(text.data(), held).find(kName) != std::string_view::npos) return true;
    kept = std::min(held, kName.size() - 1);
    std::copy_n(text.begin() + static_cast<std::ptrdiff_t>(held - kept), kept, text.begin());
  }
  return false;
}

void warn_of_static_programs(const std::vector<cli::Executable> &programs) {
  for (const cli::Executable &program : programs) {
    if (!brings_pnetcdf(program)) continue;
    cli::say(
        fmt::format("{} is linked with a static PnetCDF: it reads compressed files, but those that it creates are not "
                    "compressed; link it with libpnetcdf.so",
                    program.path));
  }
}

/// Which MPI the layer goes with, and a warning if the command's programs name another.
void say_which_mpi(const std::vector<cli::Executable> &programs) {
#ifdef CAIRN_PNETCDF_MPI
  const std::string ours = CAIRN_PNETCDF_MPI;
  for (const cli::Executable &program : programs) {
    const auto other = std::find_if(program.libraries.begin(), program.libraries.end(), [&](const std::string &each) {
      return each != ours && (each.starts_with("libmpi.so") || each.starts_with("libmpich.so"));
    });
    const bool launcher =
        std::find(program.libraries.begin(), program.libraries.end(), ours) != program.libraries.end();
    if (other == program.libraries.end() || launcher) continue;
    cli::say(fmt::format("{} uses {}, but the layer was built for PnetCDF on {}: its arrays are not compressed",
                         program.path, *other, ours));
    return;
  }
  cli::say(fmt::format("arrays written through PnetCDF on {} are compressed", ours));
#else
  (void)programs;
  cli::say("arrays written through PnetCDF are compressed");
#endif
}

int run_command(const RunOptions &options, const std::vector<std::string> &command) {
  const auto variables = environment_of(options);
  if (!variables) return cli::report_recording(variables.error());
  const auto layer = find_layer(options);
  if (!layer) return cli::report_recording(layer.error());
  const std::vector<cli::Executable> programs = cli::executables_of(command);
  warn_of_static_programs(programs);
  if (!options.quiet) say_which_mpi(programs);
  cli::set_environment(*variables);
  return execute_with(*layer, command);
}

}  // namespace

cli::Action declare_run(cli::Options &verb) {
  auto options = std::make_shared<RunOptions>();
  add_coding(verb, &options->codec, &options->split, &options->chain, ", as in 1M");
  verb.choice("--layout", options->layout, {"dense", "sparse", "hybrid"},
              "Where blocks go: dense, sparse or hybrid (dense)", "LAYOUT");
  verb.real("--ratio", options->ratio, "hybrid: how many times smaller blocks are expected to be", "R");
  verb.real("--error", options->error, "hybrid: by how much that may be too high", "E");
  verb.text("--library", options->library, "The layer to use instead of this installation's", "FILE");
  verb.flag("-q,--quiet", options->quiet, "Say nothing when all is well");
  return [options, &verb] { return run_command(*options, verb.command); };
}

}  // namespace cairn::array_tool
