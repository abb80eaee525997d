// Pieces of C source: identifiers, literals, tables of numbers, and lines that are broken where they get too long.
// Plain functions and values; nothing fails.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "grammar/grammar.h"

namespace cairn::proxy {

/// Letters, digits and underscores of `text`; anything else is an underscore.
std::string identifier(std::string_view text);
/// "a \"text\"\n" with its quotes.
std::string string_literal(std::string_view text);
/// What may stand in a comment.
std::string comment_text(std::string_view text);

/// Names of one C program, each given once: a second "send_12" is "send_12_2".
class Identifiers {
 public:
  std::string unique(const std::string &wanted);

 private:
  std::map<std::string, size_t> next_;  ///< of each name that was given: what the next one that is wanted so ends with
};

/// "  {0, 1}, {-1, 99}, {0, 0}": the terms of a sequence as `struct term` has them, without the outer braces.
std::string terms_text(const grammar::Grammar &order);
/// Things that are separated by commas, broken into lines of at most `width`, each indented by two.
std::string list_text(const std::vector<std::string> &items, size_t width = 100);

/// Source that grows line by line, indented by two for each brace that is open.
class Source {
 public:
  void line(const std::string &text = {});
  void open(const std::string &text);  ///< "for (…)": with its brace
  void close(const std::string &text = "}");
  /// A statement that may be long: broken behind commas. `comment` goes behind it, or above.
  void statement(const std::string &text, const std::string &comment = {});
  /// The same of one that may open a brace or close one.
  void code(const std::string &text);
  /// Lines that are indented already.
  void raw(const std::string &text) { text_ += text; }
  [[nodiscard]] const std::string &text() const { return text_; }

 private:
  std::string text_;
  size_t depth_ = 0;
};

}  // namespace cairn::proxy
