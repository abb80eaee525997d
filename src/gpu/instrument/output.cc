#include "gpu/instrument/output.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>
#include <tuple>

#include "base/hash.h"

namespace cairn::instrument {
namespace {

namespace fs = std::filesystem;

std::string real(const std::string &path) {
  std::error_code error;
  const fs::path found = fs::weakly_canonical(fs::absolute(path, error), error);
  return found.string();
}

std::string quoted(const std::string &text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

const char *name_of(Kind kind) {
  switch (kind) {
    case Kind::entry:
      return "entry";
    case Kind::then:
      return "then";
    case Kind::otherwise:
      return "otherwise";
    case Kind::loop:
      return "loop";
    case Kind::label:
      return "label";
    case Kind::ternary:
      return "ternary";
    case Kind::short_circuit:
      return "short_circuit";
    case Kind::value:
      return "value";
    case Kind::load:
      return "load";
    case Kind::store:
      return "store";
    case Kind::update:
      return "update";
    case Kind::atomic:
      return "atomic";
  }
  return "";
}

/// The points in the order of their numbers.
std::vector<size_t> order_of(const Program &program) {
  std::vector<size_t> order(program.points.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const Point &first = program.points[a];
    const Point &second = program.points[b];
    return first.file != second.file ? first.file < second.file : first.offset < second.offset;
  });
  return order;
}

std::string hash_of(const Program &program) {
  std::vector<std::span<const uint8_t>> pieces;
  for (const Source &source : program.sources) {
    pieces.emplace_back(reinterpret_cast<const uint8_t *>(source.text.data()), source.text.size());
  }
  return std::to_string(hash64(pieces)) + "ull";
}

std::string table_of(const Program &program, const std::vector<size_t> &order, const std::vector<unsigned> &ids) {
  std::string out = "static const cairn::gpu::Program &cairn_program() {\n";
  if (!order.empty()) {
    out += "  static const cairn::gpu::Location locations[] = {\n";
    for (const size_t index : order) {
      const Point &point = program.points[index];
      out += "      {" + std::to_string(ids[index]) + ", cairn::gpu::Kind::" + name_of(point.kind) + ", " +
             quoted(point.function) + ", " + quoted(program.sources[point.file].path) + ", " +
             std::to_string(point.line) + (is_access(point.kind) ? ", " + std::to_string(point.column) : "") + "},\n";
    }
    out += "  };\n";
  }
  std::string names;
  size_t kernels = 0;
  for (const Kernel &kernel : program.kernels) {
    if (!kernel.untraced.empty()) continue;
    names += (names.empty() ? "" : ", ") + quoted(kernel.name);
    ++kernels;
  }
  if (kernels != 0) out += "  static const char *const kernels[] = {" + names + "};\n";
  // The coder's first guesses are the first pairs: a point that nothing follows is mostly an early return, taken
  // seldom.
  std::set<unsigned> followed;
  std::vector<std::pair<unsigned, unsigned>> pairs;
  for (const auto &[from, to] : program.flow.successors()) {
    pairs.emplace_back(ids[static_cast<size_t>(from)], ids[static_cast<size_t>(to)]);
  }
  for (const auto &[from, to] : pairs) followed.insert(from);
  for (const Kernel &kernel : program.kernels) {
    const int first = program.flow.first_point(kernel.key);
    if (kernel.untraced.empty() && first != Flow::kNone) pairs.emplace_back(0, ids[static_cast<size_t>(first)]);
  }
  std::sort(pairs.begin(), pairs.end(), [&followed](const auto &a, const auto &b) {
    return std::tuple(a.first, !followed.contains(a.second), a.second) <
           std::tuple(b.first, !followed.contains(b.second), b.second);
  });
  out += "  static const uint16_t successors[] = {";
  unsigned last = 0;
  for (const auto &[from, to] : pairs) {
    out += (from == last && from != 0 ? " " : "\n      ") + std::to_string(from) + ", " + std::to_string(to) + ",";
    last = from;
  }
  out += "\n      0, 0};\n  static const cairn::gpu::Program program = {" + quoted(program.sources.front().path) +
         ", " + hash_of(program) + ", " + (order.empty() ? "nullptr" : "locations") + ", " +
         std::to_string(order.size()) + ", " + (kernels == 0 ? "nullptr" : "kernels") + ", " + std::to_string(kernels) +
         ", successors};\n  return program;\n}\n";
  return out;
}

struct Include {
  size_t from;
  Span name;  ///< without its quotes
  bool is_quoted;
  std::string to;  ///< the file, resolved
  CXFile file;
};

void add_includes(Program &program, CXTranslationUnit unit, std::vector<Include> &found) {
  for (const CXCursor cursor : children(clang_getTranslationUnitCursor(unit))) {
    const auto from = program.source_of.find(file_of(cursor));
    if (clang_getCursorKind(cursor) != CXCursor_InclusionDirective || from == program.source_of.end()) continue;
    const Source &source = program.sources[from->second];
    const std::string name = instrument::name_of(cursor);
    const size_t at = source.text.find(name, span_of(cursor).begin);
    CXFile file = clang_getIncludedFile(cursor);
    // A macro may stand for the name.
    if (file == nullptr || at == std::string::npos || at >= span_of(cursor).end || at == 0) continue;
    const Span span = {static_cast<uint32_t>(at), static_cast<uint32_t>(at + name.size())};
    found.push_back({from->second, span, source.text[at - 1] == '"', real(text_of(clang_getFileName(file))), file});
  }
}

void redirect(Source &source, const Include &include, const std::string &to) {
  const std::string name(source.at(include.name));
  if (to.ends_with("/" + name)) {
    source.begin_at(include.name.begin, {to.substr(0, to.size() - name.size()), -1, {}});
  } else {
    source.replace(include.name, to);
  }
}

}  // namespace

std::string within(const std::string &path, const std::vector<std::string> &folders) {
  const fs::path file = real(path);
  for (const std::string &folder : folders) {
    const fs::path relative = file.lexically_relative(real(folder));
    if (!relative.empty() && *relative.begin() != "..") return relative.string();
  }
  return {};
}

Result<std::vector<OutputFile>> outputs(Program &program, const std::vector<CXTranslationUnit> &units,
                                        const OutputOptions &options) {
  const std::vector<size_t> order = order_of(program);
  if (order.size() > 65535)
    return fail(ErrorKind::usage, "there are more than 65,535 places to trace", "instrument fewer headers");
  std::vector<unsigned> ids(order.size());
  for (size_t i = 0; i < order.size(); ++i) ids[order[i]] = static_cast<unsigned>(i + 1);

  // A header is copied if it was edited or includes one that is.
  std::vector<Include> includes;
  for (const CXTranslationUnit unit : units) add_includes(program, unit, includes);
  std::set<std::pair<size_t, uint32_t>> led;  // several units may include a header
  std::erase_if(includes, [&led](const Include &each) { return !led.emplace(each.from, each.name.begin).second; });
  std::vector<bool> is_written(program.sources.size());
  for (size_t i = 0; i < program.sources.size(); ++i) is_written[i] = i < program.mains || program.sources[i].edited();
  for (bool changed = true; changed;) {
    changed = false;
    for (const Include &include : includes) {
      const auto to = program.source_of.find(include.file);
      if (to == program.source_of.end() || !is_written[to->second] || is_written[include.from]) continue;
      is_written[include.from] = changed = true;
    }
  }
  std::vector<std::string> paths(program.sources.size());
  for (size_t i = 0; i < paths.size(); ++i) {
    paths[i] = real(i < program.mains ? options.outputs[i]
                                      : options.headers + "/" + within(program.sources[i].path, options.folders));
    for (size_t j = 0; j < i; ++j) {
      if (paths[j] != paths[i] || !is_written[j] || !is_written[i]) continue;
      return tl::unexpected<Error>(Error{ErrorKind::usage, "two files would become it", paths[i], Error::kNoOffset,
                                         "name a folder that both lie below with --project"});
    }
  }
  for (const Include &include : includes) {
    if (!is_written[include.from]) continue;
    Source &source = program.sources[include.from];
    const std::string folder = fs::path(real(source.path)).parent_path().string();
    const auto to = program.source_of.find(include.file);
    const bool has_moved = fs::path(paths[include.from]).parent_path() != folder;
    if (to != program.source_of.end() && to->second >= program.mains && is_written[to->second]) {
      redirect(source, include, paths[to->second]);
    } else if (include.is_quoted && has_moved &&
               real(folder + "/" + std::string(source.at(include.name))) == include.to) {
      redirect(source, include, include.to);
    }
  }

  std::vector<OutputFile> files;
  for (size_t i = 0; i < program.sources.size(); ++i) {
    if (!is_written[i]) continue;
    const Source &source = program.sources[i];
    std::string text = source.rewritten(ids);
    const std::string mark = text.starts_with("\xEF\xBB\xBF") ? text.substr(0, 3) : "";
    text.erase(0, mark.size());
    std::string head;
    if (i < program.mains) {
      if (order.size() > 255) head += "#define CAIRN_GPU_LOCATION_BITS 16\n";
      head += "#include " + quoted(options.include + "/cairn/gpu.h") + "\n";
      // One of several files may launch nothing.
      if (options.points && program.mains > 1) head += "[[maybe_unused]] ";
      if (options.points) head += "static const cairn::gpu::Program &cairn_program();\n";
      if (program.notes_launches) {
        head +=
            "[[maybe_unused]] static thread_local dim3 cairn_grid, cairn_block;\n"
            "[[maybe_unused]] static thread_local cairn::gpu::Stream cairn_stream;\n";
      }
    }
    head += "#line 1 " + quoted(source.path) + "\n";
    std::string out = mark + head + text;
    if (i < program.mains && options.points) {
      if (!out.ends_with('\n')) out += '\n';
      const auto lines = std::count(out.begin(), out.end(), '\n');
      out += "#line " + std::to_string(lines + 2) + " " + quoted(options.outputs[i]) + "\n" +
             table_of(program, order, ids);
    }
    files.push_back({i < program.mains ? options.outputs[i] : paths[i], std::move(out)});
  }
  return files;
}

Result<void> write_all(const std::vector<OutputFile> &files, bool force) {
  std::error_code error;
  for (const OutputFile &file : files) {
    if (!force && fs::exists(file.path, error)) {
      return tl::unexpected<Error>(Error{ErrorKind::environment, "it exists already", file.path, Error::kNoOffset,
                                         "choose another name, or --force"});
    }
  }
  std::vector<std::string> made;
  std::string failed;
  for (const OutputFile &file : files) {
    const fs::path folder = fs::path(file.path).parent_path();
    if (!folder.empty()) fs::create_directories(folder, error);
    made.push_back(file.path + ".part-" + std::to_string(getpid()));
    std::ofstream out(made.back(), std::ios::binary | std::ios::trunc);
    out.write(file.text.data(), static_cast<std::streamsize>(file.text.size()));
    out.close();
    if (!out) {
      failed = file.path;
      break;
    }
  }
  for (size_t i = 0; i < files.size() && failed.empty(); ++i) {
    fs::rename(made[i], files[i].path, error);
    if (error) failed = files[i].path;
  }
  if (failed.empty()) return {};
  for (const std::string &each : made) fs::remove(each, error);
  return tl::unexpected<Error>(Error{ErrorKind::environment, "it cannot be written", failed, Error::kNoOffset,
                                     "look at the folder's permissions and the disk's space"});
}

}  // namespace cairn::instrument
