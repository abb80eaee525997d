// One line for words that CLI11 could not place, with what was most likely meant. Includes CLI11: for mains only.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace cairn::cli {

/// `verb` nullptr: the words were wrong before any verb.
std::string complaint(const CLI::App &app, const CLI::App *verb, const CLI::ParseError &error);
/// The verb that `word` names, or nullptr; then it was said that there is none.
CLI::App *find_verb(const CLI::App &app, const std::string &word);

}  // namespace cairn::cli
