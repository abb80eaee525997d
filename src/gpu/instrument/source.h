// One file of the program as the instrumenter sees it: its bytes, the tokens that the compiler takes, the macros called
// in it, and the edits that are to be made. Edits are bytes put between the original ones (the emulator's launches and
// redirected includes also replace some); nothing is printed anew, so what is not edited comes out as it was, whatever
// its encoding and line ends.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/instrument/cursor.h"

namespace cairn::instrument {

/// What an edit puts in: `before`, then the number of `point` if there is one, then `after`.
struct Insertion {
  std::string before;
  int point = -1;
  std::string after;
};

class Source {
 public:
  /// The file as libclang has it. Null `file`: empty.
  Source(CXTranslationUnit unit, CXFile file);
  /// The same file in another unit, which may take tokens that this one skips.
  void add_view(CXTranslationUnit unit, CXFile file) { find_tokens(unit, file); }

  const std::string path;  ///< as the compiler was told
  const std::string text;

  /// Counted from 1.
  [[nodiscard]] unsigned line(uint32_t offset) const;
  [[nodiscard]] unsigned column(uint32_t offset) const { return offset - line_starts_[line(offset) - 1] + 1; }
  [[nodiscard]] std::string_view at(Span span) const;

  // Tokens: no comments, no directives, nothing that the preprocessor skipped. A token is named by its number.
  [[nodiscard]] size_t token_count() const { return tokens_.size(); }
  /// The first that begins at `offset` or after it.
  [[nodiscard]] size_t token_from(uint32_t offset) const;
  [[nodiscard]] Span token(size_t number) const { return number < tokens_.size() ? tokens_[number] : Span{}; }
  /// Its text; "" after the last.
  [[nodiscard]] std::string_view word(size_t number) const { return at(token(number)); }
  /// The number of the bracket that closes the one at `open`, or token_count().
  [[nodiscard]] size_t closing(size_t open) const;
  /// Whether `word` is what stands at `offset`.
  [[nodiscard]] bool has(uint32_t offset, std::string_view word) const;

  // Macros.
  void add_macro(Span call, const std::string &name);
  struct Macro {
    Span call;
    std::string name;
  };
  /// The outermost call that `offset` lies in, its first byte included; null if there is none.
  [[nodiscard]] const Macro *macro_at(uint32_t offset) const;
  /// Whether bytes put at `offset` would come to lie within a call.
  [[nodiscard]] bool within_macro(uint32_t offset) const;

  // Edits. Those that end something stand before those that begin something at the same byte; otherwise they stand in
  // the order they were made in.
  void begin_at(uint32_t offset, Insertion insertion) { edits_.push_back({offset, 0, false, std::move(insertion)}); }
  void end_at(uint32_t offset, Insertion insertion) { edits_.push_back({offset, 0, true, std::move(insertion)}); }
  void replace(Span span, std::string by) {
    edits_.push_back({span.begin, span.end - span.begin, true, {std::move(by), -1, {}}});
  }
  [[nodiscard]] bool edited() const { return !edits_.empty(); }
  /// The text with all edits; `ids` gives each point its number.
  [[nodiscard]] std::string rewritten(const std::vector<unsigned> &ids) const;

 private:
  struct Edit {
    uint32_t offset;
    uint32_t removed;
    bool ends;
    Insertion insertion;
  };
  std::vector<uint32_t> line_starts_;
  std::vector<Span> tokens_;
  std::map<uint32_t, Macro> macros_;
  std::vector<Edit> edits_;

  void find_tokens(CXTranslationUnit unit, CXFile file);
};

}  // namespace cairn::instrument
