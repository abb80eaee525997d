#include "gpu/instrument/launches.h"

#include <algorithm>
#include <array>

#include "gpu/instrument/kernels.h"
#include "gpu/instrument/meaning.h"

namespace cairn::instrument {
namespace {

constexpr const char *kParameter = "cairn::gpu::Trace cairn_trace";

void put_parameter(Source &source, CXCursor declaration) {
  const ParameterPlace place = parameter_place(source, declaration);
  // A forward declaration and the definition may be one in two visits.
  if (place.void_word.end != 0) {
    source.begin_at(place.void_word.begin, {"/*", -1, {}});
    source.end_at(place.void_word.end, {std::string("*/ ") + kParameter, -1, {}});
    return;
  }
  source.end_at(place.offset, {std::string(place.is_first ? "" : ", ") + kParameter +
                                   (place.has_default ? " = cairn::gpu::Trace()" : ""),
                               -1,
                               {}});
}

/// `template __global__ void k<int>(int *);` has no cursor.
void put_in_instantiations(Program &program, Source &source) {
  for (size_t i = 0; i + 1 < source.token_count(); ++i) {
    if (source.word(i) != "template" || source.word(i + 1) == "<") continue;
    size_t end = i;
    while (end < source.token_count() && source.word(end) != ";") ++end;
    if (end < 2 || source.word(end - 1) != ")") continue;
    for (size_t name = i + 1; name < end; ++name) {
      if (source.word(name + 1) != "<" && source.word(name + 1) != "(") continue;
      const std::string word(source.word(name));
      for (const Kernel &kernel : program.kernels) {
        if (!kernel.untraced.empty() || (kernel.name != word && !kernel.name.ends_with("::" + word))) continue;
        source.end_at(source.token(end - 1).begin,
                      {source.word(end - 2) == "(" ? "cairn::gpu::Trace" : ", cairn::gpu::Trace", -1, {}});
        name = end;
        break;
      }
    }
    i = end;
  }
}

/// On one line, without comments: a copy must not move the lines after it.
std::string flat(const Source &source, Span span) {
  std::string out;
  uint32_t before = span.begin;
  for (size_t i = source.token_from(span.begin); i < source.token_count() && source.token(i).begin < span.end; ++i) {
    if (source.token(i).begin > before && !out.empty()) out += ' ';
    out += source.word(i);
    before = source.token(i).end;
  }
  return out.starts_with('{') ? "dim3" + out : out;
}

size_t parameter_count(const Kernel &kernel) {
  const std::vector<CXCursor> parts = children(kernel.declarations.front());
  return static_cast<size_t>(std::count_if(
      parts.begin(), parts.end(), [](CXCursor part) { return clang_getCursorKind(part) == CXCursor_ParmDecl; }));
}

class LaunchEdit {
 public:
  LaunchEdit(Program &program, Source &source, CXCursor launch)
      : program_(program), source_(source), launch_(launch), whole_(span_of(launch)) {
    parts_ = code_children(launch);
    const CXCursor configuration = configuration_of(launch);
    for (const CXCursor each : code_children(configuration)) {
      if (!is_implicit(each) && span_of(each).begin >= source.token(source.token_from(span_of(parts_[0]).end)).end) {
        sizes_.push_back(each);
      }
    }
    std::erase_if(parts_, [](CXCursor part) { return is_implicit(part); });
  }

  /// The argument to put last, or "" for none.
  std::string trace() {
    const CXCursor target = referenced(parts_[0]);
    const CXCursorKind kind = clang_getCursorKind(target);
    if (kind == CXCursor_VarDecl || kind == CXCursor_ParmDecl || kind == CXCursor_FieldDecl ||
        clang_Cursor_isNull(target) != 0) {
      program_.warn(launch_, "this launch is not traced: it goes through a function pointer");
      return {};
    }
    const Kernel *kernel = program_.kernel(key_of(target));
    const std::string name = "the launch of '" + name_of(target) + "' is not traced: ";
    if (kernel == nullptr) {
      program_.warn(launch_, name + "the kernel is defined in another file");
      return {};
    }
    if (!kernel->untraced.empty()) return {};
    const auto parameters = parameter_count(*kernel);
    std::string defaults;
    for (size_t i = parts_.size() - 2; i < parameters; ++i) {
      const std::string text = default_of(*kernel, i);
      if (text.empty()) {
        program_.warn(launch_, name + "it leaves arguments to defaults that are no constants");
        return {};
      }
      defaults += text + ", ";
    }
    for (size_t i = 0; i < sizes_.size(); ++i) is_noted_ = is_noted_ || (i != 2 && has_side_effects(sizes_[i]));
    program_.notes_launches = program_.notes_launches || is_noted_;
    const auto shown = [&](size_t size, const char *noted) {
      return is_noted_ ? noted : flat(source_, span_of(sizes_[size]));
    };
    const std::string stream = sizes_.size() > 3 ? shown(3, "cairn_stream") : "0";
    return defaults + "CAIRN_LAUNCH(cairn_program(), " + std::to_string(kernel->number) + ", (" +
           shown(0, "cairn_grid") + "), (" + shown(1, "cairn_block") + "), (" + stream + "))";
  }

  void put(const std::string &trace, bool emulator) {
    if (sizes_.size() < 2) return;
    if (is_noted_) put_notes();
    const bool has_arguments = parts_.size() > 2;
    const size_t open = source_.token_from(span_of(parts_[0]).end);
    const size_t close = source_.token_from(span_of(sizes_.back()).end);
    if (emulator) {
      source_.begin_at(whole_.begin, {"CAIRN_EMULATOR_LAUNCH((", -1, {}});
      source_.replace(source_.token(open), "), (");
      for (size_t i = 0; i + 1 < sizes_.size(); ++i) {
        source_.replace(source_.token(source_.token_from(span_of(sizes_[i]).end)), "), (");
      }
      std::string rest = ")";
      for (size_t i = sizes_.size(); i < 4; ++i) rest += ", (0)";
      source_.replace(source_.token(close), rest);
      source_.replace(source_.token(close + 1), has_arguments ? ", " : "");
      // A 0 or NULL that has been through a variable is no pointer any more.
      for (size_t i = 2; i < parts_.size(); ++i) {
        const bool is_pointer = clang_getCanonicalType(clang_getCursorType(parts_[i])).kind == CXType_Pointer;
        if (is_pointer && is_null_constant(parts_[i])) source_.replace(span_of(parts_[i]), "nullptr");
      }
    }
    if (!trace.empty()) source_.end_at(whole_.end - 1, {(has_arguments || emulator ? ", " : "") + trace, -1, {}});
  }

 private:
  /// What a parameter is if a launch says nothing; "" if that cannot be said there.
  std::string default_of(const Kernel &kernel, size_t parameter) {
    for (const CXCursor declaration : kernel.declarations) {
      const Source *source = program_.source(declaration);
      std::vector<CXCursor> parameters = children(declaration);
      std::erase_if(parameters, [](CXCursor each) { return clang_getCursorKind(each) != CXCursor_ParmDecl; });
      const std::vector<CXCursor> values = code_children(parameters[parameter]);
      if (source == nullptr || values.empty() || !is_constant(values.back())) continue;
      const bool is_pointer = clang_getCanonicalType(clang_getCursorType(parameters[parameter])).kind == CXType_Pointer;
      // NULL would be a number where a launch becomes a call of a template.
      return is_pointer && is_null_constant(values.back()) ? "nullptr" : flat(*source, span_of(values.back()));
    }
    return {};
  }

  /// A configuration that must not be evaluated twice leaves its values where the trace's argument finds them: it comes
  /// before all arguments.
  void put_notes() {
    static constexpr std::array kNames = {"cairn_grid", "cairn_block", "", "cairn_stream"};
    for (size_t i = 0; i < std::min(sizes_.size(), kNames.size()); ++i) {
      if (i == 2) continue;
      const Span span = span_of(sizes_[i]);
      const bool is_list = source_.text[span.begin] == '{';
      source_.begin_at(span.begin, {kNames[i] + std::string(is_list ? " = dim3" : " = ("), -1, {}});
      if (!is_list) source_.end_at(span.end, {")", -1, {}});
    }
  }

  Program &program_;
  Source &source_;
  const CXCursor launch_;
  const Span whole_;
  std::vector<CXCursor> parts_;  ///< the kernel, the configuration, the arguments
  std::vector<CXCursor> sizes_;  ///< grid, block, shared memory, stream, as far as they are given
  bool is_noted_ = false;        ///< evaluating one of them twice would show
};

}  // namespace

void put_parameters(Program &program) {
  for (const Kernel &kernel : program.kernels) {
    if (!kernel.untraced.empty()) continue;
    bool is_defined = false;
    std::set<std::pair<size_t, uint32_t>> done;
    for (const CXCursor declaration : kernel.declarations) {
      const size_t file = program.source_of.at(file_of(declaration));
      const std::vector<CXCursor> parts = children(declaration);
      is_defined = is_defined || (!parts.empty() && clang_getCursorKind(parts.back()) == CXCursor_CompoundStmt);
      if (done.emplace(file, span_of(declaration).begin).second) put_parameter(program.sources[file], declaration);
    }
    const CXCursor first = kernel.declarations.front();
    if (!is_defined) {
      program.warn(first, location_of(first),
                   "kernel '" + kernel.name + "' is defined in another file, which has to be instrumented too");
    }
  }
  for (Source &source : program.sources) put_in_instantiations(program, source);
}

void put_dynamic_shared(Program &program) {
  for (Source &source : program.sources) {
    for (size_t i = 0; i + 1 < source.token_count(); ++i) {
      if (source.word(i) != "extern" && source.word(i) != "__shared__") continue;
      size_t end = i;
      size_t other = 0;
      while (end < source.token_count() && source.word(end) != "[" && source.word(end) != ";") {
        const std::string_view word = source.word(end);
        if (word != source.word(i) && (word == "extern" || word == "__shared__")) other = end;
        ++end;
      }
      if (other == 0 || source.word(end) != "[" || source.word(end + 1) != "]") continue;
      source.replace(source.token(i), "static");
      source.replace(source.token(other), "");
      for (size_t at = i + 1; at < end; ++at) {  // a reference cannot be aligned, nor need it be
        const std::string_view word = source.word(at);
        if (word != "__align__" && word != "alignas" && word != "__attribute__") continue;
        const size_t close = source.closing(at + 1);
        if (close >= end) break;
        source.replace({source.token(at).begin, source.token(close).end}, "");
        at = close;
      }
      const std::string name(source.word(end - 1));
      source.replace(source.token(end - 1), "(&" + name + ")");
      size_t last = end + 1;
      while (source.word(last + 1) == "[") last = source.closing(last + 1);
      source.replace(source.token(last), "] = ::cairn::emulator::dynamic_array<decltype(" + name + ")>()");
      i = end;
    }
  }
}

void put_launches(Program &program, bool points, bool emulator) {
  for (const CXCursor launch : program.launches) {
    Source *source = program.source(launch);
    if (source == nullptr) continue;
    LaunchEdit edit(program, *source, launch);
    edit.put(points ? edit.trace() : std::string(), emulator);
  }
  for (const CXCursor launch : program.array_launches) {
    const std::vector<CXCursor> parts = code_children(launch);
    if (parts.size() < 2) continue;
    const CXCursor named = kernel_in(parts[1]);
    const Kernel *kernel = program.kernel(key_of(referenced(named)));
    Source *source = program.source(launch);
    // The emulator has only a kernel's type to know its arguments by.
    if (const Span whole = span_of(parts[1]), inner = span_of(named);
        emulator && source != nullptr && whole.begin < inner.begin) {
      source->replace({whole.begin, inner.begin}, "");
      if (inner.end < whole.end) source->replace({inner.end, whole.end}, "");
    }
    if (!points || source == nullptr || kernel == nullptr || !kernel->untraced.empty()) continue;
    const auto parameters = parameter_count(*kernel);
    const Span name = source->token(source->token_from(span_of(launch).begin));
    source->begin_at(name.begin, {"CAIRN_LAUNCH_ARRAY(" + std::to_string(parameters) + ", cairn_program(), " +
                                      std::to_string(kernel->number) + ", ",
                                  -1,
                                  {}});
    source->end_at(name.end, {")", -1, {}});
  }
}

}  // namespace cairn::instrument
