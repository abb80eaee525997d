// Strings of unknown origin (command lines, paths, arguments of calls) as terminals and JSON can take them. Plain
// functions; linear in the text.
#pragma once

#include <string>
#include <string_view>

namespace cairn {

/// `text` in double quotes; control characters, quotes, backslashes and bytes that are not UTF-8 escaped as in C.
std::string in_quotes(std::string_view text);
/// `text` with every byte that is not part of valid UTF-8 replaced by U+FFFD, so that JSON can hold it.
std::string valid_utf8(std::string_view text);
/// The same, without a copy of what is plain ASCII; `room` holds any other.
std::string_view valid_utf8(std::string_view text, std::string *room);

}  // namespace cairn
