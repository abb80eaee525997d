// cairn extrapolate: a trace of a run on more ranks than any that was made, from traces of the same program on fewer.
#include "extrapolate/extrapolate.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>

#include "analyze/call_diff.h"
#include "cli/verbs.h"
#include "extrapolate/distance.h"
#include "spool/join.h"
#include "terminal/terminal.h"
#include "terminal/words.h"

namespace cairn::cli {
namespace {

struct ExtrapolateOptions {
  std::vector<std::string> files;
  std::optional<uint64_t> ranks;
  std::string of;
  std::string output;
  std::string check;
  bool laws = false;
  bool force = false;
  bool quiet = false;
};

int wrong(const std::string &what, const char *hint) {
  return report(Error{ErrorKind::usage, what, {}, Error::kNoOffset, hint});
}

/// "100,200": a value for each trace. Nothing if it is anything else.
std::optional<std::vector<int64_t>> values_of(const std::string &text) {
  std::vector<int64_t> values;
  const char *at = text.data();
  const char *end = at + text.size();
  while (at != end) {
    int64_t value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc() || value <= 0 || (next != end && *next != ',')) return std::nullopt;
    values.push_back(value);
    at = next == end ? end : next + 1;
  }
  return values;
}

std::string percent(double share) { return fmt::format("{:.2f} %", 100 * share); }

/// The calls are those of the recording but for where buffers lie.
bool only_places(const analyze::CallDifference &difference) {
  if (difference.kind == analyze::CallDifference::Kind::order || !difference.first) return false;
  for (const std::string &name : difference.names) {
    const auto &arguments = difference.first->arguments;
    const auto found = std::find_if(arguments.begin(), arguments.end(),
                                    [&](const analyze::Argument &argument) { return argument.name == name; });
    if (found == arguments.end() || found->parameter->layout != spec::Layout::address) return false;
  }
  return true;
}

/// Exit code 1 if anything but times differs.
int checked(const trace::Trace &made, const trace::Trace &real, const std::string &path) {
  analyze::CallDiff diff = analyze::call_diff(made, real, {}, true);
  const extrapolate::Distance distance = extrapolate::distance_between(made, real);
  Output out;
  out.write(fmt::format("against {}: {} on {} compared: {}\n", path, plural(diff.calls, "call"),
                        plural(diff.ranks, "rank"),
                        diff.other_order == 0 ? "the same in the same order"
                                              : "the order differs on " + plural(diff.other_order, "rank")));
  if (diff.other_arguments != 0 || diff.other_results != 0) {
    uint64_t places = 0;
    for (const analyze::CallDifference &each : diff.differences) places += only_places(each) ? each.calls : 0;
    out.write(
        fmt::format("other arguments in {}, other results in {}; {} of these differ in where buffers lie and no more\n",
                    plural(diff.other_arguments, "call"), plural(diff.other_results, "call"), grouped(places)));
  }
  std::stable_partition(diff.differences.begin(), diff.differences.end(),
                        [](const auto &each) { return !only_places(each); });
  constexpr size_t kMostTold = 12;
  for (size_t i = 0; i < diff.differences.size() && i < kMostTold; ++i) {
    const analyze::CallDifference &each = diff.differences[i];
    std::string names;
    for (const std::string &name : each.names) names += (names.empty() ? "" : ", ") + name;
    out.write(fmt::format("  {} of {} on {}: {}\n    made {}\n    real {}\n",
                          each.kind == analyze::CallDifference::Kind::order ? "order" : names,
                          plural(each.calls, "call"), plural(each.ranks.size(), "rank"),
                          fmt::format("first on rank {}, call {}", each.ranks.front(), each.index),
                          each.first ? analyze::call_text(*each.first) : "nothing",
                          each.second ? analyze::call_text(*each.second) : "nothing"));
  }
  if (diff.differences.size() > kMostTold) {
    out.write(fmt::format("  and {} more kinds of difference\n", diff.differences.size() - kMostTold));
  }
  const auto pair = [&](const char *what, uint64_t first, uint64_t second) {
    out.write(fmt::format("{:<24}{} made, {} real\n", what, grouped(first), grouped(second)));
  };
  pair("calls", distance.first.calls, distance.second.calls);
  pair("messages", distance.first.messages, distance.second.messages);
  pair("bytes in messages", distance.first.bytes, distance.second.bytes);
  pair("bytes in collectives", distance.first.collective_bytes, distance.second.collective_bytes);
  out.write(fmt::format("{:<24}{} in messages, {} in bytes\n", "distance of matrices", percent(distance.messages),
                        percent(distance.bytes)));
  if (distance.first.mpi_ns != 0 && distance.second.mpi_ns != 0) {
    const double off = static_cast<double>(distance.first.mpi_ns) / static_cast<double>(distance.second.mpi_ns) - 1;
    out.write(fmt::format("{:<24}{} made, {} real ({:+.1f} %)\n", "time in communication",
                          time_text(distance.first.mpi_ns), time_text(distance.second.mpi_ns), 100 * off));
  }
  const int code = out.finish();
  return code != kFine || diff.equal() ? code : kNegative;
}

int extrapolate_traces(const ExtrapolateOptions &options) {
  if (!options.ranks || *options.ranks == 0)
    return wrong("extrapolate needs to know how far", "say it with -n, as in -n 1024");
  if (options.output.empty() && options.check.empty() && !options.laws) {
    return wrong("extrapolate needs to know which trace to write", "name it with -o");
  }
  std::vector<int64_t> scales;
  if (!options.of.empty()) {
    const auto values = values_of(options.of);
    if (!values || values->size() != options.files.size()) {
      return wrong(fmt::format("--of {}: there must be a number above 0 for each of the {} traces", options.of,
                               options.files.size()),
                   "as in --of 100,200,400");
    }
    scales = *values;
  }
  if (!options.output.empty()) {
    if (auto may = spool::may_write(options.output, options.output, options.force); !may) return report(may.error());
  }
  std::vector<trace::Trace> traces;
  traces.reserve(options.files.size());
  std::vector<extrapolate::Given> given;
  for (size_t i = 0; i < options.files.size(); ++i) {
    auto trace = trace::Trace::open(options.files[i]);
    if (!trace) return report(trace.error());
    traces.push_back(*std::move(trace));
    given.push_back({&traces.back(), options.files[i], scales.empty() ? 0 : scales[i]});
  }
  extrapolate::Target target;
  target.ranks = static_cast<uint32_t>(std::min<uint64_t>(*options.ranks, UINT32_MAX));
  if (!scales.empty()) {
    target.scale = static_cast<int64_t>(std::min<uint64_t>(*options.ranks, INT64_MAX));
    target.ranks = traces.front().rank_count();
  }
  auto made = extrapolate::extrapolated(given, target);
  if (!made) return report(made.error());
  if (options.laws) {
    Output out;
    for (const std::string &law : made->laws) out.write(law + "\n");
    if (const int code = out.finish(); code != kFine) return code;
  }
  if (!options.quiet) {
    for (const std::string &note : made->notes) say(note);
    if (made->rounded != 0)
      say(fmt::format("{} did not come out even and were rounded up", plural(made->rounded, "value")));
    if (made->failed != 0) say(fmt::format("{} gave no possible value and were drawn", plural(made->failed, "law")));
  }
  if (!options.output.empty()) {
    const spool::TraceBytes bytes = {made->file, 0, options.output};
    if (auto written = spool::write_trace(options.output, bytes, options.force); !written)
      return report(written.error());
    if (!options.quiet) {
      say(fmt::format("{}: {}, {}", options.output, plural(target.ranks, "rank"), bytes_text(made->file.size())));
    }
  }
  if (options.check.empty()) return kFine;
  const auto real = trace::Trace::open(options.check);
  if (!real) return report(real.error());
  const auto whole = trace::Trace::from_bytes(made->file, options.output);
  if (!whole) return report(whole.error());
  return checked(*whole, *real, options.check);
}

}  // namespace

Action declare_extrapolate(Options &verb) {
  auto options = std::make_shared<ExtrapolateOptions>();
  verb.words("files", options->files, "Traces of the program on different numbers of ranks");
  verb.number("-n,--ranks", options->ranks, "How many ranks the new trace has; with --of, the value it is for",
              "COUNT");
  verb.text("--of", options->of, "What the traces differ in instead of their ranks: a value for each", "LIST");
  verb.text("-o,--output", options->output, "Trace to write", "FILE");
  verb.text("--check", options->check, "Compare what was made with this recording", "FILE");
  verb.flag("--laws", options->laws, "Print what was found");
  verb.flag("-q,--quiet", options->quiet, "Say nothing when all is well");
  verb.flag("-f,--force", options->force, "Overwrite an existing trace");
  return [options] { return extrapolate_traces(*options); };
}

}  // namespace cairn::cli
