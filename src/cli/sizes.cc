// cairn sizes: how many messages of which size a run sends, by operation, communicator or call site.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/saturating.h"
#include "cli/inspect.h"
#include "cli/left_out_traffic.h"
#include "cli/verbs.h"
#include "terminal/listing.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "text/utf8.h"
#include "trace/read/exactness.h"
#include "traffic/message_sizes.h"

namespace cairn::cli {
namespace {

using nlohmann::ordered_json;
using traffic::MessageSizes;
using traffic::SizeGroup;
using traffic::SizeLine;
using traffic::SizesBy;

struct SizesOptions : Inspection {
  std::string by = "op";
  bool exact = false;
  bool times = false;
  bool csv = false;
};

std::string size_text(const SizeLine &line) {
  if (!line.known) return "unknown";
  if (line.least == line.most) return bytes_text(line.least);
  return bytes_text(line.least) + " up";
}

Listing list_of(const SizeGroup &group, bool timed, uint64_t all) {
  const bool calls = group.collective;
  Listing list({{"size", nullptr, true},
                {nullptr, "least"},
                {nullptr, "most"},
                {calls ? "calls" : "messages", calls ? "calls" : "messages"},
                {calls ? "%calls" : "%messages", "share"},
                {"bytes", "bytes"},
                {timed ? "time in MPI" : nullptr, timed ? "seconds" : nullptr},
                {nullptr, timed ? "all_timed" : nullptr}});
  for (const SizeLine &line : group.lines) {
    Cell time = line.ns ? duration(*line.ns) : nothing();
    if (line.ns && line.some_untimed) time.text = ">= " + time.text;
    list.add({words(size_text(line)), line.known ? count(line.least) : nothing(),
              line.known ? count(line.most) : nothing(), count(line.messages), share(line.messages, all),
              line.known ? Cell{bytes_text(line.bytes), line.bytes} : nothing(), std::move(time),
              Cell{"", !line.some_untimed && line.ns.has_value()}});
  }
  return list;
}

uint64_t messages_of(const SizeGroup &group) {
  uint64_t all = 0;
  for (const SizeLine &line : group.lines) add_to(&all, line.messages);
  return all;
}
uint64_t bytes_of(const SizeGroup &group) {
  uint64_t all = 0;
  for (const SizeLine &line : group.lines) add_to(&all, line.bytes);
  return all;
}

void print_text(Output &out, const SizesOptions &options, const trace::Trace &trace, const MessageSizes &sizes) {
  out.write(fmt::format("{}{}{}: {}\n", out.bold(), options.file, out.plain(), trace.run().command));
  if (sizes.groups.empty()) out.write("no rank sends anything\n");
  for (const SizeGroup &group : sizes.groups) {
    const uint64_t all = messages_of(group);
    out.write(fmt::format("\n{}{}{}: {}, {}\n", out.bold(), group.name, out.plain(),
                          group.collective ? plural(all, "collective call") : plural(all, "message"),
                          bytes_text(bytes_of(group))));
    list_of(group, sizes.timed, all).print(out, options.filter.limit.value_or(UINT64_MAX));
  }
}

void print_json(Output &out, const SizesOptions &options, const trace::Trace &trace, const MessageSizes &sizes) {
  ordered_json json;
  json["schema"] = "cairn.sizes/1";
  json["file"] = valid_utf8(options.file);
  json["by"] = options.by;
  json["exact"] = options.exact;
  if (sizes.timed) {
    const std::string within = trace::exactness(trace);
    json["times_are"] = within.empty() ? "exact" : within;
  }
  json["unknown_processes"] = sizes.seen.nowhere;
  json["expanded_ranks"] = sizes.seen.expanded_ranks;
  json["groups"] = ordered_json::array();
  for (const SizeGroup &group : sizes.groups) {
    const uint64_t all = messages_of(group);
    ordered_json one;
    one["name"] = valid_utf8(group.name);
    one["collective"] = group.collective;
    one[group.collective ? "calls" : "messages"] = all;
    one["bytes"] = bytes_of(group);
    one["sizes"] = list_of(group, sizes.timed, all).json();
    json["groups"].push_back(std::move(one));
  }
  out.write(json.dump(2) + "\n");
}

void print_csv(Output &out, const SizesOptions &options, const MessageSizes &sizes) {
  out.write(fmt::format("{},what,least,most,count,bytes,seconds\n", options.by));
  for (const SizeGroup &group : sizes.groups) {
    std::string name = "\"";
    for (const char letter : valid_utf8(group.name))
      name += letter == '"' ? std::string("\"\"") : std::string(1, letter);
    for (const SizeLine &line : group.lines) {
      const std::string range = line.known ? fmt::format("{},{}", line.least, line.most) : ",";
      out.write(fmt::format("{}\",{},{},{},{},{}\n", name, group.collective ? "collective" : "message", range,
                            line.messages, line.known ? fmt::format("{}", line.bytes) : "",
                            line.ns ? fmt::format("{:.9f}", static_cast<double>(*line.ns) / 1e9) : ""));
    }
  }
}

int sizes(SizesOptions &options) {
  if (options.csv && options.json) return refuse("--csv and --json cannot go together", "choose one");
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
  const auto result = traffic::sizes_of(*trace, sources, *filter, by, options.exact, options.times);
  if (!result) return report(result.error(), options.file);
  for (const std::string &warning : sources.warnings()) say(warning);
  if (options.times) say_exactness(*trace);
  say_left_out(result->seen);
  Output out;
  if (options.json) {
    print_json(out, options, *trace, *result);
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
  verb.flag("--csv", options->csv, "Print CSV");
  add_call_filters(verb, *options);
  verb.number("--limit", options->filter.limit, "At most N lines of each table", "N");
  add_json(verb, *options);
  return [options] { return sizes(*options); };
}

}  // namespace cairn::cli
