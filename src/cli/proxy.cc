// cairn proxy: a program in C or C++ that makes the calls of a trace again.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "analyze/repeatable.h"
#include "cli/inspect.h"
#include "cli/verbs.h"
#include "proxy/folder.h"
#include "proxy/generate.h"
#include "terminal/terminal.h"
#include "terminal/words.h"

namespace cairn::cli {
namespace {

struct ProxyOptions : Inspection {
  std::string output;
  std::string gaps = "none";
  std::string payload = "zeros";
  std::string language = "c";
  bool quiet = false;
};

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
  if (!options.quiet) {
    for (const auto &[what, calls] : analyze::left_out(*trace)) {
      say(fmt::format("left out: {} of {}", plural(calls, "call"), what));
    }
  }
  const auto made = proxy::generate(*trace, sources, settings, fs::path(options.file).filename().string());
  if (!made) return report(made.error(), options.file);
  if (const auto written = proxy::write_folder(folder, made->files); !written) return report(written.error());
  if (options.quiet) return 0;
  say(fmt::format("{}: {} in {}, {} lines of {} and {} bytes for this trace", folder,
                  plural(trace->rank_count(), "rank"), plural(made->parts, "part"), grouped(made->own_lines),
                  options.language == "c++" ? "C++" : "C", grouped(made->own_bytes)));
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
  verb.flag("-q,--quiet", options->quiet, "Print errors only");
  return [options] { return proxy(*options); };
}

}  // namespace cairn::cli
