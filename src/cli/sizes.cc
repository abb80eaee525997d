// cairn sizes: how many messages of which size a run sends, by operation, communicator or call site.
#include <fmt/format.h>

#include <memory>

#include "cli/inspect.h"
#include "cli/left_out_traffic.h"
#include "cli/reading.h"
#include "cli/verbs.h"
#include "tell/sizes_list.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "traffic/message_sizes.h"

namespace cairn::cli {
namespace {

using traffic::MessageSizes;
using traffic::SizeGroup;
using traffic::SizeLine;
using traffic::SizesBy;

struct SizesOptions : Inspection {
  std::string by = "op";
  bool exact = false;
  bool times = false;
};

void print_text(Output &out, const SizesOptions &options, const trace::Trace &trace, const MessageSizes &sizes) {
  out.write(fmt::format("{}{}{}: {}\n", out.bold(), options.file, out.plain(), trace.run().command));
  if (sizes.groups.empty()) out.write("no rank sends anything\n");
  for (const SizeGroup &group : sizes.groups) {
    const uint64_t all = messages_of(group);
    out.write(fmt::format("\n{}{}{}: {}, {}\n", out.bold(), group.name, out.plain(),
                          group.collective ? plural(all, "collective call") : plural(all, "message"),
                          bytes_text(bytes_of(group))));
    sizes_list(group, sizes.timed, all).print(out, options.filter.limit.value_or(UINT64_MAX));
  }
}

void print_csv(Output &out, const SizesOptions &options, const MessageSizes &sizes) {
  out.write(fmt::format("{},what,least,most,count,bytes,seconds\n", options.by));
  for (const SizeGroup &group : sizes.groups) {
    const std::string name = csv_quoted(group.name);
    for (const SizeLine &line : group.lines) {
      const std::string range = line.known ? fmt::format("{},{}", line.least, line.most) : ",";
      out.write(fmt::format("{},{},{},{},{},{}\n", name, group.collective ? "collective" : "message", range,
                            line.messages, line.known ? fmt::format("{}", line.bytes) : "",
                            line.ns ? fmt::format("{:.9f}", static_cast<double>(*line.ns) / 1e9) : ""));
    }
  }
}

int sizes(SizesOptions &options) {
  const auto trace = open_trace(options);
  if (!trace) return report(trace.error());
  const analyze::Sources sources(*trace, options.by == "site" || !options.filter.sites.empty()
                                             ? analyze::Sources::Look::in_modules_too
                                             : analyze::Sources::Look::in_trace_only);
  const auto filter = analyze::make_filter(options.filter, *trace, sources);
  if (!filter) return report(filter.error());
  const SizesBy by = options.by == "comm"   ? SizesBy::communicator
                     : options.by == "site" ? SizesBy::site
                                            : SizesBy::operation;
  Reading reading(*trace, filter->ranks);
  const auto result = traffic::sizes_of(*trace, sources, *filter, by, options.exact, options.times);
  reading.end();
  if (!result) return report(result.error(), options.file);
  for (const std::string &warning : sources.warnings()) say(warning);
  say_missing_calls(*trace, filter->ranks);
  if (options.times) say_exactness(*trace);
  say_left_out(result->seen, *trace);
  Output out;
  if (options.json) {
    nlohmann::ordered_json json = sizes_json(options.file, options.by, options.exact, *trace, *result);
    add_missing_calls(*trace, filter->ranks, &json);
    out.write(json.dump(2) + "\n");
  } else if (options.csv) {
    out.keep_lines();
    print_csv(out, options, *result);
  } else {
    print_text(out, options, *trace, *result);
  }
  return out.finish();
}

}  // namespace

Action declare_sizes(Options &verb) {
  auto options = std::make_shared<SizesOptions>();
  add_file(verb, *options);
  verb.choice("--by", options->by, {"op", "comm", "site"}, "Apart for each operation, communicator or call site",
              "WHAT");
  verb.flag("--exact", options->exact, "A line for each size rather than for powers of two");
  verb.flag("--times", options->times, "How long the calls took that send them, where the trace has it");
  add_call_filters(verb, *options);
  verb.number("--limit", options->filter.limit, "At most N lines of each table", "N");
  add_csv_and_json(verb, *options, "a line for each size of each table");
  return [options] { return sizes(*options); };
}

}  // namespace cairn::cli
