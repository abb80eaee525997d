#include "proxy/building.h"

#include <fmt/format.h>

#include "analyze/filter.h"
#include "text/rank_list.h"

namespace cairn::proxy {
namespace {

/// What building a program of each language needs.
struct Building {
  const char *extension;
  const char *compiler;  ///< the variable of a Makefile
  const char *flags;
  const char *wrapper;
  const char *standard;
  const char *cmake;  ///< CMake's name of it
  const char *version;
};
const Building &building(Language language) {
  static const Building kC = {".c", "MPICC", "CFLAGS", "mpicc", "gnu11", "C", "11"};
  static const Building kCpp = {".cc", "MPICXX", "CXXFLAGS", "mpicxx", "gnu++17", "CXX", "17"};
  return language == Language::c ? kC : kCpp;
}

}  // namespace

std::string makefile(const Settings &settings) {
  const Building &of = building(settings.language);
  return fmt::format(
      "# make {1}={3}.mpich; the program is ./proxy.\n"
      "{1} = {3}\n{2} = -O1 -Wall -Wextra\n{5}"
      "OBJECTS = $(patsubst %{0},%.o,$(wildcard *{0}))\n\n"
      "proxy: $(OBJECTS)\n\t$({1}) $({2}) -o $@ $(OBJECTS) -lpthread\n\n"
      "%.o: %{0} proxy.h program.h threads.h\n\t$({1}) -std={4} $(CPPFLAGS) $({2}) -pthread -c -o $@ $<\n\n"
      "clean:\n\trm -f proxy $(OBJECTS)\n.PHONY: clean\n",
      of.extension, of.compiler, of.flags, of.wrapper, of.standard,
      settings.gaps == Gaps::blocks ? "CPPFLAGS = -DPROXY_BLOCKS\n" : "");
}

std::string cmake_lists(const Settings &settings) {
  const Building &of = building(settings.language);
  return fmt::format(
      "# cmake -B build -DMPI_{0}_COMPILER={1}.mpich && cmake --build build\n"
      "cmake_minimum_required(VERSION 3.13)\nproject(proxy {0})\n{5}find_package(MPI REQUIRED COMPONENTS {0})\n"
      "find_package(Threads REQUIRED)\nfile(GLOB sources ${{CMAKE_CURRENT_SOURCE_DIR}}/*{2})\n"
      "add_executable(proxy ${{sources}})\nset_target_properties(proxy PROPERTIES {0}_STANDARD {3})\n"
      "{4}target_link_libraries(proxy PRIVATE MPI::MPI_{0} Threads::Threads)\n",
      of.cmake, of.wrapper, of.extension, of.version,
      settings.gaps == Gaps::blocks ? "target_compile_definitions(proxy PRIVATE PROXY_BLOCKS)\n" : "",
      settings.language == Language::c ? "" : "set(MPI_CXX_SKIP_MPICXX ON)\n");
}

std::string source_name(std::string_view c_name, Language language) {
  if (!c_name.ends_with(".c")) return std::string(c_name);
  return std::string(c_name.substr(0, c_name.size() - 2)) + building(language).extension;
}

std::string readme(const Program &program, const std::vector<PartText> &parts, const std::string &name) {
  const trace::Trace &trace = program.trace;
  const Building &of = building(program.settings.language);
  const size_t processes = program.kept == nullptr ? trace.rank_count() : program.kept->ranks().size();
  std::string out = fmt::format(
      "# A proxy of {}\n\nThis program makes the MPI calls of {} ranks again, as `cairn record` kept them: the same "
      "calls in\n"
      "the same order with the same arguments and messages. `cairn proxy` made it.\n\n"
      "    make {}={}.mpich      # or {}.openmpi\n    mpiexec.mpich -n {} ./proxy\n\n",
      name, processes, of.compiler, of.wrapper, of.wrapper, processes);
  if (program.kept == nullptr) {
    out += fmt::format(
        "Recorded again it is the same run:\n\n"
        "    cairn record -o proxy.cairn -- mpiexec.mpich -n {} ./proxy\n    cairn diff --replay {} proxy.cairn\n\n",
        processes, name);
  } else {
    out += fmt::format(
        "Of {} ranks these are left out: {}. The others are ranks 0 to {} now, in their order; in the source `rank` "
        "and\n"
        "`size` are those of the recording.\n\n",
        trace.rank_count(), ranks_text(program.settings.left_out), processes - 1);
  }
  out += fmt::format("| file | what |\n|---|---|\n| `main{}` | which rank does what |\n", of.extension);
  for (size_t i = 0; i < parts.size(); ++i) {
    constexpr size_t kMost = 1000;
    if (i == kMost) break;
    out += fmt::format("| `{}{}` | {} rank{}, {} calls |\n", parts[i].name, of.extension, parts[i].ranks,
                       parts[i].ranks == 1 ? "" : "s", parts[i].calls);
  }
  out += fmt::format(
      "| `program.h`, `program{}` | the handles that calls make, named after what made them |\n"
      "| the others | what such programs stand on, the same in each: `proxy.h` says what there is |\n",
      of.extension);
  if (!program.newer.empty()) {
    out += "\nIt needs an MPI library that has what came after MPI 3.1:";
    for (const std::string &each : program.newer) out += fmt::format(" `{}`", each);
    out += ".\n";
  }
  return out +
         "\nFiles that the program wrote are written to the folder that the environment variable `PROXY_FILES`\n"
         "names, or to the current one.\n";
}

}  // namespace cairn::proxy
