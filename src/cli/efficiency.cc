// cairn efficiency: the factors of parallel efficiency, as POP defines them.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "analyze/summary.h"
#include "cli/verbs.h"
#include "cli/wait_report.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "text/utf8.h"
#include "timing/setting.h"

namespace cairn::cli {
namespace {

using nlohmann::ordered_json;
using waits::Efficiency;

/// Below it something is to be found.
constexpr double kGood = 0.8;

struct Factor {
  const char *name;
  const char *member;
  std::optional<double> value;
  const char *meaning;
};

std::vector<Factor> factors_of(const Efficiency &found) {
  std::optional<double> serialisation;
  std::optional<double> transfer;
  if (found.ideal_ns != 0) {
    serialisation = found.serialisation();
    transfer = found.transfer();
  }
  return {{"parallel efficiency", "parallel", found.parallel(), "time outside MPI of all the time"},
          {"  load balance", "load_balance", found.load_balance(), "time outside MPI, of that of the busiest rank"},
          {"  communication", "communication", found.communication(), "the busiest rank's time outside MPI"},
          {"    serialisation", "serialisation", serialisation, "what is lost where ranks depend on each other"},
          {"    transfer", "transfer", transfer, "what is lost since messages take time"}};
}

/// Where a trace has sums alone.
Result<Efficiency> from_sums(const trace::Trace &trace) {
  const analyze::Sources sources(trace, analyze::Sources::Look::in_trace_only);
  auto filter = analyze::make_filter({}, trace, sources);
  if (!filter) return tl::unexpected(filter.error());
  const auto summary = analyze::summarise(trace, sources, *filter, analyze::GroupBy::rank);
  if (!summary) return tl::unexpected(summary.error());
  Efficiency found;
  for (const analyze::SummaryLine &line : summary->lines) {
    const uint64_t run_ns = line.run_ns - std::min(line.run_ns, line.apart_ns.value_or(0));
    found.run_ns = std::max(found.run_ns, run_ns);
    found.mean_outside_ns += static_cast<double>(line.outside_ns) / static_cast<double>(summary->lines.size());
    if (line.outside_ns > found.most_outside_ns) {
      found.most_outside_ns = line.outside_ns;
      found.most_outside_rank = line.rank;
    }
  }
  return found;
}

int efficiency(Inspection &options) {
  const auto trace = open_trace(options);
  if (!trace) return report(trace.error());
  Efficiency found;
  if (timing::keeps_times(trace->run().timing)) {
    const auto waits = analyse_waits(*trace, options.file, "efficiency");
    if (!waits) return report(waits.error(), options.file);
    say_exactness(*trace);
    say_left_out(*waits);
    found = waits->efficiency;
  } else if (timing::keeps_nothing(trace->run().timing)) {
    return report(Error{ErrorKind::usage, "efficiency: this trace has no times", options.file, Error::kNoOffset,
                        "record it without --timing none"});
  } else {
    const auto sums = from_sums(*trace);
    if (!sums) return report(sums.error(), options.file);
    found = *sums;
    say("serialisation and transfer need the times of single calls; record with --timing lossless, or within a bound, "
        "as --timing 1%");
  }
  const std::vector<Factor> factors = factors_of(found);
  Output out;
  if (options.json) {
    ordered_json json;
    json["schema"] = "cairn.efficiency/1";
    json["file"] = valid_utf8(options.file);
    json["run_seconds"] = duration(found.run_ns).json;
    json["ideal_seconds"] = found.ideal_ns == 0 ? ordered_json() : duration(found.ideal_ns).json;
    json["mean_outside_seconds"] = found.mean_outside_ns / 1e9;
    json["most_outside_seconds"] = duration(found.most_outside_ns).json;
    json["most_outside_rank"] = found.most_outside_rank;
    for (const Factor &factor : factors) json[factor.member] = cli::json_of(factor.value);
    out.write(json.dump(2) + "\n");
    return out.finish();
  }
  out.write(fmt::format("{}{}{}: {}\n", out.bold(), options.file, out.plain(), trace->run().command));
  out.write(
      fmt::format("{}, {}: {} outside MPI in the mean, {} on rank {}{}\n\n", plural(trace->ranks().size(), "rank"),
                  time_text(found.run_ns), time_text(static_cast<uint64_t>(found.mean_outside_ns)),
                  time_text(found.most_outside_ns), found.most_outside_rank,
                  found.ideal_ns == 0 ? "" : fmt::format("; {} if messages took no time", time_text(found.ideal_ns))));
  for (const Factor &factor : factors) {
    const bool low = factor.value && *factor.value < kGood;
    const std::string value = factor.value ? fmt::format("{:5.1f} %", 100 * *factor.value) : "      -";
    out.write(fmt::format("{}{}{}  {:<22}{}\n", low ? out.warning() : "", value, low ? out.plain() : "", factor.name,
                          factor.meaning));
  }
  return out.finish();
}

}  // namespace

Action declare_efficiency(Options &verb) {
  auto options = std::make_shared<Inspection>();
  add_file(verb, *options);
  add_json(verb, *options);
  return [options] { return efficiency(*options); };
}

}  // namespace cairn::cli
