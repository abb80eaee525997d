// cairn proxy: a program in C or C++ that makes the calls of a trace again.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "analyze/filter.h"
#include "analyze/repeatable.h"
#include "cli/inspect.h"
#include "cli/verbs.h"
#include "proxy/folder.h"
#include "proxy/generate.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "text/rank_list.h"

namespace cairn::cli {
namespace {

struct ProxyOptions : Inspection {
  std::string output;
  std::string gaps = "none";
  std::string payload = "zeros";
  std::string language = "c";
  std::string left_out;
  bool quiet = false;
};

/// What those who stay do otherwise than they did with those who do not.
void tell_losses(const std::vector<uint32_t> &left_out, const proxy::KeptRanks::Losses &of) {
  std::string text = fmt::format(
      "without {}: {} to or from {} of MPI_PROC_NULL now; {} whose root was there not made, {} made by fewer",
      named_ranks(left_out), plural(of.partners, "message"), left_out.size() == 1 ? "it" : "them",
      plural(of.roots, "collective call"), grouped(of.smaller));
  if (of.questions != 0) text += fmt::format("; {} about topologies not asked", plural(of.questions, "question"));
  if (of.anybody != 0) {
    text +=
        fmt::format("; {} from anybody, of MPI_PROC_NULL where such a rank was heard", plural(of.anybody, "receive"));
  }
  say(text);
}

int proxy(ProxyOptions &options) {
  const auto trace = open_trace(options);
  if (!trace) return report(trace.error());
  namespace fs = std::filesystem;
  const std::string folder =
      options.output.empty() ? fs::path(options.file).stem().string() + "-proxy" : options.output;
  if (const auto may = proxy::may_write(folder); !may) return report(may.error());
  const analyze::Sources sources(*trace);
  proxy::Settings settings;
  settings.gaps = options.gaps == "spin"     ? proxy::Gaps::spin
                  : options.gaps == "blocks" ? proxy::Gaps::blocks
                                             : proxy::Gaps::none;
  settings.random_payload = options.payload == "random";
  settings.language = options.language == "c++" ? proxy::Language::cpp : proxy::Language::c;
  if (!options.left_out.empty()) {
    auto ranks = analyze::parse_ranks(options.left_out);
    if (!ranks) return report(ranks.error());
    settings.left_out = *std::move(ranks);
  }
  if (!options.quiet) {
    for (const auto &[what, calls] : analyze::left_out(*trace)) {
      say(fmt::format("left out: {} of {}", plural(calls, "call"), what));
    }
    if (const uint64_t calls = analyze::uncertain_cancels(*trace, false); calls != 0) {
      say(
          fmt::format("{} of MPI_Cancel: chance decides whether they cancel what they did, and where they don't the "
                      "program may wait for ever",
                      plural(calls, "call")));
    }
  }
  const auto made = proxy::generate(*trace, sources, settings, fs::path(options.file).filename().string());
  if (!made) return report(made.error(), options.file);
  if (const auto written = proxy::write_folder(folder, made->files); !written) return report(written.error());
  if (options.quiet) return 0;
  if (!settings.left_out.empty()) tell_losses(settings.left_out, made->losses);
  say(fmt::format("{}: {} in {}, {} lines of {} and {} bytes for this trace", folder, plural(made->processes, "rank"),
                  plural(made->parts, "part"), grouped(made->own_lines), options.language == "c++" ? "C++" : "C",
                  grouped(made->own_bytes)));
  return 0;
}

}  // namespace

Action declare_proxy(Options &verb) {
  auto options = std::make_shared<ProxyOptions>();
  add_file(verb, *options);
  verb.text("-o,--output", options->output, "Where the program is written to (default: what the trace is called after)",
            "DIR");
  verb.choice("--gaps", options->gaps, {"none", "spin", "blocks"},
              "What to do between calls for as long as the program did", "WHAT");
  verb.choice("--payload", options->payload, {"zeros", "random"}, "What buffers hold", "WHAT");
  verb.choice("--language", options->language, {"c", "c++"}, "What the program is written in", "LANGUAGE");
  verb.text("--leave-out", options->left_out, "Ranks that the program does without, as in 0-7,12", "LIST");
  verb.flag("-q,--quiet", options->quiet, "Print errors only");
  return [options] { return proxy(*options); };
}

}  // namespace cairn::cli
