#include "gpu/instrument/cursor.h"

#include <algorithm>

namespace cairn::instrument {
namespace {

CXFile place(CXSourceLocation location, uint32_t *offset) {
  CXFile file = nullptr;
  clang_getFileLocation(location, &file, nullptr, nullptr, offset);
  return file;
}

bool is_letter(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool has_word(const std::string &text, const std::string &word) {
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_letter(text[at - 1])) && (end == text.size() || !is_letter(text[end]))) return true;
  }
  return false;
}

}  // namespace

std::string text_of(CXString string) {
  const char *text = clang_getCString(string);
  std::string copy = text != nullptr ? text : "";
  clang_disposeString(string);
  return copy;
}

std::string name_of(CXCursor cursor) { return text_of(clang_getCursorSpelling(cursor)); }

std::vector<CXCursor> children(CXCursor cursor) {
  std::vector<CXCursor> found;
  clang_visitChildren(
      cursor,
      [](CXCursor child, CXCursor, CXClientData into) {
        static_cast<std::vector<CXCursor> *>(into)->push_back(child);
        return CXChildVisit_Continue;
      },
      &found);
  return found;
}

std::vector<CXCursor> code_children(CXCursor cursor) {
  std::vector<CXCursor> found = children(cursor);
  std::erase_if(found, [](CXCursor child) {
    const CXCursorKind kind = clang_getCursorKind(child);
    return clang_isExpression(kind) == 0 && clang_isStatement(kind) == 0;
  });
  return found;
}

CXFile file_of(CXCursor cursor) {
  uint32_t offset = 0;
  return place(clang_getRangeStart(clang_getCursorExtent(cursor)), &offset);
}

Span span_of(CXCursor cursor) {
  const CXSourceRange range = clang_getCursorExtent(cursor);
  Span span;
  place(clang_getRangeStart(range), &span.begin);
  place(clang_getRangeEnd(range), &span.end);
  return span;
}

uint32_t location_of(CXCursor cursor) {
  uint32_t offset = 0;
  place(clang_getCursorLocation(cursor), &offset);
  return offset;
}

bool is_implicit(CXCursor cursor) { return file_of(cursor) == nullptr; }

bool has_attribute(CXCursor declaration, CXCursorKind attribute) {
  const std::vector<CXCursor> all = children(declaration);
  return std::any_of(all.begin(), all.end(), [attribute](CXCursor child) {
    return clang_getCursorKind(child) == attribute && !is_implicit(child);
  });
}

bool is_reference(CXType type) { return type.kind == CXType_LValueReference || type.kind == CXType_RValueReference; }

std::string key_of(CXCursor declaration) {
  const CXCursor pattern = clang_getSpecializedCursorTemplate(declaration);
  if (clang_Cursor_isNull(pattern) == 0) return key_of(pattern);
  return text_of(clang_getCursorUSR(clang_getCanonicalCursor(declaration)));
}

std::string qualified_name(CXCursor declaration) {
  std::string name = name_of(declaration);
  for (CXCursor scope = clang_getCursorSemanticParent(declaration);
       clang_isDeclaration(clang_getCursorKind(scope)) != 0; scope = clang_getCursorSemanticParent(scope)) {
    const std::string outer = name_of(scope);
    if (!outer.empty() && outer.find('(') == std::string::npos) name = outer + "::" + name;
  }
  return name;
}

CXCursor bare(CXCursor expression) {
  for (;;) {
    const CXCursorKind kind = clang_getCursorKind(expression);
    if (kind != CXCursor_UnexposedExpr && kind != CXCursor_ParenExpr) return expression;
    const std::vector<CXCursor> inner = code_children(expression);
    if (inner.size() != 1) return expression;
    expression = inner.front();
  }
}

CXCursor referenced(CXCursor expression) {
  const CXCursor found = clang_getCursorReferenced(bare(expression));
  if (clang_getCursorKind(found) != CXCursor_OverloadedDeclRef) return found;
  return clang_getNumOverloadedDecls(found) != 0 ? clang_getOverloadedDecl(found, 0) : clang_getNullCursor();
}

bool is_constexpr(CXCursor declaration) {
  CXPrintingPolicy policy = clang_getCursorPrintingPolicy(declaration);
  clang_PrintingPolicy_setProperty(policy, CXPrintingPolicy_TerseOutput, 1);
  std::string text = text_of(clang_getCursorPrettyPrinted(declaration, policy));
  clang_PrintingPolicy_dispose(policy);
  // It stands before the name; after that comes what may say anything.
  text.resize(
      std::min(text.size(), text.find(name_of(declaration) + (text.find('(') != std::string::npos ? "(" : ""))));
  return has_word(text, "constexpr") || has_word(text, "consteval");
}

}  // namespace cairn::instrument
