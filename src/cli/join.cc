// cairn join: one trace of a run's trace and those of the jobs that it spawned.
#include "analyze/join.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "analyze/family.h"
#include "analyze/spawned.h"
#include "cli/verbs.h"
#include "spool/join.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "trace/read/trace.h"

namespace cairn::cli {
namespace {

struct JoinOptions {
  std::string file;
  std::vector<std::string> spawned;
  std::string output;
  bool force = false;
  bool quiet = false;
};

int refused(const JoinOptions &options, const std::string &what, const char *hint) {
  return report({ErrorKind::usage, what, options.file, Error::kNoOffset, hint});
}

int join_traces(const JoinOptions &options) {
  if (options.output.empty()) {
    return report({ErrorKind::usage,
                   "join needs to know which trace to write",
                   {},
                   Error::kNoOffset,
                   "name it with -o, as in -o joined.cairn"});
  }
  if (auto may = spool::may_write(options.output, options.output, options.force); !may) return report(may.error());
  auto first = trace::Trace::open(options.file);
  if (!first) return report(first.error());
  if (!first->run().jobs.empty()) return refused(options, "the trace is of several jobs already", "use it as it is");
  if (analyze::was_spawned(*first)) {
    return refused(options, "the run was spawned by another job", "name the trace of that one, which is joined first");
  }
  const auto family = analyze::family_of(*std::move(first), options.file, options.spawned);
  if (!family) return report(family.error());
  if (family->size() == 1) {
    if (const auto child = analyze::unseen_child(family->front().trace, options.file)) {
      return refused(options, fmt::format("no recorded call of the run spawned {}, though the run did", *child),
                     "record MPI_Comm_spawn as well: without --exclude and --start off");
    }
    return refused(options, "the run spawned no job", "there is nothing to join");
  }
  for (const analyze::FamilyMember &member : *family) {
    std::error_code error;
    if (!std::filesystem::equivalent(member.file, options.output, error)) continue;
    return report({ErrorKind::usage, "it is one of the traces that are to be joined", options.output, Error::kNoOffset,
                   "choose another name with -o"});
  }
  const auto joined = analyze::join(*family);
  if (!joined) return report(joined.error());
  const spool::TraceBytes bytes = {*joined, 0, options.output};
  if (auto written = spool::write_trace(options.output, bytes, options.force); !written) return report(written.error());
  if (options.quiet) return kFine;
  size_t ranks = 0;
  for (const analyze::FamilyMember &member : *family) {
    const size_t next = ranks + member.trace.rank_count();
    say(fmt::format(
        "{}: {}", member.file,
        next == ranks + 1 ? fmt::format("rank {}", ranks) : fmt::format("ranks {} to {}", ranks, next - 1)));
    ranks = next;
  }
  say(fmt::format("{}: {} of {}, {}", options.output, plural(ranks, "rank"), plural(family->size(), "job"),
                  bytes_text(joined->size())));
  return kFine;
}

}  // namespace

Action declare_join(Options &verb) {
  auto options = std::make_shared<JoinOptions>();
  verb.one("file", options->file, "Trace of the run that spawned the others");
  verb.repeated("--spawned", options->spawned, "Trace of a job that it spawned, or that one of these spawned", "FILE");
  verb.text("-o,--output", options->output, "Trace to write", "FILE");
  verb.flag("-q,--quiet", options->quiet, "Say nothing when all is well");
  verb.flag("-f,--force", options->force, "Overwrite an existing trace");
  return [options] { return join_traces(*options); };
}

}  // namespace cairn::cli
