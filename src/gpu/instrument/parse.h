// Reads CUDA or HIP code with libclang. The device's side of it is read, where `__CUDA_ARCH__` is defined: that is the
// side that is instrumented, as sm_80 (`-- --no-cuda-gpu-arch=sm_80 --cuda-gpu-arch=sm_70`: as another), and host code
// is there all the same.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "gpu/instrument/cursor.h"

namespace cairn::instrument {

struct Language {
  bool hip = false;
  std::string standard = "c++17";
  /// Where CUDA lies; empty: a stand-in of this room (stub.cc) that needs no CUDA. HIP always has that.
  std::string cuda;
  std::vector<std::string> arguments;  ///< -I, -D and all that was given after --
};

/// A parsed file. Errors of the code are no failure: they are in `errors`, each as "file:line: message".
struct Unit {
  std::unique_ptr<void, void (*)(CXIndex)> index{nullptr, clang_disposeIndex};
  std::unique_ptr<CXTranslationUnitImpl, void (*)(CXTranslationUnit)> tree{nullptr, clang_disposeTranslationUnit};
  std::vector<std::string> errors;
  bool lacks_header = false;  ///< the last of them: an include that no folder has
};

Result<Unit> parse(const std::string &file, const Language &language);

/// What Clang lacks beside CUDA's own headers.
extern const char *const kPrelude;
/// Stands in for CUDA's and HIP's headers.
extern const char *const kStub;
extern const char *const kGroupsStub;

}  // namespace cairn::instrument
