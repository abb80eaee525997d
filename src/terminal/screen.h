// Text as a terminal of some width shows it. Plain functions, linear in the text. Escape codes of colours take no
// column, and other characters one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cairn::cli {

/// How many columns the text takes, which has no line end.
size_t columns_of(std::string_view text);

/// How many lines of a screen the text takes.
size_t screen_lines(std::string_view text, size_t width);

/// Each line that is wider broken at blanks, as far as it has some. What follows stands below where the text of the
/// line begins, behind the first two blanks if they come early.
std::string folded(std::string_view text, size_t width);

/// At most `most` columns of the text: its beginning, "…" and its end, of which paths need more.
std::string shortened(const std::string &text, size_t most);

/// The same of "main.c:42 in exchange()", whose first `place` bytes say where: what follows is shortened in the middle
/// or goes, and where even the place is wider, its beginning goes.
std::string shortened_behind(const std::string &text, size_t place, size_t most);

}  // namespace cairn::cli
