// Statements: where control parts and meets again.
#include <algorithm>

#include "gpu/instrument/body_walker.h"

namespace cairn::instrument {
namespace {

bool is_label(CXCursor cursor) {
  const CXCursorKind kind = clang_getCursorKind(cursor);
  return kind == CXCursor_CaseStmt || kind == CXCursor_DefaultStmt;
}

std::string_view keyword_of(CXCursorKind kind) {
  switch (kind) {
    case CXCursor_IfStmt:
      return "if";
    case CXCursor_ForStmt:
    case CXCursor_CXXForRangeStmt:
      return "for";
    case CXCursor_WhileStmt:
      return "while";
    case CXCursor_DoStmt:
      return "do";
    case CXCursor_SwitchStmt:
      return "switch";
    case CXCursor_CaseStmt:
      return "case";
    case CXCursor_DefaultStmt:
      return "default";
    default:
      return {};
  }
}

}  // namespace

Span BodyWalker::extent(CXCursor cursor) const {
  Span span = span_of(cursor);
  if (const Source::Macro *first = source_.macro_at(span.begin); first != nullptr) span.begin = first->call.begin;
  if (span.end == 0) return span;
  if (const Source::Macro *last = source_.macro_at(span.end - 1); last != nullptr) span.end = last->call.end;
  return span;
}

bool BodyWalker::is_spelled(CXCursor cursor, std::string_view keyword) const {
  const uint32_t begin = extent(cursor).begin;
  return source_.has(begin, keyword) && source_.macro_at(begin) == nullptr;
}

size_t BodyWalker::header_end(CXCursor cursor) const {
  size_t open = source_.token_from(extent(cursor).begin);
  while (open < source_.token_count() && source_.word(open) != "(" && source_.word(open) != "{") ++open;
  return source_.closing(open);
}

uint32_t BodyWalker::end_of(CXCursor cursor) const {
  const Span span = extent(cursor);
  if (source_.macro_at(span.begin) == nullptr) {
    switch (clang_getCursorKind(cursor)) {
      case CXCursor_CompoundStmt:
        return span.end;
      case CXCursor_NullStmt:
      case CXCursor_DeclStmt:
        if (source_.text[span.end - 1] == ';') return span.end;
        break;
      case CXCursor_IfStmt:
      case CXCursor_ForStmt:
      case CXCursor_WhileStmt:
      case CXCursor_CXXForRangeStmt:
      case CXCursor_SwitchStmt:
      case CXCursor_LabelStmt:
      case CXCursor_CaseStmt:
      case CXCursor_DefaultStmt:
      case CXCursor_UnexposedStmt: {
        const std::vector<CXCursor> parts = code_children(cursor);
        return parts.empty() ? 0 : end_of(parts.back());
      }
      default:
        break;
    }
  }
  const size_t next = source_.token_from(span.end);
  if (source_.word(next) == ";") return source_.token(next).end;
  const Source::Macro *macro = source_.macro_at(span.end - 1);
  return macro != nullptr && macro->call.end == span.end ? span.end : 0;
}

void BodyWalker::statement(CXCursor cursor) {
  const CXCursorKind kind = clang_getCursorKind(cursor);
  const std::string_view keyword = keyword_of(kind);
  if (!keyword.empty() && !is_spelled(cursor, keyword)) return opaque(cursor);
  switch (kind) {
    case CXCursor_CompoundStmt:
      return compound(cursor);
    case CXCursor_IfStmt:
      return if_statement(cursor);
    case CXCursor_ForStmt:
    case CXCursor_WhileStmt:
    case CXCursor_CXXForRangeStmt:
      return loop(cursor);
    case CXCursor_DoStmt:
      return do_loop(cursor);
    case CXCursor_SwitchStmt:
      return switch_statement(cursor);
    case CXCursor_CaseStmt:
    case CXCursor_DefaultStmt:
      return label_statement(cursor, false);
    case CXCursor_LabelStmt:
    case CXCursor_GotoStmt:
      return goto_label(cursor);
    case CXCursor_BreakStmt:
    case CXCursor_ContinueStmt: {
      const std::vector<int> &targets = kind == CXCursor_BreakStmt ? breaks_ : continues_;
      if (!targets.empty()) program_.flow.join(current_, targets.back());
      current_ = Flow::kNone;
      return;
    }
    case CXCursor_ReturnStmt:
      parts_of(cursor);
      current_ = Flow::kNone;
      return;
    case CXCursor_DeclStmt:
      for (const CXCursor child : children(cursor)) variable(child);
      return;
    default:
      return clang_isExpression(kind) != 0 ? expression(cursor) : parts_of(cursor);
  }
}

void BodyWalker::compound(CXCursor cursor) {
  for (const CXCursor child : code_children(cursor)) {
    if (is_label(child) && is_spelled(child, keyword_of(clang_getCursorKind(child)))) {
      label_statement(child, true);
    } else {
      statement(child);
    }
  }
}

void BodyWalker::variable(CXCursor declaration) {
  if (clang_getCursorKind(declaration) != CXCursor_VarDecl) {
    // A structured binding. A class of its own has functions that the survey found.
    if (clang_getCursorKind(declaration) == CXCursor_UnexposedDecl) parts_of(declaration);
    return;
  }
  const CXCursor value = clang_Cursor_getVarDeclInitializer(declaration);
  if (clang_Cursor_isNull(value) != 0) return;
  const bool is_constant = is_constexpr(declaration);
  const bool is_muted = is_constant || clang_Cursor_hasVarDeclGlobalStorage(declaration) == 1;
  if (is_muted) {
    mute(extent(declaration).begin, std::string("the initialiser of ") + (is_constant ? "constexpr" : "static") +
                                        " variable '" + name_of(declaration) +
                                        "' is not traced: no point can stand there");
  }
  if (!program_.accesses || !bound(declaration, value)) operand(value);
  if (is_muted) unmute();
}

void BodyWalker::arm(CXCursor cursor, uint32_t after, Kind kind, uint32_t shown_at) {
  const Span span = extent(cursor);
  const bool has_braces = clang_getCursorKind(cursor) == CXCursor_CompoundStmt && source_.text[span.begin] == '{' &&
                          source_.macro_at(span.begin) == nullptr;
  const uint32_t end = has_braces ? span.end : end_of(cursor);
  const bool is_possible = has_braces || (end != 0 && !source_.within_macro(after) && !source_.within_macro(end));
  if (!is_possible) mute_macro(span.begin);
  const uint32_t begin = has_braces ? span.begin + 1 : after;
  const int put = point(kind, begin, shown_at);
  const bool is_turn = program_.only_turns && kind == Kind::loop && mutes_.empty() && put_.emplace(begin, kind).second;
  if (put >= 0) source_.begin_at(begin, {has_braces ? " CAIRN_POINT(" : " { CAIRN_POINT(", put, ");"});
  if (is_turn) source_.begin_at(begin, {has_braces ? " CAIRN_TURN();" : " { CAIRN_TURN();", -1, {}});
  statement(cursor);
  if ((put >= 0 || is_turn) && !has_braces) source_.end_at(end, {" }", -1, {}});
  if (!is_possible) unmute();
}

void BodyWalker::if_statement(CXCursor cursor) {
  const size_t closing = header_end(cursor);
  const uint32_t begin = extent(cursor).begin;
  const uint32_t header = source_.token(closing).end;
  const std::string_view second = source_.word(source_.token_from(begin) + 1);
  // With constexpr there is no decision when the kernel runs; nor any with consteval, whose condition is none.
  const bool is_static = second == "constexpr" || second == "consteval" || second == "!";
  std::vector<CXCursor> arms;
  for (const CXCursor child : children(cursor)) {
    if (extent(child).begin >= header) {
      arms.push_back(child);
    } else if (clang_isDeclaration(clang_getCursorKind(child)) != 0) {
      variable(child);
    } else if (!is_static) {
      statement(child);
    }
  }
  if (arms.empty() || arms.size() > 2) return opaque(cursor);
  const int decision = current_;
  if (is_static) {
    statement(arms[0]);
  } else {
    arm(arms[0], header, Kind::then, begin);
  }
  const int after_then = current_;
  current_ = decision;
  if (arms.size() == 2) {
    const size_t word = source_.token_from(end_of(arms[0]));
    if (is_static) {
      statement(arms[1]);
    } else if (source_.word(word) == "else") {
      arm(arms[1], source_.token(word).end, Kind::otherwise, source_.token(word).begin);
    } else {
      opaque(arms[1]);
    }
  }
  meet(after_then);
}

void BodyWalker::loop(CXCursor cursor) {
  const size_t closing = header_end(cursor);
  const uint32_t begin = extent(cursor).begin;
  const uint32_t header = source_.token(closing).end;
  std::vector<CXCursor> parts = children(cursor);
  const CXCursor body = parts.back();
  parts.pop_back();
  const bool is_for = clang_getCursorKind(cursor) == CXCursor_ForStmt;
  const bool is_range = clang_getCursorKind(cursor) == CXCursor_CXXForRangeStmt;
  // Any part of a for's header may be missing: the semicolons tell which is which.
  std::vector<uint32_t> semicolons;
  size_t depth = 0;
  for (size_t i = source_.token_from(begin); is_for && i < closing; ++i) {
    const std::string_view word = source_.word(i);
    if (word == "(" || word == "[" || word == "{") ++depth;
    if (word == ")" || word == "]" || word == "}") --depth;
    if (word == ";" && depth == 1) semicolons.push_back(source_.token(i).begin);
  }
  if (is_for && semicolons.size() != 2) return opaque(cursor);
  const auto walk = [&](uint32_t from, uint32_t to) {
    bool any = false;
    for (const CXCursor part : parts) {
      const uint32_t at = extent(part).begin;
      if (at < from || at >= to) continue;
      any = true;
      // The variable of a range-for is the iterator's business.
      if (clang_isDeclaration(clang_getCursorKind(part)) == 0) {
        statement(part);
      } else if (!is_range) {
        variable(part);
      }
    }
    return any;
  };
  if (is_for) walk(begin, semicolons[0]);
  if (is_range) walk(begin, header);
  const int head = program_.flow.add(current_);
  const int again = program_.flow.add();
  const int end = program_.flow.add();
  current_ = head;
  const bool has_exit = is_for ? walk(semicolons[0], semicolons[1]) : is_range || walk(begin, header);
  if (has_exit) program_.flow.join(current_, end);
  breaks_.push_back(end);
  continues_.push_back(again);
  arm(body, header, Kind::loop, begin);
  breaks_.pop_back();
  continues_.pop_back();
  program_.flow.join(current_, again);
  current_ = again;
  if (is_for) walk(semicolons[1], header);
  program_.flow.join(current_, head);
  current_ = end;
}

void BodyWalker::do_loop(CXCursor cursor) {
  const std::vector<CXCursor> parts = code_children(cursor);
  if (parts.size() != 2) return opaque(cursor);
  const Span keyword = source_.token(source_.token_from(extent(cursor).begin));
  const int head = program_.flow.add(current_);
  const int again = program_.flow.add();
  const int end = program_.flow.add();
  current_ = head;
  breaks_.push_back(end);
  continues_.push_back(again);
  arm(parts[0], keyword.end, Kind::loop, keyword.begin);
  breaks_.pop_back();
  continues_.pop_back();
  program_.flow.join(current_, again);
  current_ = again;
  expression(parts[1]);
  program_.flow.join(current_, head);
  program_.flow.join(current_, end);
  current_ = end;
}

void BodyWalker::switch_statement(CXCursor cursor) {
  std::vector<CXCursor> parts = children(cursor);
  const CXCursor body = parts.back();
  parts.pop_back();
  for (const CXCursor part : parts) {
    if (clang_isDeclaration(clang_getCursorKind(part)) != 0) {
      variable(part);
    } else {
      statement(part);
    }
  }
  const int head = program_.flow.add(current_);
  const int end = program_.flow.add();
  current_ = Flow::kNone;
  breaks_.push_back(end);
  switches_.push_back({head, false});
  statement(body);
  if (!switches_.back().has_default) program_.flow.join(head, end);
  switches_.pop_back();
  breaks_.pop_back();
  program_.flow.join(current_, end);
  current_ = end;
}

void BodyWalker::label_statement(CXCursor cursor, bool in_braces) {
  const std::vector<CXCursor> parts = code_children(cursor);
  const bool is_default = clang_getCursorKind(cursor) == CXCursor_DefaultStmt;
  const uint32_t begin = extent(cursor).begin;
  size_t colon = source_.token_from(is_default || parts.size() < 2 ? begin : extent(parts[parts.size() - 2]).end);
  while (colon < source_.token_count() && source_.word(colon) != ":") ++colon;
  const uint32_t after = source_.token(colon).end;
  if (!switches_.empty()) {
    if (is_default) switches_.back().has_default = true;
    current_ = program_.flow.add(current_);
    program_.flow.join(switches_.back().head, current_);
  }
  if (parts.empty()) return;
  // Out of braces the label is all of a body or an arm: what is put behind it must still be one statement.
  if (!in_braces) return arm(parts.back(), after, Kind::label, begin);
  const int put = point(Kind::label, after, begin);
  if (put >= 0) source_.begin_at(after, {" CAIRN_POINT(", put, ");"});
  if (is_label(parts.back()) && is_spelled(parts.back(), keyword_of(clang_getCursorKind(parts.back())))) {
    label_statement(parts.back(), true);
  } else {
    statement(parts.back());
  }
}

void BodyWalker::goto_label(CXCursor cursor) {
  const bool is_jump = clang_getCursorKind(cursor) == CXCursor_GotoStmt;
  std::string name = name_of(cursor);
  for (const CXCursor child : children(cursor)) {
    if (is_jump && clang_getCursorKind(child) == CXCursor_LabelRef) name = name_of(child);
  }
  const auto [place, is_new] = labels_.try_emplace(name, Flow::kNone);
  if (is_new) place->second = program_.flow.add();
  const int node = place->second;
  program_.flow.join(current_, node);
  current_ = is_jump ? Flow::kNone : node;
  if (!is_jump) parts_of(cursor);
}

void BodyWalker::opaque(CXCursor cursor) {
  const CXCursorKind kind = clang_getCursorKind(cursor);
  const bool is_loop = kind == CXCursor_ForStmt || kind == CXCursor_WhileStmt || kind == CXCursor_DoStmt ||
                       kind == CXCursor_CXXForRangeStmt;
  const bool is_switch = kind == CXCursor_SwitchStmt;
  mute_macro(extent(cursor).begin);
  point(Kind::then, extent(cursor).begin, extent(cursor).begin);  // only to say that there is none
  const int any = program_.flow.add(current_);
  const int end = program_.flow.add(any);
  if (is_label(cursor) && !switches_.empty()) {
    switches_.back().has_default |= kind == CXCursor_DefaultStmt;
    program_.flow.join(switches_.back().head, any);
  }
  if (is_loop || is_switch) breaks_.push_back(end);
  if (is_loop) continues_.push_back(any);
  if (is_switch) switches_.push_back({any, false});
  for (const CXCursor part : code_children(cursor)) {
    current_ = any;
    statement(part);
    program_.flow.join(current_, is_loop ? any : end);
  }
  if (is_loop || is_switch) breaks_.pop_back();
  if (is_loop) continues_.pop_back();
  if (is_switch) switches_.pop_back();
  current_ = end;
  unmute();
}

}  // namespace cairn::instrument
