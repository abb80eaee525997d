// Expressions: `?:`, `&&`, `||`, calls, values and lambdas; and what all of the walker shares.
#include <algorithm>

#include "gpu/instrument/body_walker.h"
#include "gpu/instrument/kernels.h"
#include "gpu/instrument/meaning.h"

namespace cairn::instrument {
namespace {

/// What a lambda is called by: its call operator has no cursor that could be asked where it is written down.
std::string lambda_key(const Source &source, uint32_t offset) {
  return "lambda " + std::to_string(offset) + " " + source.path;
}

/// A device function of the project's that is defined in none of the files.
bool is_elsewhere(const Program &program, CXCursor callee) {
  const CXSourceLocation location = clang_getCursorLocation(callee);
  if (clang_Location_isInSystemHeader(location) != 0 || clang_Cursor_isNull(clang_getCursorDefinition(callee)) == 0) {
    return false;
  }
  if (!has_attribute(callee, CXCursor_CUDADeviceAttr) ||
      text_of(clang_getFileName(file_of(callee))).starts_with("/cairn-instrument/"))
    return false;
  const std::string key = key_of(callee);
  return std::none_of(program.functions.begin(), program.functions.end(),
                      [&](const Function &each) { return key_of(each.cursor) == key; });
}

bool is_arithmetic(CXType type) {
  const CXTypeKind kind = clang_getCanonicalType(type).kind;
  return (kind >= CXType_Bool && kind <= CXType_LongDouble) || kind == CXType_Half || kind == CXType_Enum;
}

}  // namespace

int BodyWalker::place(Kind kind, uint32_t offset, uint32_t shown_at) {
  if (program_.only_turns) return -1;
  if (!mutes_.empty()) {
    const Mute &outermost = mutes_.front();
    if (!outermost.reason.empty()) {
      program_.warnings.insert(
          {file_, outermost.offset,
           is_access(kind) ? "an access to memory here is not traced: no point can stand there" : outermost.reason});
    }
    return -1;
  }
  if (!put_.emplace(offset, kind).second) return -1;
  program_.points.push_back({kind, file_, offset, source_.line(shown_at), function_});
  if (is_access(kind)) program_.points.back().column = source_.column(shown_at);
  return static_cast<int>(program_.points.size()) - 1;
}

int BodyWalker::point(Kind kind, uint32_t offset, uint32_t shown_at) {
  const int index = place(kind, offset, shown_at);
  if (index >= 0) current_ = program_.flow.add(current_, index);
  return index;
}

void BodyWalker::mute_macro(uint32_t offset) {
  const Source::Macro *macro = source_.macro_at(offset);
  mute(macro != nullptr ? macro->call.begin : offset,
       macro != nullptr ? "the control flow in macro '" + macro->name + "' is not traced: no point can stand there"
                        : "the control flow here is not traced: a macro has part of it");
}

void BodyWalker::function(const std::string &key, uint32_t name_offset, CXCursor body,
                          const std::vector<CXCursor> &initialisers, const std::string &prologue) {
  current_ = program_.flow.add();
  program_.flow.enter(key, current_);
  for (const CXCursor each : initialisers) expression(each);
  const uint32_t begin = extent(body).begin;
  const bool is_possible = source_.text[begin] == '{' && source_.macro_at(begin) == nullptr;
  if (!is_possible) mute_macro(begin);
  const int put = point(Kind::entry, begin + 1, name_offset);
  if (put >= 0) source_.begin_at(begin + 1, {prologue + " CAIRN_POINT(", put, ");"});
  compound(body);
  if (!is_possible) unmute();
}

void BodyWalker::parts_of(CXCursor cursor) {
  for (const CXCursor part : code_children(cursor)) statement(part);
}

void BodyWalker::expression(CXCursor cursor) {
  const Span span = extent(cursor);
  const Source::Macro *macro = source_.macro_at(span.begin);
  const bool is_in_macro = macro != nullptr && span.end <= macro->call.end;
  if (is_in_macro) mute_macro(span.begin);
  spelled_expression(cursor);
  if (is_in_macro) unmute();
}

void BodyWalker::spelled_expression(CXCursor cursor) {
  if (program_.accesses && accessed(cursor)) return;
  const std::vector<CXCursor> parts = code_children(cursor);
  switch (clang_getCursorKind(cursor)) {
    case CXCursor_ConditionalOperator:
      if (parts.size() == 3) return conditional(cursor, parts);
      break;
    case CXCursor_BinaryOperator:
      if (parts.size() == 2) return binary(parts);
      break;
    case CXCursor_CallExpr:
      return called(cursor);
    case CXCursor_LambdaExpr:
      return lambda(cursor);
    case CXCursor_UnaryExpr:  // sizeof and its like are not evaluated
    case CXCursor_CXXTypeidExpr:
    case CXCursor_DeclRefExpr:  // what it has inside are template arguments
      return;
    case CXCursor_MemberRefExpr:
      if (!parts.empty() && extent(parts.front()).begin == extent(cursor).begin) expression(parts.front());
      return;
    default:
      break;
  }
  for (const CXCursor part : parts) statement(part);
}

void BodyWalker::enclose(CXCursor cursor, Kind kind) {
  const Span span = extent(cursor);
  const int put = clang_getCursorKind(bare(cursor)) == CXCursor_CXXThrowExpr ? -1 : point(kind, span.begin, span.begin);
  if (put >= 0) source_.begin_at(span.begin, {"(CAIRN_AT(", put, "), "});
  operand(cursor);
  if (put >= 0) source_.end_at(span.end, {")", -1, {}});
}

void BodyWalker::conditional(CXCursor cursor, const std::vector<CXCursor> &parts) {
  const Span condition = extent(parts[0]);
  const Span question = source_.token(source_.token_from(condition.end));
  const Span colon = source_.token(source_.token_from(extent(parts[1]).end));
  const bool is_spelled = source_.at(question) == "?" && source_.at(colon) == ":" &&
                          source_.macro_at(question.begin) == nullptr && source_.macro_at(colon.begin) == nullptr;
  const bool is_decided = is_constant(parts[0]);
  if (is_decided) mute(condition.begin, {});
  if (!is_spelled) mute_macro(extent(cursor).begin);
  // Behind a comma 0 is a number and no pointer: then both points go to the end of the condition.
  const bool has_null =
      !is_arithmetic(clang_getCursorType(cursor)) && (is_null_constant(parts[1]) || is_null_constant(parts[2]));
  const bool is_new = !put_.contains({extent(parts[1]).begin, Kind::ternary});
  const bool in_condition = has_null && is_new && mutes_.empty();
  if (in_condition) source_.begin_at(condition.begin, {"(((", -1, {}});
  expression(parts[0]);
  const int decision = current_;
  int after_first = Flow::kNone;
  if (in_condition) {
    source_.end_at(condition.end, {") && (CAIRN_AT(",
                                   point(Kind::ternary, extent(parts[1]).begin, extent(parts[1]).begin), "), true))"});
    expression(parts[1]);
    after_first = current_;
    current_ = decision;
    source_.end_at(condition.end, {" || (CAIRN_AT(",
                                   point(Kind::ternary, extent(parts[2]).begin, extent(parts[2]).begin), "), false))"});
    expression(parts[2]);
  } else {
    enclose(parts[1], Kind::ternary);
    after_first = current_;
    current_ = decision;
    enclose(parts[2], Kind::ternary);
  }
  meet(after_first);
  if (!is_spelled) unmute();
  if (is_decided) unmute();
}

void BodyWalker::binary(const std::vector<CXCursor> &parts) {
  operand(parts[0]);
  const Span place = source_.token(source_.token_from(extent(parts[0]).end));
  const std::string_view word = source_.at(place);
  if (word != "&&" && word != "||" && word != "and" && word != "or") return operand(parts[1]);
  const int decision = current_;
  if (needs_branch(parts[1]) && !is_constant(parts[0])) {
    enclose(parts[1], Kind::short_circuit);
  } else {
    operand(parts[1]);
  }
  meet(decision);
}

void BodyWalker::called(CXCursor cursor) {
  const CXCursor configuration = configuration_of(cursor);
  CXCursor callee = clang_getCursorReferenced(cursor);
  const std::vector<CXCursor> parts = code_children(cursor);
  if (clang_Cursor_isNull(callee) != 0 && !parts.empty()) callee = referenced(parts.front());
  for (const CXCursor part : parts) {
    if (clang_equalCursors(part, configuration) != 0) continue;
    if (program_.accesses && accessed_by_call(cursor, callee, part)) continue;
    statement(part);
  }
  if (clang_Cursor_isNull(callee) != 0 || clang_Cursor_isNull(configuration) == 0) return;
  if (name_of(callee) == "cairn_value" && parts.size() >= 2) return value(cursor);
  if (is_elsewhere(program_, callee)) {
    program_.warn(cursor,
                  "device function '" + name_of(callee) +
                      "' is defined in another file: instrument both at once, or its points are taken for these");
  }
  current_ = program_.flow.add(current_);
  const Source *source = program_.source(callee);
  if (source != nullptr && name_of(callee) == "operator()") {
    const CXCursor owner = clang_getCursorSemanticParent(callee);
    program_.flow.call(current_, lambda_key(*source, location_of(owner)));
  }
  program_.flow.call(current_, key_of(callee));
}

void BodyWalker::value(CXCursor cursor) {
  const Span span = extent(cursor);
  const int put = point(Kind::value, span.begin, span.begin);
  if (put < 0) return;
  // In parentheses: template arguments have commas, and this is a macro.
  source_.begin_at(span.begin, {"CAIRN_VALUE(", put, ", ("});
  source_.end_at(span.end, {"))", -1, {}});
}

void BodyWalker::lambda(CXCursor cursor) {
  const std::vector<CXCursor> parts = children(cursor);
  if (parts.empty() || clang_getCursorKind(parts.back()) != CXCursor_CompoundStmt) return;
  const uint32_t begin = extent(cursor).begin;
  BodyWalker inner(program_, file_, function_.starts_with("lambda in ") ? function_ : "lambda in " + function_);
  inner.mutes_ = mutes_;
  inner.function(lambda_key(source_, begin), begin, parts.back(), {}, {});
}

void put_turns(Program &program) {
  program.only_turns = true;
  put_points(program);
}

void put_points(Program &program) {
  for (const Function &function : program.functions) {
    const auto found = program.source_of.find(file_of(function.cursor));
    if (found == program.source_of.end()) continue;
    Source &source = program.sources[found->second];
    const bool is_lambda = clang_getCursorKind(function.cursor) == CXCursor_LambdaExpr;
    const uint32_t name_offset = is_lambda ? span_of(function.cursor).begin : location_of(function.cursor);
    std::vector<CXCursor> initialisers = code_children(function.cursor);
    if (initialisers.empty() || clang_getCursorKind(initialisers.back()) != CXCursor_CompoundStmt) continue;
    const CXCursor body = initialisers.back();
    initialisers.pop_back();
    if (clang_getCursorKind(function.cursor) != CXCursor_Constructor) initialisers.clear();
    const std::string key = is_lambda ? lambda_key(source, name_offset) : key_of(function.cursor);
    std::string prologue;
    if (function.is_kernel) {
      const Kernel *kernel = program.kernel(key);
      const uint32_t begin = span_of(body).begin;
      if (!program.only_turns && (kernel == nullptr || !kernel->untraced.empty())) {
        // The functions that it calls have points, which must find that nothing is recorded.
        if (source.text[begin] == '{' && source.macro_at(begin) == nullptr) {
          source.begin_at(begin + 1, {" CAIRN_KERNEL(cairn::gpu::Trace());", -1, {}});
        }
        continue;
      }
      prologue = " CAIRN_KERNEL(cairn_trace);";
    } else if (!is_lambda && is_constexpr(function.cursor)) {
      if (program.only_turns) continue;
      program.warn(function.cursor, name_offset,
                   "constexpr function '" + function.name + "' is not traced: a point is no constant expression");
      continue;
    }
    BodyWalker(program, found->second, function.name).function(key, name_offset, body, initialisers, prologue);
  }
}

}  // namespace cairn::instrument
