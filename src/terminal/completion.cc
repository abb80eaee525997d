#include "terminal/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace cairn::cli {
namespace {

using Words = std::vector<std::string>;

/// By what help calls a value.
constexpr std::array<std::pair<std::string_view, const char *>, 7> kKnownToShells = {{{"FILE", ":files\n"},
                                                                                      {"OUT", ":files\n"},
                                                                                      {"PLAIN", ":files\n"},
                                                                                      {"spool", ":files\n"},
                                                                                      {"DIR", ":folders\n"},
                                                                                      {"trace", ":files .cairn\n"},
                                                                                      {"traces", ":files .cairn\n"}}};

std::string values(const Option &option, const std::string &before) {
  std::string lines;
  for (const std::string &choice : option.choices) lines += offer(before + choice);
  if (!option.choices.empty() || !before.empty()) return lines;
  for (const auto &[type, line] : kKnownToShells) {
    if (option.type == type) return line;
  }
  return {};
}

/// The words before the one that is being written.
struct Before {
  Words given;                   ///< names of options
  size_t words = 0;              ///< without a dash
  const Option *open = nullptr;  ///< the option whose value comes now
};

Before read(const Options &options, const Words &words) {
  Before before;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string &word = words[i];
    if (word.size() < 2 || word[0] != '-') {
      ++before.words;
      continue;
    }
    if (word[1] == '-') before.given.push_back(word.substr(0, word.find('=')));
    for (size_t letter = 1; word[1] != '-' && letter < word.size(); ++letter) {
      before.given.push_back(std::string("-") + word[letter]);
      const Option *option = options.find(before.given.back());
      if (option != nullptr && !option->type.empty()) break;
    }
    const Option *open = options.open_after(word);
    if (open == nullptr) continue;
    if (i + 1 == words.size()) before.open = open;
    ++i;
  }
  return before;
}

}  // namespace

std::string offer(const std::string &word, const std::string &help) { return fmt::format("{}\t{}\n", word, help); }

std::string offers(const Verb &verb, const Options &options, const Words &words) {
  const std::string &current = words.back();
  const Words earlier(words.begin(), words.end() - 1);
  if (size_t end = options_end(verb, options, earlier); end < earlier.size()) {
    if (earlier[end] == "--") ++end;
    return verb.behind == Behind::command ? fmt::format(":command {}\n", words.size() - end) : "";
  }
  const Before before = read(options, earlier);
  if (before.open != nullptr) return values(*before.open, {});
  if (const size_t equals = current.find('='); equals != std::string::npos && current.starts_with("--")) {
    const Option *option = options.find(current.substr(0, equals));
    return option == nullptr ? "" : values(*option, current.substr(0, equals + 1));
  }
  const auto is_given = [&](const std::string &name) {
    return std::find(before.given.begin(), before.given.end(), name) != before.given.end();
  };
  const auto is_over = [&](const std::string &name) {
    const Words others = options.excluded_by(name);
    return is_given(name) || std::any_of(others.begin(), others.end(), is_given);
  };
  std::string lines;
  size_t place = before.words;
  for (const Option &option : options.all()) {
    if (option.is_word() && !current.starts_with('-')) {
      if (place < option.most) return values(option, {});
      place -= option.most;
    } else if (!option.is_word() && current.starts_with('-')) {
      if (option.most == 1 && std::any_of(option.names.begin(), option.names.end(), is_over)) continue;
      for (const std::string &name : option.names) lines += offer(name, option.help);
    }
  }
  if (!current.starts_with('-')) return verb.behind == Behind::command ? ":command 1\n" : "";
  for (const char *name : {"-h", "--help"}) lines += offer(name, "Print help and exit");
  return lines;
}

}  // namespace cairn::cli
