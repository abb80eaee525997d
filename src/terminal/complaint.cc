#include "terminal/complaint.h"

#include <fmt/format.h>

#include <vector>

#include "text/nearest.h"

namespace cairn::cli {
namespace {

std::vector<std::string> option_names(const CLI::App &verb) {
  std::vector<std::string> names;
  for (const CLI::Option *option : verb.get_options()) {
    for (const std::string &name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string &name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::string unknown_option(const CLI::App &asked, const std::string &word, const std::string &otherwise) {
  // A single letter is near to any other.
  const std::string guess = word.size() < 3 ? "" : nearest(word.substr(0, word.find('=')), option_names(asked));
  return fmt::format("unknown option {}; {}", word, guess.empty() ? otherwise : "did you mean " + guess + "?");
}

/// An option that takes one value and has several; or nullptr.
const CLI::Option *too_often(const CLI::App &verb) {
  for (const CLI::Option *option : verb.get_options()) {
    const auto most = static_cast<size_t>(option->get_items_expected_max());
    if (!option->get_lnames().empty() && most == 1 && option->count() > 1) return option;
  }
  return nullptr;
}

}  // namespace

std::string complaint(const CLI::App &app, const CLI::App *verb, const CLI::ParseError &error,
                      const std::string &command) {
  const std::string help =
      fmt::format("see {} {}--help", app.get_name(), verb != nullptr ? verb->get_name() + " " : "");
  const CLI::App &asked = verb != nullptr ? *verb : app;
  if (dynamic_cast<const CLI::ExtrasError *>(&error) != nullptr) {
    const auto extras = app.remaining(true);
    const std::string word = extras.empty() ? std::string() : extras.front();
    if (word.size() > 1 && word[0] == '-') {
      return unknown_option(asked, word,
                            command.empty() ? help : "options of a launcher come behind --, as in " + command);
    }
    return fmt::format("unexpected argument '{}'; {}", word, help);
  }
  if (const CLI::Option *option = too_often(asked); option != nullptr) {
    const bool is_list = option->get_type_name() == "LIST";
    return fmt::format("{} is given {} times; {}", option->get_name(), option->count(),
                       is_list ? fmt::format("give it one list, as in {} 0,1", option->get_name()) : "give it once");
  }
  return fmt::format("{}; {}", error.what(), help);
}

std::string no_option(const CLI::App &app, const std::string &word) {
  return unknown_option(app, word, fmt::format("see {} --help", app.get_name()));
}

std::string no_verb(const CLI::App &app, const std::string &word) {
  std::vector<std::string> verbs = {"help"};
  for (const CLI::App *verb : app.get_subcommands([](const CLI::App *) { return true; })) {
    verbs.push_back(verb->get_name());
  }
  const std::string guess = nearest(word, verbs);
  return fmt::format("there is no verb '{}'; {}", word,
                     guess.empty() ? fmt::format("see {} --help", app.get_name())
                                   : fmt::format("did you mean {} {}?", app.get_name(), guess));
}

}  // namespace cairn::cli
