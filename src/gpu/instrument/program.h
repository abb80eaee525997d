// What is known of the program while it is instrumented: its files, points, kernels, warnings. One object a run, built
// by `survey` (kernels.h), completed by `put_points` and `put_launches`, printed by output.h.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gpu/instrument/flow.h"
#include "gpu/instrument/source.h"

namespace cairn::instrument {

/// As cairn::gpu::Kind.
enum class Kind : uint8_t {
  entry,
  then,
  otherwise,
  loop,
  label,
  ternary,
  short_circuit,
  value,
  load,
  store,
  update,
  atomic
};

constexpr bool is_access(Kind kind) { return kind > Kind::value; }

struct Point {
  Kind kind;
  size_t file;      ///< index of its source
  uint32_t offset;  ///< that it is put at: gives the order
  unsigned line;
  std::string function;
  unsigned column = 0;  ///< of an access
};

struct Kernel {
  std::string name;
  std::string key;
  std::vector<CXCursor> declarations;  ///< those with a body too
  std::string untraced;                ///< why it stays as it is, or empty
  unsigned number = 0;                 ///< among the traced ones
};

struct Function {
  CXCursor cursor;  ///< a declaration, or a lambda
  std::string name;
  bool is_kernel = false;
};

/// One line for the user. Ordered as the files are.
struct Warning {
  size_t file;
  uint32_t offset;
  std::string text;
  auto operator<=>(const Warning &) const = default;
};

struct Program {
  std::deque<Source> sources;  ///< the main files first
  size_t mains = 1;
  std::map<CXFile, size_t> source_of;    ///< a header has a handle a unit
  std::vector<Kernel> kernels;           ///< by first declaration
  std::vector<Function> functions;       ///< device code with a body
  std::vector<CXCursor> launches;        ///< the calls
  std::vector<CXCursor> array_launches;  ///< calls of cudaLaunchKernel and its like
  std::vector<Point> points;
  std::set<Warning> warnings;
  bool notes_launches = false;  ///< some launch's configuration is noted in variables
  bool accesses = false;        ///< there are points at accesses to memory, too
  bool only_turns = false;      ///< there are no points: loops let others have their turn, for the emulator
  Flow flow;

  /// Null where the file is none of ours.
  Source *source(CXCursor cursor) {
    const auto found = source_of.find(file_of(cursor));
    return found != source_of.end() ? &sources[found->second] : nullptr;
  }
  Kernel *kernel(const std::string &key) {
    for (Kernel &each : kernels) {
      if (each.key == key) return &each;
    }
    return nullptr;
  }
  void warn(CXCursor about, uint32_t offset, std::string text) {
    const auto found = source_of.find(file_of(about));
    if (found != source_of.end()) warnings.insert({found->second, offset, std::move(text)});
  }
  void warn(CXCursor about, std::string text) { warn(about, span_of(about).begin, std::move(text)); }
};

}  // namespace cairn::instrument
