#include "gpu/instrument/meaning.h"

#include <algorithm>
#include <array>

namespace cairn::instrument {
namespace {

/// What never runs, whatever stands in it.
bool is_unevaluated(CXCursorKind kind) { return kind == CXCursor_UnaryExpr || kind == CXCursor_CXXTypeidExpr; }

template <typename Question>
bool any_part(CXCursor expression, Question question) {
  const std::vector<CXCursor> parts = code_children(expression);
  return std::any_of(parts.begin(), parts.end(), question);
}

bool is_builtin_variable(const std::string &name) {
  static constexpr std::array kNames = {"threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

bool is_assignment(const std::string &word) {
  if (!word.ends_with('=')) return false;
  for (const char *comparison : {"==", "!=", "<=", ">="}) {
    if (word.ends_with(comparison)) return false;
  }
  return true;
}

/// Before or after its operand; around a macro's call there may be more.
bool is_step(const std::string &word) {
  return word.starts_with("++") || word.starts_with("--") || word.ends_with("++") || word.ends_with("--");
}

/// A variable that is not in a register: global, shared, or reached through a reference.
bool is_in_memory(CXCursor variable) {
  const CXCursorKind kind = clang_getCursorKind(variable);
  if (kind != CXCursor_VarDecl && kind != CXCursor_ParmDecl) return false;
  if (is_reference(clang_getCursorType(variable))) return true;
  if (kind == CXCursor_ParmDecl || is_builtin_variable(name_of(variable)) || is_constexpr(variable)) return false;
  const bool is_const = clang_isConstQualifiedType(clang_getCursorType(variable)) != 0;
  if (clang_Cursor_hasVarDeclGlobalStorage(variable) == 1) return !is_const;
  return has_attribute(variable, CXCursor_CUDASharedAttr);
}

/// A function that computes a value from values.
bool is_pure(CXCursor function) {
  if (!is_constexpr(function)) return false;
  const CXType type = clang_getCursorType(function);
  for (int i = 0; i < clang_getNumArgTypes(type); ++i) {
    const CXType argument = clang_getCanonicalType(clang_getArgType(type, static_cast<unsigned>(i)));
    if (argument.kind == CXType_Pointer || argument.kind == CXType_RValueReference) return false;
    if (argument.kind == CXType_LValueReference && clang_isConstQualifiedType(clang_getPointeeType(argument)) == 0)
      return false;
  }
  return clang_getCursorKind(function) == CXCursor_FunctionDecl ||
         clang_getCursorKind(function) == CXCursor_FunctionTemplate;
}

std::string text_between(CXCursor expression, uint32_t begin, uint32_t end) {
  const CXTranslationUnit unit = clang_Cursor_getTranslationUnit(expression);
  size_t size = 0;
  const char *bytes = clang_getFileContents(unit, file_of(expression), &size);
  if (bytes == nullptr || begin > end || end > size) return {};
  return {bytes + begin, end - begin};
}

/// Without blanks, comments and ends of lines.
std::string without_comments(const std::string &text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "/*") == 0) {
      i = std::min(text.size(), text.find("*/", i + 2)) + 1;
    } else if (text.compare(i, 2, "//") == 0) {
      i = std::min(text.size(), text.find('\n', i));
    } else if (std::string_view(" \t\r\n\\").find(text[i]) == std::string_view::npos) {
      out += text[i];
    }
  }
  return out;
}

/// As written: "++", "+=", "*". The syntax tree has the operators, this interface to it does not.
std::string operator_of(CXCursor expression) {
  const std::vector<CXCursor> parts = code_children(expression);
  const Span whole = span_of(expression);
  if (parts.size() == 2) {
    return without_comments(text_between(expression, span_of(parts[0]).end, span_of(parts[1]).begin));
  }
  if (parts.size() != 1) return {};
  const Span inner = span_of(parts[0]);
  return without_comments(text_between(expression, whole.begin, inner.begin)) +
         without_comments(text_between(expression, inner.end, whole.end));
}

/// Whether evaluating it changes something, whatever its parts do.
bool is_change(CXCursor expression) {
  switch (clang_getCursorKind(expression)) {
    case CXCursor_CompoundAssignOperator:
    case CXCursor_CXXNewExpr:
    case CXCursor_CXXDeleteExpr:
    case CXCursor_StmtExpr:
      return true;
    case CXCursor_UnaryOperator:
      return is_step(operator_of(expression));
    case CXCursor_BinaryOperator:
      return is_assignment(operator_of(expression));
    default:
      return false;
  }
}

}  // namespace

bool needs_branch(CXCursor expression) {
  const CXCursorKind kind = clang_getCursorKind(expression);
  if (is_unevaluated(kind)) return false;
  switch (kind) {
    case CXCursor_CallExpr:
    case CXCursor_ArraySubscriptExpr:
      return true;
    case CXCursor_LambdaExpr:
      return false;
    case CXCursor_DeclRefExpr:
      return is_in_memory(clang_getCursorReferenced(expression));
    case CXCursor_MemberRefExpr: {
      const std::vector<CXCursor> parts = code_children(expression);
      if (parts.empty()) return true;  // of this object
      const CXTypeKind base = clang_getCanonicalType(clang_getCursorType(parts.front())).kind;
      return base == CXType_Pointer || needs_branch(parts.front());
    }
    case CXCursor_UnaryOperator:
      if (operator_of(expression).starts_with('*')) return true;
      break;
    default:
      break;
  }
  return is_change(expression) || any_part(expression, needs_branch);
}

bool has_side_effects(CXCursor expression) {
  const CXCursorKind kind = clang_getCursorKind(expression);
  if (is_unevaluated(kind)) return false;
  switch (kind) {
    case CXCursor_CallExpr: {
      const CXCursor callee = clang_getCursorReferenced(expression);
      const bool is_dim3 = clang_getCursorKind(callee) == CXCursor_Constructor && name_of(callee) == "dim3";
      if (!is_dim3 && !is_pure(callee)) return true;
      break;
    }
    case CXCursor_LambdaExpr:
      return true;
    default:
      break;
  }
  return is_change(expression) || any_part(expression, has_side_effects);
}

bool is_constant(CXCursor expression) {
  const CXCursorKind kind = clang_getCursorKind(expression);
  if (is_unevaluated(kind)) return true;
  if (kind == CXCursor_MemberRefExpr || kind == CXCursor_ArraySubscriptExpr || kind == CXCursor_CXXThisExpr ||
      kind == CXCursor_LambdaExpr || kind == CXCursor_StmtExpr) {
    return false;
  }
  if (kind == CXCursor_CallExpr && !is_pure(clang_getCursorReferenced(expression))) return false;
  if (kind == CXCursor_DeclRefExpr) {
    const CXCursor target = clang_getCursorReferenced(expression);
    switch (clang_getCursorKind(target)) {
      case CXCursor_VarDecl: {
        if (is_constexpr(target)) return true;
        const CXCursor value = clang_Cursor_getVarDeclInitializer(target);
        return clang_isConstQualifiedType(clang_getCursorType(target)) != 0 && clang_Cursor_isNull(value) == 0 &&
               is_constant(value);
      }
      case CXCursor_ParmDecl:
      case CXCursor_FieldDecl:
        return false;
      default:
        return true;
    }
  }
  return !any_part(expression, [](CXCursor part) { return !is_constant(part); });
}

bool is_null_constant(const CXCursor &expression) {
  const CXCursor inner = bare(expression);
  const CXCursorKind kind = clang_getCursorKind(inner);
  if (kind == CXCursor_GNUNullExpr) return true;
  if (kind != CXCursor_IntegerLiteral) return false;
  const CXEvalResult value = clang_Cursor_Evaluate(inner);
  const bool is_zero = value != nullptr && clang_EvalResult_getAsLongLong(value) == 0;
  if (value != nullptr) clang_EvalResult_dispose(value);
  return is_zero;
}

}  // namespace cairn::instrument
