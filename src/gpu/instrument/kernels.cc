#include "gpu/instrument/kernels.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace cairn::instrument {
namespace {

/// What surrounds the code that is looked at.
struct Scope {
  bool device = false;
  std::string function;
  std::string call;  ///< the function in whose arguments it stands
};

bool is_function(CXCursorKind kind) {
  return kind == CXCursor_FunctionDecl || kind == CXCursor_CXXMethod || kind == CXCursor_Constructor ||
         kind == CXCursor_Destructor || kind == CXCursor_ConversionFunction || kind == CXCursor_FunctionTemplate;
}

/// Runtime functions that take any kernel, whatever its parameters.
bool takes_any_kernel(const std::string &name) {
  for (const char *prefix : {"cudaFunc", "cudaOccupancy", "hipFunc", "hipOccupancy", "cudaGetFuncBySymbol"}) {
    if (name.starts_with(prefix)) return true;
  }
  return false;
}

/// Those that launch a kernel with an array of its arguments.
bool takes_array(const std::string &name) {
  for (const char *each :
       {"cudaLaunchKernel", "cudaLaunchCooperativeKernel", "hipLaunchKernel", "hipLaunchCooperativeKernel"}) {
    if (name == each) return true;
  }
  return false;
}

class Survey {
 public:
  explicit Survey(Program &program) : program_(program) {}

  void visit(CXCursor cursor, const Scope &scope) {
    const CXCursorKind kind = clang_getCursorKind(cursor);
    if (is_function(kind)) return function(cursor);
    if (kind == CXCursor_LambdaExpr) return lambda(cursor, scope);
    if (kind == CXCursor_CallExpr) return call(cursor, scope);
    if (kind == CXCursor_DeclRefExpr) return reference(cursor, scope);
    for (const CXCursor child : children(cursor)) visit(child, scope);
  }

  void finish() {
    std::sort(uses_.begin(), uses_.end());
    for (const auto &[key, why] : uses_) {
      if (Kernel *kernel = program_.kernel(key); kernel != nullptr && kernel->untraced.empty()) kernel->untraced = why;
    }
    unsigned number = 0;
    for (Kernel &kernel : program_.kernels) {
      if (kernel.untraced.empty()) kernel.untraced = unchangeable(kernel);
      if (kernel.untraced.empty()) {
        kernel.number = number++;
        continue;
      }
      for (const CXCursor declaration : kernel.declarations) {
        if (program_.source(declaration) == nullptr) continue;
        program_.warn(declaration, location_of(declaration),
                      "kernel '" + kernel.name + "' is not traced: " + kernel.untraced);
        break;
      }
    }
  }

 private:
  Program &program_;
  std::vector<std::pair<std::string, std::string>> uses_;  ///< key of a kernel, why it can't be traced
  std::set<std::tuple<size_t, uint32_t, uint32_t>> seen_;

  /// Whether no unit before has had it: several may include a header.
  bool is_new(CXCursor cursor) {
    const auto found = program_.source_of.find(file_of(cursor));
    const Span span = span_of(cursor);
    return found == program_.source_of.end() || seen_.emplace(found->second, span.begin, span.end).second;
  }

  void function(CXCursor cursor) {
    const bool is_kernel = has_attribute(cursor, CXCursor_CUDAGlobalAttr);
    const bool is_device = is_kernel || has_attribute(cursor, CXCursor_CUDADeviceAttr);
    const Scope inside = {is_device, qualified_name(cursor), {}};
    if (is_kernel) {
      const std::string key = key_of(cursor);
      Kernel *kernel = program_.kernel(key);
      if (kernel == nullptr) {
        program_.kernels.push_back({inside.function, key, {}, {}, 0});
        kernel = &program_.kernels.back();
      }
      kernel->declarations.push_back(cursor);
    }
    if (program_.source(cursor) == nullptr) return;
    const std::vector<CXCursor> all = children(cursor);
    const bool has_body = std::any_of(
        all.begin(), all.end(), [](CXCursor child) { return clang_getCursorKind(child) == CXCursor_CompoundStmt; });
    if (is_device && has_body && is_new(cursor)) program_.functions.push_back({cursor, inside.function, is_kernel});
    for (const CXCursor child : all) visit(child, inside);
  }

  void lambda(CXCursor cursor, const Scope &scope) {
    Scope inside = scope;
    inside.call.clear();
    const std::vector<CXCursor> all = children(cursor);
    const Source *source = program_.source(cursor);
    if (!scope.device && source != nullptr && !all.empty()) {
      // Its attributes are no cursors.
      const uint32_t body = span_of(all.back()).begin;
      for (size_t i = source->token_from(span_of(cursor).begin);
           source->token(i).end <= body && i < source->token_count(); ++i) {
        if (source->word(i) == "__device__") inside.device = true;
      }
      if (inside.device && is_new(cursor)) program_.functions.push_back({cursor, "lambda in " + scope.function, false});
    }
    for (const CXCursor child : all) visit(child, inside);
  }

  void call(CXCursor cursor, const Scope &scope) {
    std::vector<CXCursor> parts = children(cursor);
    Scope inside = scope;
    const CXCursor configuration = configuration_of(cursor);
    if (clang_Cursor_isNull(configuration) == 0) {
      const bool is_first = is_new(cursor);
      if (is_first) program_.launches.push_back(cursor);
      const CXCursor callee = referenced(parts.front());
      const Source *source = program_.source(cursor);
      const Span whole = span_of(cursor);
      // The brackets that get an argument have to stand in the file.
      const Source::Macro *macro = source != nullptr ? source->macro_at(whole.begin) : nullptr;
      if (source != nullptr && (source->word(source->token_from(span_of(parts.front()).end)) != "<<<" ||
                                (macro != nullptr && macro->call.end == whole.end))) {
        uses_.emplace_back(key_of(callee),
                           "line " + std::to_string(source->line(whole.begin)) + " launches it in a macro");
        if (is_first) program_.launches.pop_back();
      }
      parts.erase(parts.begin());
      inside.call.clear();
    } else {
      inside.call = name_of(cursor);
      if (launches_named_kernel(cursor, parts)) {
        if (is_new(cursor)) program_.array_launches.push_back(cursor);
        parts.erase(parts.begin() + 1);
      }
    }
    for (const CXCursor part : parts) visit(part, inside);
  }

  /// `cudaLaunchKernel(kernel, ...)`, spelled in the file, with the kernel itself.
  bool launches_named_kernel(CXCursor call, const std::vector<CXCursor> &parts) {
    const std::string name = name_of(call);
    const Source *source = program_.source(call);
    if (source == nullptr || parts.size() < 5 || !takes_array(name)) return false;
    const size_t token = source->token_from(span_of(call).begin);
    if (source->word(token) != name || source->word(token + 1) != "(" ||
        source->macro_at(span_of(call).begin) != nullptr) {
      return false;
    }
    const CXCursor target = referenced(kernel_in(parts[1]));
    return is_function(clang_getCursorKind(target)) && has_attribute(target, CXCursor_CUDAGlobalAttr);
  }

  void reference(CXCursor cursor, const Scope &scope) {
    const CXCursor target = referenced(cursor);
    if (!is_function(clang_getCursorKind(target)) || !has_attribute(target, CXCursor_CUDAGlobalAttr)) return;
    if (takes_any_kernel(scope.call)) return;
    const Source *source = program_.source(cursor);
    if (source == nullptr) return;
    const std::string line = "line " + std::to_string(source->line(span_of(cursor).begin));
    uses_.emplace_back(key_of(target),
                       scope.call.empty() ? line + " takes its address" : line + " passes it to " + scope.call);
  }

  /// Why a kernel cannot get another parameter, or "".
  std::string unchangeable(const Kernel &kernel) {
    for (const CXCursor declaration : kernel.declarations) {
      const Source *source = program_.source(declaration);
      if (source == nullptr)
        return "it is declared in " + text_of(clang_getFileName(file_of(declaration))) + ", which is not rewritten";
      for (const CXCursor child : children(declaration)) {
        if (clang_getCursorKind(child) != CXCursor_ParmDecl) continue;
        const std::string type = text_of(clang_getTypeSpelling(clang_getCursorType(child)));
        if (type.ends_with("...")) return "nothing can follow its parameter pack";
      }
      if (!parameter_place(*source, declaration).found) return "its declaration comes from a macro";
    }
    return {};
  }
};

}  // namespace

CXCursor kernel_in(CXCursor argument) {
  for (CXCursor inner = bare(argument);;) {
    const CXCursorKind kind = clang_getCursorKind(inner);
    if (kind != CXCursor_CStyleCastExpr && kind != CXCursor_CXXReinterpretCastExpr && kind != CXCursor_UnaryOperator) {
      return inner;
    }
    const std::vector<CXCursor> parts = code_children(inner);
    if (parts.size() != 1) return inner;
    inner = bare(parts.front());
  }
}

CXCursor configuration_of(CXCursor call) {
  const std::vector<CXCursor> parts = children(call);
  if (parts.size() < 2 || clang_getCursorKind(parts[1]) != CXCursor_CallExpr) return clang_getNullCursor();
  const std::string name = name_of(parts[1]);
  for (const char *each :
       {"cudaConfigureCall", "__cudaPushCallConfiguration", "hipConfigureCall", "__hipPushCallConfiguration"}) {
    if (name == each) return parts[1];
  }
  return clang_getNullCursor();
}

ParameterPlace parameter_place(const Source &source, CXCursor declaration) {
  ParameterPlace place;
  CXCursor last = clang_getNullCursor();
  for (const CXCursor child : children(declaration)) {
    if (clang_getCursorKind(child) == CXCursor_ParmDecl) last = child;
  }
  size_t token = 0;
  if (clang_Cursor_isNull(last) == 0) {
    token = source.token_from(span_of(last).end);
    const Span span = span_of(last);
    for (size_t i = source.token_from(span.begin); source.token(i).end <= span.end && i < token; ++i) {
      if (source.word(i) == "=") place.has_default = true;
    }
  } else {
    place.is_first = true;
    token = source.token_from(location_of(declaration));
    while (token < source.token_count() && source.word(token) != "(") ++token;
    ++token;
    if (source.word(token) == "void") place.void_word = source.token(token++);
  }
  place.offset = source.token(token).begin;
  place.found = source.word(token) == ")" && source.macro_at(place.offset) == nullptr &&
                source.macro_at(location_of(declaration)) == nullptr;
  return place;
}

namespace {

void survey_unit(Program &program, Survey &survey, CXTranslationUnit unit) {
  for (const CXCursor cursor : children(clang_getTranslationUnitCursor(unit))) {
    const auto found = program.source_of.find(file_of(cursor));
    const CXCursorKind kind = clang_getCursorKind(cursor);
    if (clang_isPreprocessing(kind) != 0) {
      if (found != program.source_of.end() && kind == CXCursor_MacroExpansion) {
        program.sources[found->second].add_macro(span_of(cursor), name_of(cursor));
      }
      continue;
    }
    // A kernel that is declared in a file that stays has to stay too.
    const bool is_ours = found != program.source_of.end();
    if (is_ours || (is_function(kind) && has_attribute(cursor, CXCursor_CUDAGlobalAttr))) survey.visit(cursor, {});
  }
}

}  // namespace

void survey(Program &program, const std::vector<CXTranslationUnit> &units) {
  Survey survey(program);
  for (const CXTranslationUnit unit : units) survey_unit(program, survey, unit);
  survey.finish();
}

}  // namespace cairn::instrument
