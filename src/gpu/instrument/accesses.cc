// Accesses to memory: which expressions load from, store to or change what lies behind a pointer, in a `__shared__`
// array or in one of the device's own, and the points at them. What a lane has for itself (arrays of a function, what
// is passed by value) is none; nor is what only binds a reference or takes an address.
#include <algorithm>
#include <array>
#include <optional>

#include "gpu/instrument/body_walker.h"

namespace cairn::instrument {
namespace {

CXTypeKind canonical_kind(CXType type) { return clang_getCanonicalType(type).kind; }

bool is_array(CXType type) {
  const CXTypeKind kind = canonical_kind(type);
  return kind == CXType_ConstantArray || kind == CXType_IncompleteArray || kind == CXType_VariableArray ||
         kind == CXType_DependentSizedArray;
}

/// Known only when a template is instantiated: then there are no conversions in the tree.
bool is_dependent(CXType type) {
  const CXTypeKind kind = canonical_kind(type);
  return kind == CXType_Dependent || kind == CXType_Unexposed;
}

/// An array that all lanes of a block, or of the device, see.
bool is_seen_by_others(CXCursor variable) {
  if (clang_getCursorKind(variable) != CXCursor_VarDecl) return false;
  if (has_attribute(variable, CXCursor_CUDASharedAttr)) return true;
  return clang_Cursor_hasVarDeclGlobalStorage(variable) == 1 && !has_attribute(variable, CXCursor_CUDAConstantAttr) &&
         !is_constexpr(variable);
}

bool lies_in_memory(CXCursor place);

/// What is pointed to, or is part of, by what stands in front of `[`, `->`, or behind `*`.
bool leads_to_memory(CXCursor base) {
  const CXCursor inner = bare(base);
  if (is_array(clang_getCursorType(inner))) {
    return clang_getCursorKind(inner) == CXCursor_DeclRefExpr ? is_seen_by_others(clang_getCursorReferenced(inner))
                                                              : lies_in_memory(inner);
  }
  return canonical_kind(clang_getCursorType(base)) == CXType_Pointer ||
         canonical_kind(clang_getCursorType(inner)) == CXType_Pointer;
}

/// Whether an lvalue lies in memory that kernels share, as far as its syntax tells.
bool lies_in_memory(CXCursor place) {
  place = bare(place);
  const std::vector<CXCursor> parts = code_children(place);
  if (parts.empty()) return false;
  switch (clang_getCursorKind(place)) {
    case CXCursor_ArraySubscriptExpr:
    case CXCursor_UnaryOperator:  // a dereference, or no place
      return leads_to_memory(parts.front());
    case CXCursor_MemberRefExpr: {
      const CXCursor field = clang_getCursorReferenced(place);
      if (clang_getCursorKind(field) != CXCursor_FieldDecl || clang_Cursor_isBitField(field) != 0) return false;
      if (is_reference(clang_getCanonicalType(clang_getCursorType(field)))) return false;
      const CXTypeKind base = canonical_kind(clang_getCursorType(bare(parts.front())));
      return base == CXType_Pointer || lies_in_memory(parts.front());
    }
    default:
      return false;
  }
}

std::optional<Kind> kind_of_assignment(std::string_view word) {
  constexpr std::array<std::string_view, 10> kUpdates = {"+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};
  if (word == "=") return Kind::store;
  if (std::find(kUpdates.begin(), kUpdates.end(), word) != kUpdates.end()) return Kind::update;
  return std::nullopt;
}

/// Of CUDA's functions that take the address as their first argument.
std::optional<Kind> kind_of_call(const std::string &name) {
  constexpr std::array<std::string_view, 11> kAtomics = {"atomicAdd", "atomicSub", "atomicExch", "atomicMin",
                                                         "atomicMax", "atomicInc", "atomicDec",  "atomicCAS",
                                                         "atomicAnd", "atomicOr",  "atomicXor"};
  constexpr std::array<std::string_view, 6> kLoads = {"__ldg", "__ldca", "__ldcg", "__ldcs", "__ldlu", "__ldcv"};
  constexpr std::array<std::string_view, 4> kStores = {"__stwb", "__stcg", "__stcs", "__stwt"};
  std::string_view plain = name;
  for (const std::string_view scope : {"_block", "_system"}) {
    if (plain.ends_with(scope)) plain.remove_suffix(scope.size());
  }
  const auto is_one_of = [](const auto &names, std::string_view one) {
    return std::find(names.begin(), names.end(), one) != names.end();
  };
  if (is_one_of(kAtomics, plain)) return Kind::atomic;
  if (is_one_of(kLoads, std::string_view(name))) return Kind::load;
  if (is_one_of(kStores, std::string_view(name))) return Kind::store;
  return std::nullopt;
}

}  // namespace

int BodyWalker::begin_access(const Span &span, Kind kind, uint32_t offset, const char *word) {
  // What a macro has of it need not be an expression of its own.
  const bool is_spelled = source_.macro_at(span.begin) == nullptr && source_.macro_at(span.end - 1) == nullptr;
  if (!is_spelled) mute_macro(span.begin);
  const int put = place(kind, offset, span.begin);
  if (!is_spelled) unmute();
  if (put >= 0) source_.begin_at(span.begin, {word, put, ", ("});
  return put;
}

void BodyWalker::end_access(const Span &span, int put) {
  if (put < 0) return;
  source_.end_at(span.end, {"))", -1, {}});
  current_ = program_.flow.add(current_, put);
}

void BodyWalker::parts_of_place(CXCursor lvalue) {
  const std::vector<CXCursor> parts = code_children(lvalue);
  if (!parts.empty()) statement(parts.front());
  for (size_t i = 1; i < parts.size(); ++i) operand(parts[i]);  // an index
}

void BodyWalker::access(CXCursor lvalue, Kind kind) {
  lvalue = bare(lvalue);
  const Span span = extent(lvalue);
  // Accesses of one expression may begin at one byte (a[i][j]) or end at one (*a[i]): one of the two tells them apart.
  const bool by_begin = clang_getCursorKind(lvalue) == CXCursor_UnaryOperator;
  const int put = begin_access(span, kind, by_begin ? span.begin : span.end - 1, "CAIRN_ACCESS(");
  parts_of_place(lvalue);
  end_access(span, put);
}

void BodyWalker::access_through(CXCursor address, Kind kind) {
  const Span span = extent(address);
  const int put = begin_access(span, kind, span.begin, "CAIRN_THROUGH(");
  expression(address);
  end_access(span, put);
}

bool BodyWalker::accessed(CXCursor cursor) {
  const CXCursorKind cursor_kind = clang_getCursorKind(cursor);
  const std::vector<CXCursor> parts = code_children(cursor);
  if (parts.empty()) return false;
  const auto behind = [&](CXCursor part) { return source_.word(source_.token_from(extent(part).end)); };
  switch (cursor_kind) {
    case CXCursor_BinaryOperator:
    case CXCursor_CompoundAssignOperator: {
      const auto kind = kind_of_assignment(behind(parts.front()));
      if (!kind || parts.size() != 2 || !lies_in_memory(parts[0])) return false;
      operand(parts[1]);
      access(parts[0], *kind);
      return true;
    }
    case CXCursor_CStyleCastExpr:
    case CXCursor_CXXStaticCastExpr:
    case CXCursor_CXXFunctionalCastExpr: {
      const CXType type = clang_getCanonicalType(clang_getCursorType(cursor));
      if (is_reference(type) || type.kind == CXType_Void) return false;
      for (const CXCursor part : parts) operand(part);
      return true;
    }
    case CXCursor_UnexposedExpr:  // a conversion: the value is wanted
      return loaded(cursor);
    case CXCursor_UnaryOperator: {
      const std::string_view before = source_.word(source_.token_from(extent(cursor).begin));
      const std::string_view after = behind(parts.front());
      if (before == "&") {
        parts_of_place(bare(parts.front()));
        return true;
      }
      const bool steps = before == "++" || before == "--" || after == "++" || after == "--";
      if (before != "*" && steps && lies_in_memory(parts.front())) {
        access(parts.front(), Kind::update);
        return true;
      }
      if (before != "*") return false;
      break;
    }
    case CXCursor_ArraySubscriptExpr:
      break;
    default:
      return false;
  }
  if (is_dependent(clang_getCursorType(cursor)) && lies_in_memory(cursor)) {
    access(cursor, Kind::load);
  } else {
    parts_of_place(cursor);
  }
  return true;
}

bool BodyWalker::loaded(CXCursor operand) {
  const CXCursor inner = bare(operand);
  if (!lies_in_memory(inner) || is_array(clang_getCursorType(inner))) return false;
  access(inner, Kind::load);
  return true;
}

bool BodyWalker::bound(CXCursor reference, CXCursor place) {
  if (!is_reference(clang_getCursorType(reference)) || !lies_in_memory(place)) return false;
  parts_of_place(bare(place));
  return true;
}

bool BodyWalker::accessed_by_call(CXCursor call, CXCursor callee, CXCursor part) {
  // Which function it is may depend on a template's arguments.
  const bool is_open = clang_Cursor_isNull(clang_getCursorReferenced(call)) != 0;
  if (clang_Cursor_getNumArguments(call) < 1) return false;
  const CXCursor first = clang_Cursor_getArgument(call, 0);
  if (clang_equalCursors(first, part) == 0) return is_open && loaded(part);
  if (lies_in_memory(first)) {
    const auto kind = kind_of_assignment(source_.word(source_.token_from(extent(first).end)));
    if (kind) {
      access(first, *kind);
      return true;
    }
  }
  if (clang_Cursor_isNull(callee) == 0 && program_.source(callee) == nullptr) {
    const auto kind = kind_of_call(name_of(callee));
    if (kind && canonical_kind(clang_getCursorType(first)) == CXType_Pointer) {
      access_through(first, *kind);
      return true;
    }
  }
  return is_open && loaded(part);
}

}  // namespace cairn::instrument
