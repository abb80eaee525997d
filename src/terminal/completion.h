// What a shell may offer for the word that is being written. The scripts in completions/ ask for it with
// `cairn --complete WORD...`, the words behind the program's name up to that one, which may be empty: so they know no
// verb and no option, and belong to whichever cairn the user calls.
//
// The answer is lines: "WORD<tab>what it is", whether it begins like the word or not; or what the shell knows better:
//   :files         files, or with a suffix behind a blank those that end with it
//   :folders       folders
//   :command N     the last N words are a command with completions of its own
#pragma once

#include <string>
#include <vector>

#include "terminal/program.h"

namespace cairn::cli {

/// The word in front of those to complete.
constexpr const char *kComplete = "--complete";

/// For the last of the `words` that follow a verb.
std::string offers(const Verb &verb, const Options &options, const std::vector<std::string> &words);
/// One line of the answer.
std::string offer(const std::string &word, const std::string &help = {});

}  // namespace cairn::cli
