#include "gpu/instrument/source.h"

#include <algorithm>

namespace cairn::instrument {
namespace {

std::string contents(CXTranslationUnit unit, CXFile file) {
  size_t size = 0;
  const char *bytes = file != nullptr ? clang_getFileContents(unit, file, &size) : nullptr;
  return bytes != nullptr ? std::string(bytes, size) : std::string();
}

uint32_t offset_of(CXSourceLocation location) {
  uint32_t offset = 0;
  clang_getFileLocation(location, nullptr, nullptr, nullptr, &offset);
  return offset;
}

/// A line that ends without a backslash ends within `gap`.
bool ends_line(std::string_view gap) {
  for (size_t at = gap.find('\n'); at != std::string_view::npos; at = gap.find('\n', at + 1)) {
    const size_t end = at > 0 && gap[at - 1] == '\r' ? at - 1 : at;
    if (end == 0 || gap[end - 1] != '\\') return true;
  }
  return false;
}

}  // namespace

Source::Source(CXTranslationUnit unit, CXFile file)
    : path(text_of(clang_getFileName(file))), text(contents(unit, file)), line_starts_{0} {
  for (uint32_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') line_starts_.push_back(i + 1);
  }
  if (file != nullptr) find_tokens(unit, file);
}

void Source::find_tokens(CXTranslationUnit unit, CXFile file) {
  std::vector<Span> skipped;
  if (CXSourceRangeList *ranges = clang_getSkippedRanges(unit, file); ranges != nullptr) {
    for (unsigned i = 0; i < ranges->count; ++i) {
      skipped.push_back(
          {offset_of(clang_getRangeStart(ranges->ranges[i])), offset_of(clang_getRangeEnd(ranges->ranges[i]))});
    }
    clang_disposeSourceRangeList(ranges);
  }
  const CXSourceRange all = clang_getRange(clang_getLocationForOffset(unit, file, 0),
                                           clang_getLocationForOffset(unit, file, static_cast<unsigned>(text.size())));
  CXToken *tokens = nullptr;
  unsigned count = 0;
  clang_tokenize(unit, all, &tokens, &count);
  const size_t had = tokens_.size();
  uint32_t before = 0;
  bool first_of_file = true;
  bool directive = false;
  for (unsigned i = 0; i < count; ++i) {
    if (clang_getTokenKind(tokens[i]) == CXToken_Comment) continue;
    const CXSourceRange range = clang_getTokenExtent(unit, tokens[i]);
    const Span span = {offset_of(clang_getRangeStart(range)), offset_of(clang_getRangeEnd(range))};
    if (span.end <= span.begin || span.end > text.size()) continue;
    if (first_of_file || ends_line(at({before, span.begin}))) directive = text[span.begin] == '#';
    first_of_file = false;
    before = span.end;
    const bool is_skipped = std::any_of(skipped.begin(), skipped.end(),
                                        [&](Span gap) { return span.begin >= gap.begin && span.begin < gap.end; });
    if (!directive && !is_skipped) tokens_.push_back(span);
  }
  clang_disposeTokens(unit, tokens, count);
  const auto is_before = [](const Span &a, const Span &b) { return a.begin < b.begin; };
  std::inplace_merge(tokens_.begin(), tokens_.begin() + static_cast<std::ptrdiff_t>(had), tokens_.end(), is_before);
  tokens_.erase(std::unique(tokens_.begin(), tokens_.end(), [](Span a, Span b) { return a.begin == b.begin; }),
                tokens_.end());
}

unsigned Source::line(uint32_t offset) const {
  const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  return static_cast<unsigned>(next - line_starts_.begin());
}

std::string_view Source::at(Span span) const {
  if (span.begin >= text.size() || span.end < span.begin) return {};
  return std::string_view(text).substr(span.begin, span.end - span.begin);
}

size_t Source::token_from(uint32_t offset) const {
  const auto found = std::lower_bound(tokens_.begin(), tokens_.end(), offset,
                                      [](const Span &token, uint32_t place) { return token.begin < place; });
  return static_cast<size_t>(found - tokens_.begin());
}

size_t Source::closing(size_t open) const {
  size_t depth = 0;
  for (size_t i = open; i < tokens_.size(); ++i) {
    const std::string_view each = word(i);
    if (each == "(" || each == "[" || each == "{") ++depth;
    if ((each == ")" || each == "]" || each == "}") && --depth == 0) return i;
  }
  return tokens_.size();
}

bool Source::has(uint32_t offset, std::string_view word) const {
  const size_t number = token_from(offset);
  return token(number).begin == offset && this->word(number) == word;
}

void Source::add_macro(Span call, const std::string &name) {
  // The outermost call comes first.
  if (macro_at(call.begin) == nullptr) macros_.emplace(call.begin, Macro{call, name});
}

const Source::Macro *Source::macro_at(uint32_t offset) const {
  auto next = macros_.upper_bound(offset);
  if (next == macros_.begin()) return nullptr;
  const Macro &last = std::prev(next)->second;
  return offset < last.call.end ? &last : nullptr;
}

bool Source::within_macro(uint32_t offset) const {
  const Macro *macro = macro_at(offset);
  return macro != nullptr && macro->call.begin < offset;
}

std::string Source::rewritten(const std::vector<unsigned> &ids) const {
  std::vector<const Edit *> ordered;
  ordered.reserve(edits_.size());
  for (const Edit &edit : edits_) ordered.push_back(&edit);
  std::stable_sort(ordered.begin(), ordered.end(), [](const Edit *a, const Edit *b) {
    return a->offset != b->offset ? a->offset < b->offset : a->ends && !b->ends;
  });
  std::string out;
  uint32_t done = 0;
  for (const Edit *edit : ordered) {
    out.append(text, done, edit->offset - done);
    out += edit->insertion.before;
    if (edit->insertion.point >= 0) out += std::to_string(ids[static_cast<size_t>(edit->insertion.point)]);
    out += edit->insertion.after;
    done = edit->offset + edit->removed;
  }
  out.append(text, done);
  return out;
}

}  // namespace cairn::instrument
