// One line for words that CLI11 could not place, with what was most likely meant. Includes CLI11: for program.cc only.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace cairn::cli {

/// `verb` nullptr: the words were wrong before any verb. `command`: how a command is written behind the verb's options,
/// if one is: options of a launcher that stand among them belong there.
std::string complaint(const CLI::App &app, const CLI::App *verb, const CLI::ParseError &error,
                      const std::string &command = {});
/// `word` is no option of the program's own.
std::string no_option(const CLI::App &app, const std::string &word);
/// `word` names no verb.
std::string no_verb(const CLI::App &app, const std::string &word);

}  // namespace cairn::cli
