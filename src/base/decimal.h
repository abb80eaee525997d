// A decimal number as people write it, at the beginning of a text. (std::from_chars does it too, but not with LLVM's
// library.)
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

namespace cairn {

/// Takes "1.5" or "-2e3" from the front of the text. False, and nothing is taken, where there is none.
inline bool take_decimal(std::string_view *text, double *value) {
  if (text->find_first_of("0123456789.-") != 0) return false;  // strtod takes blanks and + as well, …
  const std::string digits(text->substr(0, text->find_first_not_of("0123456789.eE+-")));  // … and 0x1p3
  char *end = nullptr;
  *value = std::strtod(digits.c_str(), &end);
  text->remove_prefix(static_cast<size_t>(end - digits.c_str()));
  return end != digits.c_str();
}

}  // namespace cairn
