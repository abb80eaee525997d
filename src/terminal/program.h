// A program with verbs: `cairn`, and `cairn-arrays`, which `cairn arrays` becomes. Its verbs are one table, from which
// come usage, help, exit codes, what shells complete, and the checks of the man pages (tests/cli/cli_test.py). A new
// verb is a file with a function that declares its options, and a row.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "terminal/options.h"

namespace cairn::cli {

/// What a verb does once its words were read; gives the exit code.
using Action = std::function<int()>;

/// What stands behind the options of a verb.
enum class Behind : uint8_t {
  nothing,
  command,  ///< a command, from the first word that is neither an option nor its value, or from behind "--"
  others,   ///< behind "--", words for somebody else
};

struct Verb {
  const char *name;
  const char *group;  ///< its heading in help: what it belongs to
  const char *help;   ///< one line
  /// Declares the options and gives the action; `options` outlives that. nullptr: `program` reads all words.
  Action (*declare)(Options &options);
  /// The program of this installation that the verb becomes, with all its words; the action is not used then.
  const char *program = nullptr;
  const char *needs = nullptr;  ///< what `program` is not built without
  const char *usage = nullptr;  ///< what stands behind the name, where the options do not say it
  Behind behind = Behind::nothing;
  bool reads = true;         ///< a file that may be damaged: exit code 3
  const char *no = nullptr;  ///< what exit code 1 means, if the verb answers a question
  /// The exit code is that of what it runs; its own failures are 125 to 127. What is said if there is nothing to run.
  const char *runs = nullptr;
};

struct Program {
  const char *name;   ///< as users write it: "cairn arrays"
  const char *about;  ///< one line
  const char *footer;
  std::span<const Verb> verbs;
  const char *version = nullptr;  ///< what --version prints
};

/// "0 fine, 2 wrong usage, …": what the exit codes of a verb mean.
std::string exit_codes(const Verb &verb);
/// How many of the words that follow the verb are its options and their values.
size_t options_end(const Verb &verb, const Options &options, const std::vector<std::string> &words);

/// Reads the words and does what they say. Gives the exit code; of wrong words one line on stderr tells, with what was
/// likely meant.
int run(const Program &program, int argc, char **argv);

}  // namespace cairn::cli
