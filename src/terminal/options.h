// The options of one verb: what its words may be, said once, for reading them, for help and for completion. Only
// options.cc and program.cc include CLI11, which costs seconds a file to compile: verbs see this.
//
// Names are as CLI11 takes them: "-o,--output", or a word for what stands without a dash. The variables must live until
// the words were read, and hold what is meant where an option is left out. `type` is how help calls a value, and what a
// shell offers for it: FILE files, DIR folders (completion.cc has them all).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace CLI {
class App;
}

namespace cairn::cli {

/// One option, or one word without a dash.
struct Option {
  std::vector<std::string> names;  ///< "-o" and "--output"; of a word the name that help gives it
  std::string help;
  std::string type;                  ///< of its value; empty: it takes none
  std::vector<std::string> choices;  ///< what its value may be; or what it often is
  size_t most = 1;                   ///< how often it may stand there
  [[nodiscard]] bool is_word() const { return names.front()[0] != '-'; }
  [[nodiscard]] bool has(std::string_view name) const;
};

class Options {
 public:
  explicit Options(CLI::App &verb) : verb_(&verb) {}

  void flag(const std::string &names, bool &value, const std::string &help);
  /// One value. A word without a dash may be left out. `often` is what a shell offers.
  void text(const std::string &names, std::string &value, const std::string &help, const std::string &type = {},
            const std::vector<std::string> &often = {});
  /// One of `allowed`; anything else is refused with the list.
  void choice(const std::string &names, std::string &value, const std::vector<std::string> &allowed,
              const std::string &help, const std::string &type);
  void number(const std::string &names, std::optional<uint64_t> &value, const std::string &help,
              const std::string &type);
  void real(const std::string &names, std::optional<double> &value, const std::string &help, const std::string &type);
  /// One value each time it is given. `often` is what a shell offers.
  void repeated(const std::string &names, std::vector<std::string> &values, const std::string &help,
                const std::string &type, const std::vector<std::string> &often = {});
  /// A word without a dash that must be there: one of `allowed`.
  void needed(const std::string &name, std::string &value, const std::vector<std::string> &allowed,
              const std::string &help);
  /// A word without a dash that must be there.
  void one(const std::string &name, std::string &value, const std::string &help);
  /// At least one word without a dash; a shell offers `most`.
  void words(const std::string &name, std::vector<std::string> &values, const std::string &help,
             size_t most = SIZE_MAX);
  /// `word`, or what begins with `word` and "=", is read as the option `name`: CLI11 knows no long option with one
  /// dash.
  void spelled(const std::string &word, const std::string &name);
  /// Two that exclude each other; `message` says why, where both are given.
  void apart(const std::string &one, const std::string &other, const std::string &message);

  [[nodiscard]] const std::vector<Option> &all() const { return all_; }
  /// The option whose value is the word behind this one, as behind "--output", "-o" and "-fo"; or nullptr.
  [[nodiscard]] const Option *open_after(const std::string &word) const;
  /// The option of that name, or nullptr.
  [[nodiscard]] const Option *find(std::string_view name) const;
  /// The options that exclude `name`.
  [[nodiscard]] std::vector<std::string> excluded_by(std::string_view name) const;
  /// `word` as CLI11 takes it.
  [[nodiscard]] std::string spelling_of(const std::string &word) const;
  /// Once the words were read: whether the option is there.
  [[nodiscard]] bool given(const std::string &name) const;
  /// Once the words were read: a usage error if two are there that exclude each other, or a value is empty.
  [[nodiscard]] Result<void> check() const;
  /// What follows the options of a verb that runs something; filled when the words are read.
  std::vector<std::string> command;

 private:
  struct Apart {
    std::string one;
    std::string other;
    std::string message;
  };
  Option &add(const std::string &names, const std::string &help, const std::string &type);
  CLI::App *verb_;
  std::vector<Option> all_;
  std::vector<Apart> apart_;
  std::vector<std::pair<std::string, std::string>> spellings_;
};

/// Where in `words`, what follows the verb, its options end: at "--", or at the first word that is neither an option
/// nor an option's value. All are options: words.size().
size_t command_start(const Options &options, const std::vector<std::string> &words);

}  // namespace cairn::cli
