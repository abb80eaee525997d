// nearest: the word that someone who typed a wrong one most likely meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cairn {

/// The candidate with the fewest edits (insert, delete, replace, swap of neighbours; case counts a third) from `word`,
/// or "" when even the best differs in more than a third of the letters of the longer. Earlier candidates win ties.
std::string nearest(std::string_view word, const std::vector<std::string> &candidates);

/// Shell-style match of a whole name (fnmatch): * and ?, letters in either case.
bool glob_match(std::string_view pattern, std::string_view name);

}  // namespace cairn
