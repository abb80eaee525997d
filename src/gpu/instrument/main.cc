// cairn-instrument: what `cairn instrument` becomes, so that only it loads libclang. Its words are those of the verb,
// which has checked them.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "gpu/instrument/body_walker.h"
#include "gpu/instrument/kernels.h"
#include "gpu/instrument/launches.h"
#include "gpu/instrument/other_models.h"
#include "gpu/instrument/output.h"
#include "gpu/instrument/parse.h"

namespace cairn::instrument {
namespace {

namespace fs = std::filesystem;

constexpr int kUsage = 2;
constexpr int kEnvironment = 4;
constexpr int kInternal = 5;
constexpr size_t kErrorsShown = 5;

struct Options : OutputOptions {
  std::vector<std::string> files;
  Language language;
  bool emulator = false;
  bool accesses = false;
};

int say(int code, const std::string &message) {
  std::fprintf(stderr, "cairn: %s\n", message.c_str());
  return code;
}

int report(const Error &error) {
  const std::string where = error.path.empty() ? "" : error.path + ": ";
  const std::string hint = error.hint.empty() ? "" : "; " + error.hint;
  return say(error.kind == ErrorKind::usage ? kUsage : kEnvironment, where + error.message + hint);
}

std::string default_include() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return (self.parent_path() / CAIRN_INCLUDE_FROM_LIBEXEC).lexically_normal().string();
}

/// "" or what is wrong with the words.
std::string read(const std::vector<std::string> &words, Options &options) {
  std::string cuda = "/usr/local/cuda";
  std::string language;
  std::string output;
  std::vector<std::string> folders;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string &word = words[i];
    if (word == "--") {
      options.language.arguments.insert(options.language.arguments.end(),
                                        words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end());
      break;
    }
    const bool is_long = word.starts_with("--") || word.starts_with("-std");
    const bool is_short = !is_long && word.size() > 1 && word[0] == '-';
    const size_t equals = is_long ? word.find('=') : std::string::npos;
    const std::string name = is_short ? word.substr(0, 2) : word.substr(0, equals);
    if (name == "--force" || name == "-f") {
      options.force = true;
    } else if (name == "--emulator") {
      options.emulator = true;
    } else if (name == "--accesses") {
      options.accesses = true;
    } else if (name == "--no-points") {
      options.points = false;
    } else if (is_long || is_short) {
      std::string value = is_short ? word.substr(2) : equals != std::string::npos ? word.substr(equals + 1) : "";
      if (is_short ? value.empty() : equals == std::string::npos) {
        if (++i == words.size()) return name + " needs a value";
        value = words[i];
      }
      if (name == "--output" || name == "-o") output = value;
      if (name == "--include") options.include = value;
      if (name == "--headers") options.headers = value;
      if (name == "--project") folders.push_back(value);
      if (name == "--cuda-path") cuda = value;
      if (name == "--std" || name == "-std") options.language.standard = value;
      if (name == "--language" || name == "-x") language = value;
      if (name == "-I" || name == "-D") options.language.arguments.push_back(name + value);
    } else {
      options.files.push_back(word);
    }
  }
  if (options.files.empty()) return "there is no file to instrument";
  if (!options.points && options.accesses) return "--accesses and --no-points cannot go together";
  if (!options.points && !options.emulator) return "without --emulator, --no-points leaves nothing to do";
  const bool hip = fs::path(options.files.front()).extension() == ".hip";
  options.language.hip = language == "hip" || (language.empty() && hip);
  std::error_code error;
  if (fs::is_directory(cuda + "/include", error)) options.language.cuda = cuda;
  for (const fs::path file : options.files) {
    const std::string traced = file.stem().string() + ".traced" + file.extension().string();
    const bool into_folder = options.files.size() > 1 && !output.empty();
    options.outputs.push_back(into_folder      ? (fs::path(output) / file.filename()).string()
                              : output.empty() ? (file.parent_path() / traced).string()
                                               : output);
    for (size_t i = 0; i + 1 < options.outputs.size(); ++i) {
      if (options.outputs[i] == options.outputs.back()) return "two files would become " + options.outputs[i];
    }
  }
  if (options.include.empty()) options.include = default_include();
  // For cairn/value.h.
  options.language.arguments.insert(options.language.arguments.end(), {"-idirafter", options.include});
  // Those that were named first: what lies below one of them keeps its path there.
  options.folders = std::move(folders);
  for (const std::string &file : options.files) {
    options.folders.push_back(fs::absolute(file, error).parent_path().string());
  }
  return {};
}

/// A file of a unit. One that another unit has too is one file.
void add_source(Program &program, CXTranslationUnit unit, CXFile file) {
  if (file == nullptr || program.source_of.contains(file)) return;
  const std::string path = text_of(clang_getFileName(file));
  const auto same = std::find_if(program.sources.begin(), program.sources.end(), [&](const Source &each) {
    std::error_code error;
    return fs::equivalent(each.path, path, error);
  });
  program.source_of.emplace(file, same - program.sources.begin());
  if (same == program.sources.end()) {
    program.sources.emplace_back(unit, file);
  } else {
    same->add_view(unit, file);
  }
}

/// The project's headers, in the order that they are included in.
void add_headers(Program &program, CXTranslationUnit unit, const Options &options) {
  for (const CXCursor cursor : children(clang_getTranslationUnitCursor(unit))) {
    if (clang_getCursorKind(cursor) != CXCursor_InclusionDirective) continue;
    CXFile file = clang_getIncludedFile(cursor);
    if (file == nullptr || within(text_of(clang_getFileName(file)), options.folders).empty()) continue;
    add_source(program, unit, file);
  }
}

/// 0, or what was said.
int check(const std::string &file, const std::string &output, const Language &language, std::vector<Unit> &units) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return say(kEnvironment, file + ": there is no such file");
  if (fs::equivalent(file, output, error)) {
    return say(kUsage, output + ": that is the source itself; choose another name with -o");
  }
  std::ifstream in(file, std::ios::binary);
  const OtherModel other = other_model({std::istreambuf_iterator<char>(in), {}});
  if (!other.name.empty()) {
    const std::string what = file + ":" + std::to_string(other.line) + ": ";
    if (other.alone) {
      return say(kUsage, what + "this is " + other.name + ", which is not traced: cairn instrument reads CUDA and HIP");
    }
    std::fprintf(stderr, "%swarning: what is %s here is not traced, CUDA and HIP are\n", what.c_str(),
                 other.name.c_str());
  }
  auto unit = parse(file, language);
  if (!unit) return report(unit.error());
  if (unit->lacks_header) {
    return say(kUsage, unit->errors.back() + "; nothing is written, name the folder that has it with -I");
  }
  if (!unit->errors.empty()) {
    for (size_t i = 0; i < std::min(kErrorsShown, unit->errors.size()); ++i)
      std::fprintf(stderr, "%s\n", unit->errors[i].c_str());
    return say(kUsage, file + ": " + std::to_string(unit->errors.size()) +
                           (unit->errors.size() == 1 ? " error" : " errors") +
                           ", nothing is written; arguments after -- go to the parser");
  }
  units.push_back(*std::move(unit));
  return 0;
}

int instrument(const Options &options) {
  std::vector<Unit> units;
  Program program;
  std::vector<CXTranslationUnit> trees;
  for (size_t i = 0; i < options.files.size(); ++i) {
    if (const int code = check(options.files[i], options.outputs[i], options.language, units); code != 0) return code;
    trees.push_back(units.back().tree.get());
    add_source(program, trees.back(), clang_getFile(trees.back(), options.files[i].c_str()));
  }
  program.mains = options.files.size();
  for (const CXTranslationUnit unit : trees) {
    if (!options.headers.empty()) add_headers(program, unit, options);
  }
  program.accesses = options.accesses;
  survey(program, trees);
  if (options.points) {
    put_points(program);
    put_parameters(program);
  } else {
    put_turns(program);
  }
  if (options.emulator) {
    put_dynamic_shared(program);
    put_ptx(program);
  }
  put_launches(program, options.points, options.emulator);
  const auto files = outputs(program, trees, options);
  if (!files) return report(files.error());
  for (const Warning &warning : program.warnings) {
    const Source &source = program.sources[warning.file];
    if (options.points)
      std::fprintf(stderr, "%s:%u: warning: %s\n", source.path.c_str(), source.line(warning.offset),
                   warning.text.c_str());
  }
  if (const auto written = write_all(*files, options.force); !written) return report(written.error());
  return 0;
}

}  // namespace
}  // namespace cairn::instrument

int main(int argc, char **argv) {
  using namespace cairn::instrument;
  try {
    Options options;
    const std::string wrong = read({argv + 1, argv + argc}, options);
    return wrong.empty() ? instrument(options) : say(kUsage, wrong + "; see cairn instrument --help");
  } catch (const std::exception &error) {
    return say(kInternal, std::string("internal error: ") + error.what() + "; please report it");
  }
}
