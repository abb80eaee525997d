// Entry of `cairn`: chooses the verb, turns wrong words into one line with a suggestion, and gives the exit code.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "cli/verbs.h"
#include "terminal/complaint.h"
#include "terminal/options.h"
#include "terminal/terminal.h"

namespace cairn::cli {
namespace {

/// `record` and `exec` report their own failures as 125, since every other code may be the program's.
bool runs_programs(const CLI::App *verb) {
  return verb != nullptr && (verb->get_name() == "record" || verb->get_name() == "exec");
}

/// CLI11's help with usage lines that say where a command goes.
class Help : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App *app, std::string name) const override {
    const std::string verb = app->get_name();
    if (verb == "record") return "Usage: cairn record [OPTIONS] [--] COMMAND [ARGUMENTS]\n";
    if (verb == "exec") return "Usage: LAUNCHER cairn exec [OPTIONS] [--] PROGRAM [ARGUMENTS]\n";
    if (verb == "env") return "Usage: cairn env [OPTIONS] [--] [COMMAND]\n";
    if (verb == "instrument") return "Usage: cairn instrument [OPTIONS] FILE... [-- PARSER OPTIONS]\n";
    if (verb == "cairn") return "Usage: cairn VERB [OPTIONS]\n";
    return CLI::Formatter::make_usage(app, std::move(name));
  }
};

int run(int argc, char **argv) {
  CLI::App app{"Records what a parallel program does and keeps all of it, small."};
  app.name("cairn");
  app.formatter(std::make_shared<Help>());
  app.set_version_flag("--version", "cairn " CAIRN_VERSION, "Print the version and exit");
  app.get_help_ptr()->description("Print help and exit");
  app.require_subcommand(1);
  app.footer("cairn VERB --help tells a verb's options. Without a file, verbs read the newest .cairn in the folder.");
  Run chosen;
  Command command;
  add_record(app, chosen, command);
  add_exec(app, chosen, command);
  add_env(app, chosen, command);
  add_info(app, chosen);
  add_summary(app, chosen);
  add_dump(app, chosen);
  add_gpu(app, chosen);
  add_diff(app, chosen);
  add_export(app, chosen);
  add_verify(app, chosen);
  add_merge(app, chosen);
  add_doctor(app, chosen);
  add_instrument(app, chosen, command);
  add_arrays(app, chosen, command);
  for (CLI::App *verb : app.get_subcommands({})) {
    verb->get_help_ptr()->description("Print help and exit");
    verb->group("Verbs");
  }
  if (argc < 2) {
    std::fputs(app.help().c_str(), stderr);
    return kUsage;
  }
  const std::string word = argv[1];
  CLI::App *verb = nullptr;
  if (!word.empty() && word[0] != '-') {
    verb = find_verb(app, word);
    if (verb == nullptr) return kUsage;
  }
  std::vector<std::string> words(argv + 2, argv + argc);
  if (runs_programs(verb) || word == "env") {
    const size_t start = command_start(*verb, words);
    command.assign(words.begin() + static_cast<std::ptrdiff_t>(start), words.end());
    if (!command.empty() && command.front() == "--") command.erase(command.begin());
    words.resize(start);
  }
  if (word == "instrument") {
    // The program that does it reads them again. CLI11 knows no long option with one dash.
    command = words;
    words.erase(std::find(words.begin(), words.end(), "--"), words.end());
    for (std::string &each : words) {
      if (each == "-std" || each.starts_with("-std=")) each.insert(0, 1, '-');
    }
  }
  if (word == "arrays") {
    // A program of its own with verbs of its own: it reads the words.
    command = words;
    words.clear();
  }
  words.insert(words.begin(), word);
  // CLI11 takes its words from the back.
  std::reverse(words.begin(), words.end());
  try {
    app.parse(std::move(words));
  } catch (const CLI::Success &success) {
    return app.exit(success);
  } catch (const CLI::ParseError &error) {
    say(complaint(app, verb, error));
    return runs_programs(verb) ? kRecordFailed : kUsage;
  }
  return chosen ? chosen() : kInternal;
}

}  // namespace
}  // namespace cairn::cli

int main(int argc, char **argv) {
  try {
    return cairn::cli::run(argc, argv);
  } catch (const std::exception &error) {
    cairn::cli::say(fmt::format("internal error: {}; please report it", error.what()));
    return cairn::cli::kInternal;
  }
}
