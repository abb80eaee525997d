// What this room asks of libclang's cursors, in C++ values. Cursors are handles into a translation unit: they cost
// nothing to copy and live as long as it does. Nothing fails; what a cursor lacks is empty.
#pragma once

#include <clang-c/Index.h>

#include <cstdint>
#include <string>
#include <vector>

namespace cairn::instrument {

/// Bytes of a file, from `begin` up to `end`.
struct Span {
  uint32_t begin = 0;
  uint32_t end = 0;
};

/// Takes the string over.
std::string text_of(CXString string);
std::string name_of(CXCursor cursor);
std::vector<CXCursor> children(CXCursor cursor);
/// Only those that are expressions or statements.
std::vector<CXCursor> code_children(CXCursor cursor);

/// The file that the cursor is spelled in, or that a macro was called in which it comes from; null if it is nowhere.
CXFile file_of(CXCursor cursor);
/// Of its text. What comes from the body of a macro spans the call of that macro.
Span span_of(CXCursor cursor);
/// Where its name stands.
uint32_t location_of(CXCursor cursor);
/// Whether it stands in the source, by a word of the language or of a macro.
bool has_attribute(CXCursor declaration, CXCursorKind attribute);
bool is_reference(CXType type);
/// Nothing in the source: an attribute or argument that the compiler put there.
bool is_implicit(CXCursor cursor);

/// The same for all declarations of an entity, for a template and what it is instantiated to.
std::string key_of(CXCursor declaration);
/// "space::Class::name", without arguments.
std::string qualified_name(CXCursor declaration);
/// Without the conversions and parentheses around it.
CXCursor bare(CXCursor expression);
/// What an expression names: a declaration, one of several where only an instantiation can tell, or null.
CXCursor referenced(CXCursor expression);
/// Declared with `constexpr` or `consteval`.
bool is_constexpr(CXCursor declaration);

}  // namespace cairn::instrument
