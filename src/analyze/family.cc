#include "analyze/family.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "analyze/open_trace.h"
#include "analyze/spawned.h"

namespace cairn::analyze {
namespace {

namespace fs = std::filesystem;

/// "run-2.cairn", "run-3.cairn", … beside "run.cairn".
std::vector<std::string> traces_beside(const std::string &file) {
  const fs::path own(file);
  const std::string begin = own.stem().string() + "-";
  std::vector<std::string> found;
  std::error_code error;
  for (const fs::directory_entry &entry :
       fs::directory_iterator(own.has_parent_path() ? own.parent_path() : ".", error)) {
    const std::string stem = entry.path().stem().string();
    if (entry.path().extension() != own.extension() || !stem.starts_with(begin)) continue;
    const std::string number = stem.substr(begin.size());
    const bool is_number = !number.empty() && number.find_first_not_of("0123456789") == std::string::npos;
    if (is_number) found.push_back((own.parent_path() / entry.path().filename()).string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// While it ran: job names come again, and a folder keeps what was recorded before.
bool began_in(const trace::RunInfo &parent, const trace::RunInfo &run) {
  constexpr int64_t kClocks = 1'000'000'000;  // of two machines
  const int64_t end = parent.start_unix_ns + static_cast<int64_t>(parent.wall_ns);
  return run.start_unix_ns >= parent.start_unix_ns - kClocks && run.start_unix_ns <= end + kClocks;
}

struct Candidate {
  std::string file;
  trace::Trace trace;
  bool taken = false;
};

class FamilySearch {
 public:
  FamilySearch(trace::Trace first, const std::string &file) { members_.push_back({file, std::move(first), 0, 0, 0}); }

  Result<std::vector<FamilyMember>> run(const std::vector<std::string> &spawned) {
    std::vector<std::string> files = spawned;
    bool looked = !files.empty();
    // Members are added at the end while those before them are looked at.
    for (uint32_t parent = 0; parent < members_.size(); ++parent) {
      const std::vector<Spawn> spawns = spawns_of(members_[parent].trace);
      if (spawns.empty()) continue;
      if (!std::exchange(looked, true)) files = traces_beside(members_[0].file);
      if (auto done = open(std::exchange(files, {}), !spawned.empty()); !done) return tl::unexpected(done.error());
      std::map<uint32_t, std::vector<Spawn>> of_roots;
      for (const Spawn &spawn : spawns) of_roots[spawn.rank].push_back(spawn);
      for (const auto &[root, of_root] : of_roots) {
        if (auto done = add(parent, root, of_root); !done) return tl::unexpected(done.error());
      }
    }
    if (!spawned.empty() && !candidates_.empty()) {
      return refuse(candidates_.front().file, "no call that is recorded in the others spawned this job",
                    "leave it out");
    }
    return std::move(members_);
  }

 private:
  /// Those beside the trace may be anything; what is `named` is to be a trace.
  Result<void> open(const std::vector<std::string> &files, bool named) {
    for (const std::string &file : files) {
      auto trace = open_trace_at(file);
      if (trace) {
        candidates_.push_back({file, *std::move(trace)});
      } else if (named) {
        return tl::unexpected(trace.error());
      } else if (!unreadable_) {
        unreadable_ = trace.error();
      }
    }
    std::stable_sort(candidates_.begin(), candidates_.end(), [](const Candidate &a, const Candidate &b) {
      return a.trace.run().start_unix_ns < b.trace.run().start_unix_ns;
    });
    return {};
  }

  /// The jobs that one process spawned.
  Result<void> add(uint32_t parent, uint32_t root, const std::vector<Spawn> &spawns) {
    const Spawner own{members_[parent].trace.run().job, root};
    std::vector<Candidate *> found;
    for (Candidate &each : candidates_) {
      const trace::RunInfo &run = each.trace.run();
      const auto spawner = spawner_of(run);
      // A process that no launcher started has no job's name while it is asked for.
      const bool is_own = spawner && spawner->rank == root && (own.job.empty() || spawner->job == own.job);
      if (is_own && began_in(members_[parent].trace.run(), run)) found.push_back(&each);
    }
    if (found.empty()) {
      for (const Spawn &spawn : spawns) {
        Candidate *child = first_like(members_[parent].trace.run(), spawn);
        if (child == nullptr) break;
        child->taken = true;
        found.push_back(child);
      }
    }
    const auto same = std::adjacent_find(found.begin(), found.end(), [](const auto *a, const auto *b) {
      return a->trace.run().start_unix_ns == b->trace.run().start_unix_ns && a->trace.run().job == b->trace.run().job;
    });
    if (same != found.end()) {
      return refuse(same[1]->file, fmt::format("it is of the same job as {}", same[0]->file),
                    "name one trace of each job with --spawned");
    }
    if (found.size() < spawns.size()) {
      if (unreadable_) return tl::unexpected(*unreadable_);
      return fail(ErrorKind::usage,
                  fmt::format("rank {} of {} spawned {} {}, and {} of their traces {} here", root,
                              members_[parent].file, spawns.size(), spawns.size() == 1 ? "job" : "jobs", found.size(),
                              found.size() == 1 ? "is" : "are"),
                  "name them all with --spawned");
    }
    for (uint64_t number = 0; number < spawns.size(); ++number) {
      const uint32_t ranks = found[number]->trace.rank_count();
      if (ranks > spawns[number].processes) {
        return refuse(found[number]->file,
                      fmt::format("it has {} ranks, and what rank {} of {} spawned then are {}", ranks, root,
                                  members_[parent].file, spawns[number].processes),
                      "name the traces of all jobs with --spawned");
      }
      found[number]->taken = true;
      members_.push_back({found[number]->file, std::move(found[number]->trace), parent, root, number});
    }
    std::erase_if(candidates_, [](const Candidate &each) { return each.taken; });
    return {};
  }

  static tl::unexpected<Error> refuse(const std::string &file, std::string what, const char *hint) {
    return tl::unexpected<Error>({ErrorKind::usage, std::move(what), file, Error::kNoOffset, hint});
  }

  /// Of those that do not say who spawned them.
  Candidate *first_like(const trace::RunInfo &parent, const Spawn &spawn) {
    const auto fits = [&](const Candidate &each) {
      const trace::RunInfo &run = each.trace.run();
      return !each.taken && run.spawned_by.empty() && each.trace.rank_count() == spawn.processes &&
             began_in(parent, run) && was_spawned(each.trace);
    };
    const auto found = std::find_if(candidates_.begin(), candidates_.end(), fits);
    return found == candidates_.end() ? nullptr : &*found;
  }

  std::vector<FamilyMember> members_;
  std::vector<Candidate> candidates_;  ///< in the order in which they began
  std::optional<Error> unreadable_;    ///< of those beside the trace, the first
};

}  // namespace

Result<std::vector<FamilyMember>> family_of(trace::Trace first, const std::string &file,
                                            const std::vector<std::string> &spawned) {
  return FamilySearch(std::move(first), file).run(spawned);
}

std::optional<std::string> unseen_child(const trace::Trace &trace, const std::string &file) {
  const trace::RunInfo &own = trace.run();
  if (own.job.empty()) return std::nullopt;
  for (std::string &beside : traces_beside(file)) {
    const auto other = open_trace_at(beside);
    if (!other) continue;
    const auto spawner = spawner_of(other->run());
    if (spawner && spawner->job == own.job && began_in(own, other->run())) return std::move(beside);
  }
  return std::nullopt;
}

}  // namespace cairn::analyze
