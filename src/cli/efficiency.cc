// cairn efficiency: the factors of parallel efficiency, as POP defines them.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "cli/verbs.h"
#include "cli/wait_report.h"
#include "terminal/csv.h"
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

int efficiency(Inspection &options) {
  const auto trace = open_trace(options);
  if (!trace) return report(trace.error());
  Efficiency found;
  if (timing::keeps_times(trace->run().timing)) {
    const auto waits = analyse_waits(*trace, "efficiency");
    if (!waits) return report(waits.error(), options.file);
    say_exactness(*trace);
    say_left_out(*waits, *trace);
    found = waits->efficiency;
  } else {
    const auto sums = waits::efficiency_of_sums(*trace, "efficiency");
    if (!sums) return report(sums.error(), options.file);
    found = *sums;
    say("serialisation and transfer need the times of single calls; record with --timing lossless, or within a bound, "
        "as --timing context:rel=1%");
  }
  const std::vector<Factor> factors = factors_of(found);
  Output out;
  if (options.json) {
    ordered_json json;
    json["schema"] = "cairn.efficiency/1";
    json["file"] = valid_utf8(options.file);
    add_missing_calls(*trace, trace->ranks(), &json);
    json["run_seconds"] = duration(found.run_ns).json;
    json["ideal_seconds"] = found.ideal_ns == 0 ? ordered_json() : duration(found.ideal_ns).json;
    json["mean_outside_seconds"] = found.mean_outside_ns / 1e9;
    json["most_outside_seconds"] = duration(found.most_outside_ns).json;
    json["most_outside_rank"] = found.most_outside_rank;
    for (const Factor &factor : factors) json[factor.member] = cli::json_of(factor.value);
    out.write(json.dump(2) + "\n");
    return out.finish();
  }
  if (options.csv) {
    ordered_json rows = ordered_json::array();
    for (const Factor &factor : factors) {
      rows.push_back({{"factor", factor.member}, {"value", cli::json_of(factor.value)}});
    }
    out.write(csv_of(rows));
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
  add_csv_and_json(verb, *options, "a line for each factor");
  return [options] { return efficiency(*options); };
}

}  // namespace cairn::cli
