#include "gpu/instrument/parse.h"

#include <cstring>
#include <filesystem>

namespace cairn::instrument {
namespace {

constexpr const char *kFolder = "/cairn-instrument/";

// What CUDA's headers ask of the compiler where they read textures, in a header that CUDA 12 has no longer.
constexpr const char *kTextures =
    "template <class T, class... R> __attribute__((host, device)) void __nv_tex_surf_handler(const char *, T *, "
    "R...);\n";

std::string located(CXDiagnostic diagnostic) {
  CXFile file = nullptr;
  unsigned line = 0;
  clang_getFileLocation(clang_getDiagnosticLocation(diagnostic), &file, &line, nullptr, nullptr);
  std::string message = text_of(clang_getDiagnosticSpelling(diagnostic));
  if (file == nullptr) return message;
  return text_of(clang_getFileName(file)) + ":" + std::to_string(line) + ": " + message;
}

}  // namespace

Result<Unit> parse(const std::string &file, const Language &language) {
  const bool has_stub = language.hip || language.cuda.empty();
  std::vector<std::string> arguments = {"-x",
                                        language.hip ? "hip" : "cuda",
                                        "--cuda-device-only",
                                        "-nogpulib",
                                        language.hip ? "--offload-arch=gfx906" : "--cuda-gpu-arch=sm_80",
                                        "-w",
                                        "-Xclang",
                                        "-fcuda-allow-variadic-functions",
                                        "-std=" + language.standard,
                                        std::string("-I") + kFolder};
  std::error_code error;
  if (std::filesystem::is_directory(CAIRN_CLANG_RESOURCES, error)) {
    arguments.insert(arguments.end(), {"-resource-dir", CAIRN_CLANG_RESOURCES});
  }
  std::vector<std::pair<std::string, const char *>> stubs;
  if (has_stub) {
    arguments.insert(arguments.end(), {"-nogpuinc", "-include", std::string(kFolder) + "cuda_runtime.h"});
    for (const char *name :
         {"cuda_runtime.h", "cuda.h", "cuda_runtime_api.h", "device_launch_parameters.h", "hip/hip_runtime.h"}) {
      stubs.emplace_back(kFolder + std::string(name),
                         name == std::string_view("cuda_runtime.h") ? kStub : "#include <cuda_runtime.h>\n");
    }
    for (const char *name : {"cooperative_groups.h", "cooperative_groups/reduce.h", "hip/hip_cooperative_groups.h"}) {
      stubs.emplace_back(kFolder + std::string(name), name == std::string_view("cooperative_groups.h")
                                                          ? kGroupsStub
                                                          : "#include <cooperative_groups.h>\n");
    }
  } else {
    // Clang 14 is older than some CUDA: it takes its own wrapper of a header that is gone.
    arguments.insert(arguments.end(), {"--cuda-path=" + language.cuda, "-D__CLANG_CUDA_TEXTURE_INTRINSICS_H__"});
    arguments.insert(arguments.end(), {"-include", std::string(kFolder) + "prelude.h"});
    stubs.emplace_back(std::string(kFolder) + "prelude.h", kPrelude);
    // Where CUDA 13 has what cooperative groups include.
    arguments.insert(arguments.end(), {"-isystem", language.cuda + "/include/cccl"});
    if (!std::filesystem::exists(language.cuda + "/include/texture_fetch_functions.h", error)) {
      stubs.emplace_back(std::string(kFolder) + "texture_fetch_functions.h", kTextures);
    }
  }
  arguments.insert(arguments.end(), language.arguments.begin(), language.arguments.end());
  std::vector<const char *> words;
  words.reserve(arguments.size());
  for (const std::string &argument : arguments) words.push_back(argument.c_str());
  std::vector<CXUnsavedFile> unsaved;
  unsaved.reserve(stubs.size());
  for (const auto &[name, text] : stubs) unsaved.push_back({name.c_str(), text, strlen(text)});

  Unit unit;
  unit.index.reset(clang_createIndex(0, 0));
  CXTranslationUnit tree = nullptr;
  const CXErrorCode code = clang_parseTranslationUnit2(
      unit.index.get(), file.c_str(), words.data(), static_cast<int>(words.size()), unsaved.data(),
      static_cast<unsigned>(unsaved.size()), CXTranslationUnit_DetailedPreprocessingRecord, &tree);
  unit.tree.reset(tree);
  if (code != CXError_Success || tree == nullptr) {
    return fail(ErrorKind::usage, "libclang cannot read " + file, "look at the arguments after --");
  }
  for (unsigned i = 0; i < clang_getNumDiagnostics(tree); ++i) {
    CXDiagnostic diagnostic = clang_getDiagnostic(tree, i);
    if (clang_getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error) {
      unit.errors.push_back(located(diagnostic));
      if (unit.errors.back().ends_with("file not found")) unit.lacks_header = true;
    }
    clang_disposeDiagnostic(diagnostic);
  }
  return unit;
}

}  // namespace cairn::instrument
