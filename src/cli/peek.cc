// cairn peek: what the ranks of a recording that is under way are in just now. Reads the memory that their recorders
// keep in the spool, and nothing else: they are not stopped and do not notice.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <set>

#include "analyze/filter.h"
#include "cli/pending_lines.h"
#include "cli/verbs.h"
#include "spool/jobs.h"
#include "spool/join.h"
#include "spool/living.h"
#include "spool/recovery.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "text/rank_list.h"
#include "text/utf8.h"
#include "trace/read/trace.h"

namespace cairn::cli {
namespace {

using State = spool::Sight::State;

struct PeekOptions {
  std::string of = ".";
  bool json = false;
};

/// What was seen of all processes.
struct View {
  std::vector<spool::PartFile> parts;
  std::set<std::string> running;  ///< by their arenas
  std::set<std::string> done;
  size_t held = 0;
  size_t elsewhere = 0;  ///< on other hosts
};

Result<std::vector<std::string>> folders(const std::string &of) {
  int pid = 0;
  const auto [end, error] = std::from_chars(of.data(), of.data() + of.size(), pid);
  const bool number = error == std::errc() && end == of.data() + of.size() && pid > 0;
  std::error_code none;
  std::vector<std::string> found =
      number && !std::filesystem::exists(of, none) ? spool::folders_of_process(pid) : spool::folders_of(of);
  // Where -o put the trace elsewhere, the processes work here all the same.
  if (found.empty() && std::filesystem::is_directory(of, none)) found = spool::folders_of_processes_in(of);
  if (!found.empty()) return found;
  return fail(
      ErrorKind::unreadable,
      number ? "no process recorded by this user is there, or began there" : "no recording is under way there",
      "go to the folder of the trace, or name the spool, as run.cairn.spool, or the number of a rank's process, of its "
      "launcher or of cairn record");
}

View look(const std::vector<std::string> &folders) {
  View view;
  for (const std::string &folder : folders) {
    for (const std::string &arena : spool::held_arenas(folder)) {
      ++view.held;
      auto sight = spool::look_at(arena);
      if (!sight || sight->state == State::none) continue;
      if (sight->state == State::elsewhere) {
        ++view.elsewhere;
        continue;
      }
      if (sight->state == State::running) view.running.insert(arena);
      if (sight->state == State::done) view.done.insert(arena);
      view.parts.push_back(std::move(sight->part));
    }
  }
  return view;
}

/// What is said of one job.
struct JobView {
  std::string command;
  uint32_t size = 0;
  std::vector<analyze::PendingCall> pending;
  std::vector<uint32_t> running;
  std::vector<uint32_t> done;
  std::vector<uint32_t> unseen;
};

Result<JobView> view_of(const spool::Job &job, const View &view) {
  JobView result;
  result.command = job.parts.front()->header.command;
  result.size = job.parts.front()->header.size;
  std::set<uint32_t> seen;
  for (const spool::PartFile *part : job.parts) {
    const uint32_t rank = part->header.rank;
    seen.insert(rank);
    if (view.running.contains(part->path)) result.running.push_back(rank);
    if (view.done.contains(part->path)) result.done.push_back(rank);
  }
  for (uint32_t rank = 0; rank < result.size; ++rank) {
    if (!seen.contains(rank)) result.unseen.push_back(rank);
  }
  auto joined = spool::trace_of(spool::Run{0, {}, job});
  if (!joined) return tl::unexpected(joined.error());
  const auto trace = trace::Trace::from_bytes(std::move(joined->trace.bytes), "what was seen");
  if (!trace) return tl::unexpected(trace.error());
  result.pending = analyze::pending_calls(*trace, analyze::Sources(*trace));
  return result;
}

void print(Output &out, const JobView &job, const View &view) {
  out.write(fmt::format("{}{}{}\n", out.bold(), job.command.empty() ? "a recording" : job.command, out.plain()));
  for (const std::string &line : pending_lines(job.pending)) out.write(line + "\n");
  if (!job.running.empty()) out.write(named_ranks(job.running) + " running: makes calls all the time\n");
  if (!job.done.empty()) out.write(named_ranks(job.done) + " past MPI_Finalize\n");
  if (job.unseen.empty()) return;
  out.write(fmt::format(
      "{} not seen: {}\n", named_ranks(job.unseen),
      view.elsewhere != 0 ? "on another host, where this can be asked too" : "ended, not begun, or on another host"));
}

nlohmann::ordered_json json_of(const JobView &job) {
  return {{"command", valid_utf8(job.command)},
          {"world_size", job.size},
          {"pending", pending_json(job.pending)},
          {"running", job.running},
          {"finalized", job.done},
          {"not_seen", job.unseen}};
}

int peek(const PeekOptions &options) {
  const auto where = folders(options.of);
  if (!where) return report(where.error(), options.of);
  const View view = look(*where);
  const std::vector<spool::Job> jobs = spool::jobs_of(view.parts);
  if (jobs.empty()) {
    const char *why = view.held == 0        ? "no process is recording"
                      : view.elsewhere != 0 ? "the processes are on other hosts"
                                            : "no process has come to MPI_Init";
    return report({ErrorKind::unreadable, why, options.of, Error::kNoOffset,
                   view.elsewhere != 0 ? "ask there" : "cairn info tells what ranks were in when they were killed"});
  }
  Output out;
  nlohmann::ordered_json all{{"schema", "cairn.peek/1"}, {"jobs", nlohmann::ordered_json::array()}};
  for (const spool::Job &job : jobs) {
    const auto seen = view_of(job, view);
    if (!seen) return report(seen.error(), options.of);
    if (options.json) {
      all["jobs"].push_back(json_of(*seen));
    } else {
      print(out, *seen, view);
    }
  }
  if (options.json) out.write(all.dump(2) + "\n");
  return out.finish();
}

}  // namespace

Action declare_peek(Options &verb) {
  auto options = std::make_shared<PeekOptions>();
  verb.text("spool", options->of, "Spool, trace under way, or number of a process; all of this folder if left out");
  verb.flag("--json", options->json, "Print JSON, with the name of its schema");
  return [options] { return peek(*options); };
}

}  // namespace cairn::cli
