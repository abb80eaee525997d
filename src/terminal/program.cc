#include "terminal/program.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>

#include "terminal/child.h"
#include "terminal/complaint.h"
#include "terminal/completion.h"
#include "terminal/installation.h"
#include "terminal/pager.h"
#include "terminal/terminal.h"

namespace cairn::cli {
namespace {

using Words = std::vector<std::string>;

constexpr const char *kNoPager = "Print what is longer than the screen as it is";

/// CLI11's help with usage lines that say where a command goes.
class Help : public CLI::Formatter {
 public:
  explicit Help(const Program &program) : program_(program) {}
  std::string make_usage(const CLI::App *app, std::string name) const override {
    if (app->get_parent() == nullptr) return fmt::format("Usage: {} VERB [OPTIONS]\n", program_.name);
    for (const Verb &verb : program_.verbs) {
      if (app->get_name() == verb.name && verb.usage != nullptr) return fmt::format("Usage: {}\n", verb.usage);
    }
    return CLI::Formatter::make_usage(app, std::move(name));
  }

 private:
  const Program &program_;
};

int become(const Verb &verb, Words words) {
  const auto found = find_program(verb.program, verb.needs);
  if (!found) return report(found.error());
  words.insert(words.begin(), *found);
  return report(execute(words));
}

/// `words`: those behind the program's name, up to the one that is being written.
int complete(const Program &program, const Words &words) {
  Output out;
  if (words.size() == 1 || (words.size() == 2 && words.front() == "help")) {
    const bool dash = words.front().starts_with('-');
    for (const Verb &verb : program.verbs) {
      if (!dash) out.write(offer(verb.name, verb.help));
    }
    if (dash) out.write(offer("-h") + offer("--help", "Print help and exit"));
    if (dash) out.write(offer("--no-pager", kNoPager));
    if (dash && program.version != nullptr) out.write(offer("--version", "Print the version and exit"));
  }
  for (const Verb &verb : program.verbs) {
    if (words.size() < 2 || words.front() != verb.name) continue;
    Words own(words.begin() + 1, words.end());
    if (verb.declare == nullptr) {
      own.insert(own.begin(), kComplete);
      return become(verb, std::move(own));
    }
    CLI::App unread;
    Options options(unread);
    const Action unused = verb.declare(options);
    out.write(offers(verb, options, own));
  }
  return out.finish();
}

/// `--no-pager`, before the verb or among its options, is for all verbs: it is taken here.
Words without_pager(const Program &program, Words words) {
  const auto is_one = [](const std::string &word) { return word == "--no-pager"; };
  const auto verb = std::find_if_not(words.begin(), words.end(), is_one);
  const auto known = std::find_if(program.verbs.begin(), program.verbs.end(),
                                  [&](const Verb &each) { return verb != words.end() && *verb == each.name; });
  const bool has_command =
      known == program.verbs.end() || known->behind == Behind::command || known->declare == nullptr;
  const auto end = has_command ? verb : std::find(words.begin(), words.end(), "--");
  const auto kept = std::remove_if(words.begin(), end, is_one);
  if (kept != end) use_no_pager();
  words.erase(kept, end);
  return words;
}

/// `help` and `help VERB` as they are read: `--help` and `VERB --help`.
Words without_help(Words words) {
  if (words.empty() || words.front() != "help") return words;
  words.erase(words.begin());
  words.emplace_back("--help");
  return words;
}

/// `words`: what follows the program's name.
int read(const Program &program, Words words) {
  CLI::App app{program.about};
  app.name(program.name);
  app.formatter(std::make_shared<Help>(program));
  if (program.version != nullptr) app.set_version_flag("--version", program.version, "Print the version and exit");
  app.get_help_ptr()->description("Print help and exit");
  app.add_flag("--no-pager", kNoPager);
  app.require_subcommand(1);
  app.footer(program.footer);
  const Verb *chosen = nullptr;
  for (const Verb &verb : program.verbs) {
    CLI::App *sub = app.add_subcommand(verb.name, verb.help)->group(verb.group);
    sub->get_help_ptr()->description("Print help and exit");
    sub->footer("Exit status: " + exit_codes(verb) + ".");
    if (!words.empty() && words.front() == verb.name) chosen = &verb;
  }
  if (words.empty()) {
    std::fputs(app.help().c_str(), stderr);
    return kUsage;
  }
  if (chosen == nullptr && !words.front().starts_with('-')) {
    say(no_verb(app, words.front()));
    return kUsage;
  }
  CLI::App *verb = chosen == nullptr ? nullptr : app.get_subcommand(chosen->name);
  const Words own(words.begin() + 1, words.end());
  if (chosen != nullptr && chosen->declare == nullptr) return become(*chosen, own);
  std::optional<Options> options;
  Action action;
  if (chosen != nullptr) {
    action = chosen->declare(options.emplace(*verb));
    const size_t end = options_end(*chosen, *options, own);
    const bool marked = end < own.size() && own[end] == "--";
    options->command.assign(own.begin() + static_cast<std::ptrdiff_t>(end + (marked ? 1 : 0)), own.end());
    words.resize(1 + end);
    for (std::string &word : words) word = options->spelling_of(word);
  }
  const std::string first = words.front();
  // CLI11 takes its words from the back.
  std::reverse(words.begin(), words.end());
  try {
    app.parse(std::move(words));
  } catch (const CLI::Success &success) {
    return app.exit(success);
  } catch (const CLI::ParseError &error) {
    // How a command is written stands at the end of what is said when there is none.
    const std::string runs = chosen != nullptr && chosen->runs != nullptr ? chosen->runs : "";
    const size_t example = runs.rfind(" as in ");
    const bool unknown = chosen == nullptr && dynamic_cast<const CLI::ExtrasError *>(&error) == nullptr;
    say(unknown ? no_option(app, first)
                : complaint(app, verb, error, example == std::string::npos ? "" : runs.substr(example + 7)));
    return runs.empty() ? kUsage : kRecordFailed;
  }
  if (chosen == nullptr) return kInternal;  // CLI11 wants a verb
  if (const auto good = options->check(); !good) {
    return chosen->runs != nullptr ? report_recording(good.error()) : report(good.error());
  }
  if (chosen->runs != nullptr && options->command.empty()) {
    say(chosen->runs);
    return kRecordFailed;
  }
  return chosen->program != nullptr ? become(*chosen, own) : action();
}

}  // namespace

std::string exit_codes(const Verb &verb) {
  if (verb.runs != nullptr) {
    return "that of the command; 125 if cairn itself fails, 126 if the command cannot be executed, 127 if it is not "
           "found";
  }
  return fmt::format("0 fine, {}2 wrong usage, {}4 something is missing here, 5 a fault of cairn itself",
                     verb.no == nullptr ? "" : fmt::format("1 {}, ", verb.no),
                     verb.reads ? "3 the file cannot be read, " : "");
}

size_t options_end(const Verb &verb, const Options &options, const Words &words) {
  if (verb.behind == Behind::command) return command_start(options, words);
  const auto mark = verb.behind == Behind::others ? std::find(words.begin(), words.end(), "--") : words.end();
  return static_cast<size_t>(mark - words.begin());
}

int run(const Program &program, int argc, char **argv) {
  try {
    const Words words(argv + 1, argv + argc);
    if (!words.empty() && words.front() == kComplete) return complete(program, {words.begin() + 1, words.end()});
    return read(program, without_help(without_pager(program, words)));
  } catch (const std::exception &error) {
    say(fmt::format("internal error: {}; please report it", error.what()));
    return kInternal;
  }
}

}  // namespace cairn::cli
