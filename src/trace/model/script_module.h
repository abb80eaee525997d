// A function of a script (a program that an interpreter executes) as a module of a trace: its lines are call sites as
// the addresses of an object are. Plain functions.
//
// It has no path. Its build-id says the language, the function, and the file as the interpreter names it, each but the
// last ended by a zero: so processes have the same module for the same function, and modules of scripts are told apart
// from objects, whose build-ids are hashes.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "trace/model/record.h"

namespace cairn::trace {

constexpr std::string_view kPythonScript("CPython\0", 8);

inline Module script_module(std::string_view file, std::string_view function) {
  Module module;
  const auto add = [&](std::string_view text) {
    module.build_id.insert(module.build_id.end(), text.begin(), text.end());
  };
  add(kPythonScript);
  add(function);
  module.build_id.push_back(0);
  add(file);
  return module;
}

struct ScriptFunction {
  std::string function;
  std::string file;
};

/// Nothing if the module is an object.
inline std::optional<ScriptFunction> script_function(const Module &module) {
  const std::string_view id(reinterpret_cast<const char *>(module.build_id.data()), module.build_id.size());
  if (!id.starts_with(kPythonScript)) return std::nullopt;
  const std::string_view names = id.substr(kPythonScript.size());
  const size_t end = std::min(names.find('\0'), names.size());
  return ScriptFunction{std::string(names.substr(0, end)), std::string(names.substr(std::min(end + 1, names.size())))};
}

}  // namespace cairn::trace
