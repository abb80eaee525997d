// The options of one verb. Only options.cc and main.cc include CLI11, which costs seconds a file to compile: verbs see
// this. Names are as CLI11 takes them: "-o,--output", or a word for what stands without a dash. The variables must
// live until the words were read, and hold what is meant where an option is left out.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace cairn::cli {

class Options {
 public:
  /// Adds the verb `name` to `app`, which owns it.
  Options(CLI::App &app, const std::string &name, const std::string &help);

  void flag(const std::string &names, bool &value, const std::string &help);
  /// One value; `type` is how help calls it. A word without a dash may be left out.
  void text(const std::string &names, std::string &value, const std::string &help, const std::string &type = {});
  /// One of `allowed`; anything else is refused with the list.
  void choice(const std::string &names, std::string &value, const std::vector<std::string> &allowed,
              const std::string &help, const std::string &type);
  void number(const std::string &names, std::optional<uint64_t> &value, const std::string &help,
              const std::string &type);
  void real(const std::string &names, std::optional<double> &value, const std::string &help, const std::string &type);
  /// One value each time it is given.
  void repeated(const std::string &names, std::vector<std::string> &values, const std::string &help,
                const std::string &type);
  /// A word without a dash that must be there: one of `allowed`.
  void needed(const std::string &name, std::string &value, const std::vector<std::string> &allowed,
              const std::string &help);
  /// A word without a dash that must be there.
  void one(const std::string &name, std::string &value, const std::string &help);
  /// At least one word without a dash.
  void words(const std::string &name, std::vector<std::string> &values, const std::string &help);
  /// What happens when the words were read and this verb was the one.
  void chosen(std::function<void()> action);

 private:
  CLI::App *verb_;
};

/// Where in `words`, what follows the verb, its options end: at "--", or at the first word that is neither an option
/// nor an option's value.
size_t command_start(const CLI::App &verb, const std::vector<std::string> &words);

}  // namespace cairn::cli
