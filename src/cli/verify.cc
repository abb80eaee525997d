// cairn verify: reads and decodes everything in a trace and says what does not fit; with --against, also compares every
// call with an uncompressed log of the same run.
#include "mpi/oracle/verify.h"

#include <fmt/format.h>

#include <memory>

#include "analyze/integrity.h"
#include "cli/inspect.h"
#include "cli/verbs.h"
#include "gpu/analyze/points.h"
#include "terminal/listing.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "text/utf8.h"

namespace cairn::cli {
namespace {

struct VerifyOptions : Inspection {
  std::string against;
};

/// One of the two questions that verify answers.
struct Answer {
  uint64_t fault_count = 0;
  std::vector<std::string> faults;
};

nlohmann::ordered_json object_of(const Answer &answer) {
  return {
      {"ok", answer.fault_count == 0}, {"fault_count", answer.fault_count}, {"faults", cli::json_of(answer.faults)}};
}

void print(Output &out, const std::string &file, const Answer &answer, const std::string &good) {
  if (answer.fault_count == 0) out.write(fmt::format("{}: {}\n", file, good));
  for (const std::string &fault : answer.faults) out.write(fmt::format("{}: {}\n", file, fault));
  if (answer.fault_count > answer.faults.size()) {
    out.write(fmt::format("{}: and {} more\n", file, grouped(answer.fault_count - answer.faults.size())));
  }
}

int verify(VerifyOptions &options) {
  const auto trace = open_trace(options);
  if (!trace) return report(trace.error());
  const analyze::Integrity integrity = analyze::check_integrity(*trace);
  Answer sound{integrity.fault_count, integrity.faults};
  const auto launches = analyze::gpu_launches(*trace);
  const std::vector<std::string> gpu_faults =
      launches ? analyze::gpu_faults(*launches) : std::vector{launches.error().message};
  sound.faults.insert(sound.faults.end(), gpu_faults.begin(), gpu_faults.end());
  sound.fault_count += gpu_faults.size();
  if (!options.against.empty()) {
    for (const auto &[reason, told] : analyze::outline(*trace).degraded) {
      if (told.asked) {
        return report({ErrorKind::usage, "calls were left out of it on request, which the log has", options.file,
                       Error::kNoOffset, "compare a run recorded without --start off and --exclude"});
      }
    }
  }
  Result<oracle::VerifyReport> compared = oracle::VerifyReport();
  if (!options.against.empty()) compared = oracle::verify(*trace, options.against);
  if (!compared) return report(compared.error());
  const Answer equal{compared->difference_count, compared->differences};
  const bool good = sound.fault_count == 0 && equal.fault_count == 0;
  Output out;
  if (options.json) {
    nlohmann::ordered_json object{{"schema", "cairn.verify/1"},
                                  {"file", valid_utf8(options.file)},
                                  {"ok", good},
                                  {"integrity", object_of(sound)}};
    object["integrity"].update({{"calls", integrity.calls}, {"rows", integrity.rows}, {"values", integrity.values}});
    if (!options.against.empty()) {
      object["against"] = object_of(equal);
      object["against"].update({{"directory", valid_utf8(options.against)},
                                {"ranks", compared->ranks},
                                {"threads", compared->threads},
                                {"calls", compared->calls},
                                {"fields", compared->fields},
                                {"beyond", compared->beyond},
                                {"unreturned", compared->unreturned}});
    }
    out.write(object.dump(2) + "\n");
  } else {
    print(out, options.file, sound,
          fmt::format("sound: {} in {} with {} decoded", plural(integrity.calls, "call"), plural(integrity.rows, "row"),
                      plural(integrity.values, "value")));
    const analyze::GpuOverview gpu = launches ? analyze::gpu_overview(*launches) : analyze::GpuOverview();
    if (sound.fault_count == 0 && gpu.launches != 0) {
      out.write(fmt::format("{}: sound: {} of {} decoded\n", options.file, plural(gpu.events, "event"),
                            plural(gpu.warps, "GPU warp")));
    }
    if (!options.against.empty()) {
      print(out, options.file, equal,
            fmt::format("equal to {}: {} and {} of {} compared", options.against, plural(compared->calls, "call"),
                        plural(compared->fields, "field"), plural(compared->ranks, "rank")));
      if (compared->beyond != 0) {
        say(fmt::format("{} logged after the end of an incomplete recording were not compared",
                        plural(compared->beyond, "call")));
      }
      if (compared->unreturned != 0) {
        say(fmt::format("{} that never returned, as the last of a thread, were not compared: the log has none of them",
                        plural(compared->unreturned, "call")));
      }
    }
  }
  const int written = out.finish();
  return good ? written : kNegative;
}

}  // namespace

Action declare_verify(Options &verb) {
  auto options = std::make_shared<VerifyOptions>();
  add_file(verb, *options);
  verb.text("--against", options->against, "Compare every call with the logs of record --oracle DIR", "DIR");
  add_json(verb, *options);
  return [options] { return verify(*options); };
}

}  // namespace cairn::cli
