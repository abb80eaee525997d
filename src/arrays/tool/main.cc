// cairn-arrays: what `cairn arrays` becomes, so that only it loads libnetcdf and the codecs' libraries. Chooses the
// verb and gives the exit code, as the main of `cairn` does.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>

#include "arrays/tool/verbs.h"
#include "terminal/complaint.h"
#include "terminal/options.h"
#include "terminal/terminal.h"

namespace cairn::array_tool {
namespace {

class Help : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App *app, std::string name) const override {
    const std::string verb = app->get_name();
    if (verb == "run") return "Usage: cairn arrays run [OPTIONS] [--] COMMAND [ARGUMENTS]\n";
    if (verb == "cairn arrays") return "Usage: cairn arrays VERB [OPTIONS]\n";
    return CLI::Formatter::make_usage(app, std::move(name));
  }
};

int run(int argc, char **argv) {
  CLI::App app{"Compresses what programs write through PnetCDF, and reads it back."};
  app.name("cairn arrays");
  app.formatter(std::make_shared<Help>());
  app.get_help_ptr()->description("Print help and exit");
  app.require_subcommand(1);
  app.footer("cairn arrays VERB --help tells a verb's options.");
  Run chosen;
  std::vector<std::string> command;
  add_run(app, chosen, command);
  add_info(app, chosen);
  add_verify(app, chosen);
  add_export(app, chosen);
  add_import(app, chosen);
  add_compact(app, chosen);
  add_bench(app, chosen);
  for (CLI::App *verb : app.get_subcommands({})) {
    verb->get_help_ptr()->description("Print help and exit");
    verb->group("Verbs");
  }
  if (argc < 2) {
    std::fputs(app.help().c_str(), stderr);
    return cli::kUsage;
  }
  const std::string word = argv[1];
  CLI::App *verb = nullptr;
  if (!word.empty() && word[0] != '-') {
    verb = cli::find_verb(app, word);
    if (verb == nullptr) return cli::kUsage;
  }
  std::vector<std::string> words(argv + 2, argv + argc);
  const bool runs_programs = word == "run";
  if (runs_programs) {
    const size_t start = cli::command_start(*verb, words);
    command.assign(words.begin() + static_cast<std::ptrdiff_t>(start), words.end());
    if (!command.empty() && command.front() == "--") command.erase(command.begin());
    words.resize(start);
  }
  words.insert(words.begin(), word);
  // CLI11 takes its words from the back.
  std::reverse(words.begin(), words.end());
  try {
    app.parse(std::move(words));
  } catch (const CLI::Success &success) {
    return app.exit(success);
  } catch (const CLI::ParseError &error) {
    cli::say(cli::complaint(app, verb, error));
    return runs_programs ? cli::kRecordFailed : cli::kUsage;
  }
  return chosen ? chosen() : cli::kInternal;
}

}  // namespace
}  // namespace cairn::array_tool

int main(int argc, char **argv) {
  try {
    return cairn::array_tool::run(argc, argv);
  } catch (const std::exception &error) {
    cairn::cli::say(fmt::format("internal error: {}; please report it", error.what()));
    return cairn::cli::kInternal;
  }
}
