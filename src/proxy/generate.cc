#include "proxy/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/attached.h"
#include "analyze/repeatable.h"
#include "proxy/columns.h"
#include "proxy/part.h"
#include "proxy/streams.h"
#include "proxy/support_files.h"
#include "trace/read/class_structure.h"

namespace cairn::proxy {
namespace {

using trace::Atom;

/// The parts that one thread is in during one segment of its life.
using Segment = std::pair<uint32_t, uint32_t>;

class MainText {
 public:
  explicit MainText(Program *program) : program_(*program), ranks_(program->trace.rank_count()) {
    for (uint32_t i = 0; i < ranks_.size(); ++i) ranks_[i] = i;
    for (uint32_t index = 0; index < program_.trace.class_count(); ++index) {
      const trace::ClassPart &part = trace::class_structure(program_.trace, index);
      segments_[{part.thread, part.segment}].push_back(index);
    }
  }

  std::string write() {
    Identifiers names;
    Source tables;
    Columns columns(
        &program_, ranks_, [] { return std::string("rank"); }, &tables, &names);
    Source functions;
    std::map<uint32_t, std::vector<Segment>> threads;
    for (const auto &[segment, classes] : segments_) threads[segment.first].push_back(segment);
    for (const auto &[thread, all] : threads) {
      functions.open(fmt::format("static void thread_{}(void)", thread));
      for (const Segment &segment : all) step(segments_.at(segment), &columns, &functions);
      functions.close();
      functions.line();
    }
    functions.open("int main(int argc, char **argv)");
    functions.line(fmt::format("begin(&argc, &argv, {});", ranks_.size()));
    if (program_.several_threads) {
      for (const auto &[thread, all] : threads) add_thread(thread, all.front(), &columns, &functions);
    }
    functions.line("thread_0();");
    functions.line("end();");
    functions.line("return 0;");
    functions.close();
    const std::string head = "/* Which rank does what. */\n#include \"program.h\"\n\n";
    return head + tables.text() + functions.text();
  }

 private:
  void step(const std::vector<uint32_t> &classes, Columns *columns, Source *out) {
    std::vector<Atom> which(ranks_.size(), -1);
    for (size_t i = 0; i < classes.size(); ++i) {
      for (const uint32_t rank : program_.trace.class_ranks(classes[i]).expand()) {
        if (rank < which.size()) which[rank] = static_cast<Atom>(i);
      }
    }
    if (classes.size() == 1 && std::find(which.begin(), which.end(), -1) == which.end()) {
      out->line(fmt::format("part_{}();", classes[0]));
      return;
    }
    out->open(fmt::format("switch ((int)({}))", columns->value(which)));
    for (size_t i = 0; i < classes.size(); ++i) out->line(fmt::format("case {}: part_{}(); break;", i, classes[i]));
    out->line("default: break;");
    out->close();
  }
  void add_thread(uint32_t thread, const Segment &first, Columns *columns, Source *out) {
    std::vector<Atom> tickets(ranks_.size(), -1);
    for (const uint32_t index : segments_.at(first)) {
      const trace::ClassPart &part = trace::class_structure(program_.trace, index);
      const std::vector<uint32_t> members = part.ranks.expand();
      const std::vector<Atom> own = part.first_ticket.expand();
      for (size_t i = 0; i < members.size() && i < own.size(); ++i) {
        if (members[i] < tickets.size()) tickets[members[i]] = own[i];
      }
    }
    const std::string ticket = columns->value(tickets);
    const bool all = std::find(tickets.begin(), tickets.end(), -1) == tickets.end();
    if (!all) out->line(fmt::format("if (({}) >= 0)", ticket));
    out->line(fmt::format("{}add_thread(thread_{}, {});", all ? "" : "  ", thread, ticket));
  }

  Program &program_;
  std::vector<uint32_t> ranks_;
  std::map<Segment, std::vector<uint32_t>> segments_;
};

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

/// As it is called in that language.
std::string source_name(std::string_view c_name, Language language) {
  if (!c_name.ends_with(".c")) return std::string(c_name);
  return std::string(c_name.substr(0, c_name.size() - 2)) + building(language).extension;
}

std::string readme(const Program &program, const std::vector<PartText> &parts, const std::string &name) {
  const trace::Trace &trace = program.trace;
  const Building &of = building(program.settings.language);
  std::string out = fmt::format(
      "# A proxy of {}\n\nThis program makes the MPI calls of {} ranks again, as `cairn record` kept them: the same "
      "calls in\n"
      "the same order with the same arguments and messages. `cairn proxy` made it.\n\n"
      "    make {}={}.mpich      # or {}.openmpi\n    mpiexec.mpich -n {} ./proxy\n\n"
      "Recorded again it is the same run:\n\n"
      "    cairn record -o proxy.cairn -- mpiexec.mpich -n {} ./proxy\n    cairn diff --replay {} proxy.cairn\n\n"
      "| file | what |\n|---|---|\n| `main{}` | which rank does what |\n",
      name, trace.rank_count(), of.compiler, of.wrapper, of.wrapper, trace.rank_count(), trace.rank_count(), name,
      of.extension);
  for (size_t i = 0; i < parts.size(); ++i) {
    const trace::ClassView view = trace.class_view(static_cast<uint32_t>(i));
    constexpr size_t kMost = 1000;
    if (i == kMost) break;
    out += fmt::format("| `{}{}` | {} rank{}, {} calls |\n", parts[i].name, of.extension, view.ranks.size(),
                       view.ranks.size() == 1 ? "" : "s", parts[i].calls);
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

Result<void> may_be_written(const std::vector<std::string> &problems) {
  if (problems.empty()) return {};
  std::string all;
  constexpr size_t kMost = 20;
  for (size_t i = 0; i < problems.size() && i < kMost; ++i) all += (i == 0 ? "" : "; ") + problems[i];
  if (problems.size() > kMost) all += fmt::format("; and {} more", problems.size() - kMost);
  return fail(ErrorKind::usage, "calls that a program cannot make again: " + all,
              "cairn replay may do it: docs/replay.md");
}

}  // namespace

Result<Proxy> generate(const trace::Trace &trace, const analyze::Sources &sources, const Settings &settings,
                       const std::string &name) {
  if (auto may = analyze::may_be_repeated(trace); !may) return tl::unexpected(may.error());
  if (trace.class_count() == 0) {
    return fail(ErrorKind::usage, "the trace has no MPI calls", "record a program that makes some");
  }
  Program program(trace, sources, settings);
  program.attaches = analyze::attaches(trace);
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    const trace::ClassPart &part = trace::class_structure(trace, index);
    program.several_threads = program.several_threads || part.thread != 0;
    for (const auto &row : part.rows) {
      if (row->function >= spec::functions().size() ||
          trace::call_fields(*row) != size_t{spec::functions()[row->function].parameter_count} + 1) {
        return fail(ErrorKind::unreadable,
                    fmt::format("a call of function {} that this version does not know", row->function));
      }
      const std::string_view function = spec::functions()[row->function].name;
      program.keyvals = program.keyvals || function.find("keyval") != std::string_view::npos ||
                        function.find("Keyval") != std::string_view::npos;
      program.grequests =
          program.grequests || function.starts_with("MPI_Grequest_start") || function.starts_with("MPIX_Grequest");
    }
  }
  program.singles = single_handles(trace, sources);
  std::vector<PartText> parts;
  std::vector<std::string> problems;
  for (uint32_t index = 0; index < trace.class_count(); ++index)
    parts.push_back(write_part(&program, index, &problems));
  for (const std::string &each : program.unmade()) problems.push_back(each);
  std::sort(problems.begin(), problems.end());
  problems.erase(std::unique(problems.begin(), problems.end()), problems.end());
  if (auto may = may_be_written(problems); !may) return tl::unexpected(may.error());

  Proxy proxy;
  std::vector<std::string> names;
  proxy.files.push_back({"main.c", MainText(&program).write()});
  for (PartText &part : parts) {
    std::string numbers;
    for (const spec::Kind kind : part.kinds)
      numbers += handle_numbers(program, kind, part.scope, kind_word(kind) + "_numbers");
    part.text.insert(part.place, numbers);
    names.push_back(part.name);
    proxy.files.push_back({part.name + ".c", part.text});
  }
  proxy.files.push_back({"program.h", program.header(names)});
  proxy.files.push_back({"program.c", program.definitions()});
  for (ProxyFile &file : proxy.files) {
    file.name = source_name(file.name, settings.language);
    proxy.own_lines += static_cast<size_t>(std::count(file.text.begin(), file.text.end(), '\n'));
    proxy.own_bytes += file.text.size();
  }
  for (const SupportFile &file : support_files()) {
    if (file.name == "windows.c" && !program.attaches) continue;
    proxy.files.push_back({source_name(file.name, settings.language), std::string(file.text)});
  }
  proxy.files.push_back({"Makefile", makefile(settings)});
  proxy.files.push_back({"CMakeLists.txt", cmake_lists(settings)});
  proxy.files.push_back({"README.md", readme(program, parts, name)});
  proxy.parts = parts.size();
  proxy.newer.assign(program.newer.begin(), program.newer.end());
  return proxy;
}

}  // namespace cairn::proxy
