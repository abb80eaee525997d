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

std::string makefile(const Settings &settings) {
  return fmt::format(
      "# make MPICC=mpicc.mpich; the program is ./proxy.\n"
      "MPICC = mpicc\nCFLAGS = -O1 -Wall -Wextra\n{}"
      "OBJECTS = $(patsubst %.c,%.o,$(wildcard *.c))\n\n"
      "proxy: $(OBJECTS)\n\t$(MPICC) $(CFLAGS) -o $@ $(OBJECTS) -lpthread\n\n"
      "%.o: %.c proxy.h program.h threads.h\n\t$(MPICC) -std=gnu11 $(CPPFLAGS) $(CFLAGS) -pthread -c -o $@ $<\n\n"
      "clean:\n\trm -f proxy $(OBJECTS)\n.PHONY: clean\n",
      settings.gaps == Gaps::blocks ? "CPPFLAGS = -DPROXY_BLOCKS\n" : "");
}

std::string cmake_lists(const Settings &settings) {
  return fmt::format(
      "# cmake -B build -DMPI_C_COMPILER=mpicc.mpich && cmake --build build\n"
      "cmake_minimum_required(VERSION 3.13)\nproject(proxy C)\nfind_package(MPI REQUIRED COMPONENTS C)\n"
      "find_package(Threads REQUIRED)\nfile(GLOB sources ${{CMAKE_CURRENT_SOURCE_DIR}}/*.c)\n"
      "add_executable(proxy ${{sources}})\nset_target_properties(proxy PROPERTIES C_STANDARD 11)\n"
      "{}target_link_libraries(proxy PRIVATE MPI::MPI_C Threads::Threads)\n",
      settings.gaps == Gaps::blocks ? "target_compile_definitions(proxy PRIVATE PROXY_BLOCKS)\n" : "");
}

std::string readme(const Program &program, const std::vector<PartText> &parts, const std::string &name) {
  const trace::Trace &trace = program.trace;
  std::string out = fmt::format(
      "# A proxy of {}\n\nThis program makes the MPI calls of {} ranks again, as `cairn record` kept them: the same "
      "calls in\n"
      "the same order with the same arguments and messages. `cairn proxy` made it.\n\n"
      "    make MPICC=mpicc.mpich      # or mpicc.openmpi\n    mpiexec.mpich -n {} ./proxy\n\n"
      "Recorded again it is the same run:\n\n"
      "    cairn record -o proxy.cairn -- mpiexec.mpich -n {} ./proxy\n    cairn diff --replay {} proxy.cairn\n\n"
      "| file | what |\n|---|---|\n| `main.c` | which rank does what |\n",
      name, trace.rank_count(), trace.rank_count(), trace.rank_count(), name);
  for (size_t i = 0; i < parts.size(); ++i) {
    const trace::ClassView view = trace.class_view(static_cast<uint32_t>(i));
    constexpr size_t kMost = 1000;
    if (i == kMost) break;
    out += fmt::format("| `{}.c` | {} rank{}, {} calls |\n", parts[i].name, view.ranks.size(),
                       view.ranks.size() == 1 ? "" : "s", parts[i].calls);
  }
  out +=
      "| `program.h`, `program.c` | the handles that calls make, named after what made them |\n"
      "| the others | what such programs stand on, the same in each: `proxy.h` says what there is |\n";
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
  for (const ProxyFile &file : proxy.files) {
    proxy.own_lines += static_cast<size_t>(std::count(file.text.begin(), file.text.end(), '\n'));
    proxy.own_bytes += file.text.size();
  }
  for (const SupportFile &file : support_files()) {
    if (file.name == "windows.c" && !program.attaches) continue;
    proxy.files.push_back({std::string(file.name), std::string(file.text)});
  }
  proxy.files.push_back({"Makefile", makefile(settings)});
  proxy.files.push_back({"CMakeLists.txt", cmake_lists(settings)});
  proxy.files.push_back({"README.md", readme(program, parts, name)});
  proxy.parts = parts.size();
  proxy.newer.assign(program.newer.begin(), program.newer.end());
  return proxy;
}

}  // namespace cairn::proxy
