#include "proxy/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/attached.h"
#include "analyze/repeatable.h"
#include "proxy/building.h"
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

/// Whether any of its ranks stays.
bool has_part(const Program &program, uint32_t class_index) {
  if (program.kept == nullptr) return true;
  const std::vector<uint32_t> all = program.trace.class_ranks(class_index).expand();
  return std::any_of(all.begin(), all.end(), [&](uint32_t rank) { return program.kept->has(rank); });
}

class MainText {
 public:
  explicit MainText(Program *program) : program_(*program), ranks_(program->trace.rank_count()) {
    for (uint32_t i = 0; i < ranks_.size(); ++i) ranks_[i] = i;
    for (uint32_t index = 0; index < program_.trace.class_count(); ++index) {
      const trace::ClassPart &part = trace::class_structure(program_.trace, index);
      if (has_part(program_, index)) segments_[{part.thread, part.segment}].push_back(index);
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
    const size_t processes = program_.kept == nullptr ? ranks_.size() : program_.kept->ranks().size();
    functions.line(fmt::format("begin(&argc, &argv, {});", processes));
    if (program_.kept != nullptr) {
      std::vector<std::string> plays;
      for (const uint32_t rank : program_.kept->ranks()) plays.push_back(fmt::format("{}", rank));
      tables.raw(
          fmt::format("/* Which rank of the recording each process is. */\nstatic const int plays[] = {{\n{}}};\n\n",
                      list_text(plays)));
      functions.line("rank = plays[rank];");
      functions.line(fmt::format("size = {}; /* of the recording */", ranks_.size()));
    }
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
    out->line(fmt::format("{0}add_thread(thread_{1}, {1}, {2});", all ? "" : "  ", thread, ticket));
  }

  Program &program_;
  std::vector<uint32_t> ranks_;
  std::map<Segment, std::vector<uint32_t>> segments_;
};

Result<void> may_be_written(const std::vector<std::string> &problems, bool some_ranks) {
  if (problems.empty()) return {};
  std::string all;
  constexpr size_t kMost = 20;
  for (size_t i = 0; i < problems.size() && i < kMost; ++i) all += (i == 0 ? "" : "; ") + problems[i];
  if (problems.size() > kMost) all += fmt::format("; and {} more", problems.size() - kMost);
  return fail(
      ErrorKind::usage, "calls that a program cannot make again: " + all,
      some_ranks ? "without --leave-out they may be made: docs/proxy.md" : "cairn replay may do it: docs/replay.md");
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
  std::optional<KeptRanks> kept;
  if (!settings.left_out.empty()) {
    auto some = KeptRanks::of(trace, sources, settings.left_out);
    if (!some) return tl::unexpected(some.error());
    kept = *std::move(some);
    program.kept = &*kept;
  }
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    if (has_part(program, index)) parts.push_back(write_part(&program, index, &problems));
  }
  for (const std::string &each : program.unmade()) problems.push_back(each);
  std::sort(problems.begin(), problems.end());
  problems.erase(std::unique(problems.begin(), problems.end()), problems.end());
  if (auto may = may_be_written(problems, !settings.left_out.empty()); !may) return tl::unexpected(may.error());

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
    if (file.name == "subset.c" && program.kept == nullptr) continue;
    proxy.files.push_back({source_name(file.name, settings.language), std::string(file.text)});
  }
  proxy.files.push_back({"Makefile", makefile(settings)});
  proxy.files.push_back({"CMakeLists.txt", cmake_lists(settings)});
  proxy.files.push_back({"README.md", readme(program, parts, name)});
  proxy.parts = parts.size();
  proxy.processes = kept ? kept->ranks().size() : trace.rank_count();
  if (kept) proxy.losses = kept->losses();
  proxy.newer.assign(program.newer.begin(), program.newer.end());
  return proxy;
}

}  // namespace cairn::proxy
