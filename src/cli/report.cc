// cairn report: a run as one HTML page.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "analyze/sources.h"
#include "base/replaced.h"
#include "cli/inspect.h"
#include "cli/verbs.h"
#include "report/facts.h"
#include "report/page.h"
#include "terminal/child.h"
#include "terminal/installation.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "trace/read/edit.h"
#include "trace/read/trace.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

struct ReportOptions : Inspection {
  std::string other;
  std::string output;
  bool open = false;
  bool all = false;
  bool no_sources = false;
  std::optional<uint64_t> within;
  bool quiet = false;
};

Error cannot(const std::string &what, const std::string &path) {
  return {ErrorKind::environment, fmt::format("{}: {}", what, std::strerror(errno)), path, Error::kNoOffset, ""};
}

/// The trace's bytes, with the call sites that are resolved here: where the page is looked at the program's modules are
/// not at hand.
Result<std::string> trace_with_sources(const trace::Trace &trace, const std::string &path) {
  auto content = report::content_of(path);
  const auto resolved = analyze::Sources(trace).resolved();
  if (!content || resolved.size() <= analyze::Sources::in_trace(trace).resolved().size()) return content;
  // Of the whole file: what was opened may have left blocks in it.
  const auto whole = trace::Trace::from_bytes(Bytes(content->begin(), content->end()), path);
  if (!whole || whole->damage()) return content;
  const Bytes with = trace::with_sources(*whole, resolved);
  return std::string(with.begin(), with.end());
}

/// A file that is not there, an empty one, or an earlier page.
Result<void> may_write(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return {};
  std::string beginning(200, '\0');
  file.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
  beginning.resize(static_cast<size_t>(file.gcount()));
  if (beginning.empty() || report::is_page(beginning)) return {};
  return tl::unexpected<Error>(Error{ErrorKind::usage, "this is there already, and no page that cairn report wrote",
                                     path, Error::kNoOffset, "name another file with -o"});
}

/// Beside it first, so that a full disk leaves an earlier page as it was.
Result<void> write(const std::string &path, const std::string &text) {
  Replaced file(path);
  int wrong = file.write({reinterpret_cast<const uint8_t *>(text.data()), text.size()});
  if (wrong == 0) wrong = file.take_name();
  if (wrong == 0) return {};
  errno = wrong;
  return tl::unexpected<Error>(cannot("cannot write it", path));
}

int report_of(const ReportOptions &options) {
  const auto folder = find_data("report", "page.html");
  if (!folder) return report(folder.error());
  const auto assets = report::read_assets(*folder);
  if (!assets) return report(assets.error());
  std::vector<Inspection> inspections = {options};
  if (!options.other.empty()) inspections.emplace_back().file = options.other;
  std::vector<trace::Trace> opened;
  for (Inspection &inspection : inspections) {
    auto trace = open_trace(inspection);
    if (!trace) return report(trace.error());
    opened.push_back(*std::move(trace));
  }
  const std::string output = options.output.empty()
                                 ? fs::path(inspections.front().file).replace_extension(".html").filename().string()
                                 : options.output;
  if (auto may = may_write(output); !may) return report(may.error());

  std::error_code error;
  const bool talks = !options.quiet && isatty(STDERR_FILENO) == 1;
  std::vector<report::Asked> traces;
  std::vector<report::Block> blocks;
  uint64_t bytes_of_traces = 0;
  for (size_t i = 0; i < opened.size(); ++i) {
    const std::string &file = inspections[i].file;
    report::Asked asked;
    asked.executable = fs::read_symlink("/proc/self/exe", error).string();
    asked.file = file;
    if (options.all) asked.most_calls = UINT64_MAX;
    asked.sources = !options.no_sources;
    if (options.within) asked.within = std::chrono::seconds(std::min<uint64_t>(*options.within, 1'000'000'000));
    if (talks) {
      asked.saying = [](const std::string &verb) { fmt::print(stderr, "\r\033[Kcairn: asking cairn {} …", verb); };
    }
    traces.push_back(std::move(asked));
    auto bytes = trace_with_sources(opened[i], file);
    if (!bytes) return report(bytes.error());
    bytes_of_traces += bytes->size();
    blocks.push_back({fmt::format("trace{}", i), *std::move(bytes)});
  }
  blocks.insert(blocks.begin(), {"facts", report::gzip(report::facts_of_page(traces).dump())});
  if (talks) fmt::print(stderr, "\r\033[K");
  const std::string page = report::page_of(*assets, opened.front().run().command, blocks);
  if (auto done = write(output, page); !done) return report(done.error());
  if (!options.quiet) {
    say(fmt::format("{}: {}, {} of them the trace{}", output, bytes_text(page.size()), bytes_text(bytes_of_traces),
                    options.other.empty() ? "" : "s"));
  }
  if (!options.open) return kFine;
  const auto ended = run_child({"xdg-open", output}, {});
  if (!ended)
    return report(Error{ErrorKind::environment, "no browser was found that xdg-open would start", output,
                        Error::kNoOffset, "open the file by hand"});
  return *ended == 0 ? kFine : kEnvironment;
}

}  // namespace

Action declare_report(Options &verb) {
  auto options = std::make_shared<ReportOptions>();
  add_file(verb, *options);
  verb.text("other", options->other, "A second trace, to be seen beside the first");
  verb.text("-o,--output", options->output, "The page (default: run.html of run.cairn, in this folder)", "FILE");
  verb.flag("--open", options->open, "Show it in the browser");
  verb.flag("--all", options->all, "Ask every verb, also those that go through all calls of a run of very many");
  verb.number("--within", options->within, "Give up a verb that takes longer (default 120; 0: however long it takes)",
              "SECONDS");
  verb.flag("--no-sources", options->no_sources, "Put no lines of the program's sources into the page");
  verb.flag("-q,--quiet", options->quiet, "Print errors only");
  return [options] { return report_of(*options); };
}

}  // namespace cairn::cli
