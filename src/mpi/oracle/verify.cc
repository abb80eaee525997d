#include "mpi/oracle/verify.h"

#include <algorithm>
#include <cstring>
#include <list>
#include <map>
#include <set>
#include <tuple>

#include "mpi/oracle/compare.h"
#include "spec/ids.h"

namespace cairn::oracle {
namespace {

/// The logs of one process.
struct Process {
  int32_t rank = -1;
  std::vector<const LogFile *> logs;
};

/// One event of a trace's thread, and the record it must equal.
struct Pair {
  Event event;
  const LogFile *log = nullptr;
  const LogRecord *record = nullptr;
};

/// A thread of one rank as the trace has it, expanded.
class TracedThread {
 public:
  TracedThread(const EventSource &source, const std::vector<trace::SequenceView> &segments) {
    thread_ = segments.front().thread;
    for (const trace::SequenceView &segment : segments) {
      sites_.push_back(source.sites(segment));
      Calls calls = source.calls(segment);
      rows_.push_back(std::move(calls.distinct));
      for (const uint32_t call : calls.order) {
        events_.push_back({thread_, events_.size(), &rows_.back()[call], &sites_.back()});
      }
    }
  }
  std::vector<Event> &events() { return events_; }
  [[nodiscard]] uint32_t thread() const { return thread_; }

 private:
  uint32_t thread_ = 0;
  std::list<std::vector<SiteKey>> sites_;
  std::list<std::vector<trace::Row>> rows_;
  std::vector<Event> events_;
};

bool never_returned(const trace::Row &row) {
  return !row.fields.empty() && row.fields.back().atoms == std::vector<trace::Atom>{trace::kNoReturn};
}

class RankVerifier {
 public:
  RankVerifier(const EventSource &source, uint32_t rank, const Process &process, VerifyReport &report)
      : source_(source), rank_(rank), process_(process), report_(report) {}

  std::vector<CommSighting> run() {
    std::vector<TracedThread> threads;
    const auto sequences = source_.sequences(rank_);
    for (size_t first = 0; first < sequences.size();) {
      size_t last = first;
      while (last < sequences.size() && sequences[last].thread == sequences[first].thread) ++last;
      threads.emplace_back(source_, std::vector<trace::SequenceView>(sequences.begin() + static_cast<ptrdiff_t>(first),
                                                                     sequences.begin() + static_cast<ptrdiff_t>(last)));
      first = last;
    }
    std::vector<Pair> pairs;
    std::vector<const LogFile *> unused = process_.logs;
    for (TracedThread &thread : threads) assign(thread, &unused, &pairs);
    for (const LogFile *log : unused) {
      if (!log->records().empty() && source_.complete(rank_)) {
        report_.add("rank " + std::to_string(rank_) + ": the trace has no thread for " + log->path());
      }
    }
    report_.threads += threads.size();
    std::stable_sort(pairs.begin(), pairs.end(),
                     [](const Pair &a, const Pair &b) { return a.record->end < b.record->end; });
    Comparer comparer(rank_, process_.logs.size() > 1, process_.logs.front()->constants(), report_);
    std::vector<const Pair *> freeing;
    for (const Pair &pair : pairs) {
      if (threads.size() > 1 && Comparer::may_free(pair.event)) freeing.push_back(&pair);
    }
    std::stable_sort(freeing.begin(), freeing.end(),
                     [](const Pair *a, const Pair *b) { return a->record->begin < b->record->begin; });
    auto begins = freeing.begin();
    std::set<uint32_t> lost;
    for (const Pair &pair : pairs) {
      for (; begins != freeing.end() && (*begins)->record->begin < pair.record->end; ++begins) {
        comparer.begins((*begins)->event, *(*begins)->log, *(*begins)->record);
      }
      // The recorder learns what was looked up later than the oracle, but before the thread's next call.
      const uint64_t until = threads.size() > 1 && Comparer::looks_up(pair.event) ? next_begin(pair) : 0;
      if (until != 0) {
        for (auto later = begins; later != freeing.end() && (*later)->record->begin < until; ++later) {
          comparer.may_come_before((*later)->event, *(*later)->log, *(*later)->record);
        }
      }
      if (lost.contains(pair.event.thread)) continue;
      if (!comparer.compare(pair.event, *pair.log, *pair.record, until)) lost.insert(pair.event.thread);
    }
    return comparer.comms();
  }

 private:
  /// Finds the logs whose events make up `thread`, one after the other: a new thread continues the sequence of one that
  /// ended.
  void assign(TracedThread &thread, std::vector<const LogFile *> *unused, std::vector<Pair> *pairs) {
    std::vector<Event> &events = thread.events();
    size_t at = 0;
    while (at < events.size()) {
      const auto best = next_of(thread.thread(), *unused);
      if (best == unused->end()) {
        // MPI_Finalize stands in the sequence before the ranks merge, within it.
        const auto rest = events.begin() + static_cast<ptrdiff_t>(at);
        const auto may_lack = [](const Event &event) {
          return never_returned(*event.row) || event.row->function == spec::function_id::Finalize;
        };
        if (std::all_of(rest, events.end(), may_lack)) {
          report_.unreturned += events.size() - at;
          return;
        }
        report_.add("rank " + std::to_string(rank_) + " thread " + std::to_string(thread.thread()) +
                    ": the trace has " + std::to_string(events.size()) + " events, the log " + std::to_string(at));
        return;
      }
      const LogFile &log = **best;
      unused->erase(best);
      for (const LogRecord &record : log.records()) {
        if (at == events.size()) {
          ended_early(thread, events.size(), log);
          break;
        }
        // A call that never returned may have been noticed at another moment.
        const bool left = record.state != RecordState::returned;
        if (left != never_returned(*events[at].row)) {
          const size_t other = find_like(events, at, record);
          if (other != at) {
            std::rotate(events.begin() + static_cast<ptrdiff_t>(at), events.begin() + static_cast<ptrdiff_t>(other),
                        events.begin() + static_cast<ptrdiff_t>(other) + 1);
          } else if (record.state == RecordState::open) {
            ++report_.beyond;
            continue;
          } else if (!left && all_left(events, at) && !source_.complete(rank_)) {
            // Its process was killed when the oracle had seen it return, and the recorder had not.
            report_.beyond += 1;
            report_.unreturned += events.size() - at;
            return;
          }
        }
        pairs->push_back({events[at++], &log, &record});
      }
    }
  }

  /// Whether all events from that one on are calls that never returned.
  static bool all_left(const std::vector<Event> &events, size_t at) {
    return std::all_of(events.begin() + static_cast<ptrdiff_t>(at), events.end(),
                       [](const Event &event) { return never_returned(*event.row); });
  }

  /// When the thread's next call began.
  static uint64_t next_begin(const Pair &pair) {
    const auto &records = pair.log->records();
    const auto next = static_cast<size_t>(pair.record - records.data()) + 1;
    return next < records.size() ? std::max(records[next].begin, pair.record->end) : UINT64_MAX;
  }

  static size_t find_like(const std::vector<Event> &events, size_t at, const LogRecord &record) {
    const bool left = record.state != RecordState::returned;
    for (size_t k = at; k < events.size() && k < at + 64; ++k) {
      if (events[k].row->function == record.function && never_returned(*events[k].row) == left) return k;
    }
    return at;
  }

  void ended_early(const TracedThread &thread, size_t traced, const LogFile &log) {
    size_t returned = 0;
    for (const LogRecord &record : log.records()) returned += record.state != RecordState::open ? 1 : 0;
    const size_t more = returned > traced ? returned - traced : 0;
    report_.beyond += more;
    if (source_.complete(rank_) && more > 0) {
      report_.add("rank " + std::to_string(rank_) + " thread " + std::to_string(thread.thread()) + ": the trace ends " +
                  std::to_string(more) + " events before " + log.path());
    }
  }

  /// The first that is left of those that say that they are of that thread.
  static std::vector<const LogFile *>::iterator next_of(uint32_t thread, std::vector<const LogFile *> &unused) {
    auto found = unused.end();
    for (auto log = unused.begin(); log != unused.end(); ++log) {
      const Header &header = (*log)->header();
      if ((*log)->records().empty() || header.recorded_thread != thread) continue;
      if (found == unused.end() || header.thread < (*found)->header().thread) found = log;
    }
    return found;
  }

  const EventSource &source_;
  uint32_t rank_;
  const Process &process_;
  VerifyReport &report_;
};

/// Members of a communicator must agree on what it is.
void check_comms(const std::vector<CommSighting> &sightings, bool all_ranks, VerifyReport *report) {
  std::map<std::string, std::vector<const CommSighting *>> by_identity;
  for (const CommSighting &sighting : sightings) by_identity[sighting.identity].push_back(&sighting);
  for (const auto &[identity, members] : by_identity) {
    std::set<uint32_t> ranks;
    for (const CommSighting *member : members) {
      ranks.insert(member->rank);
      if (member->members != members.front()->members) {
        report->add("communicator " + identity + ": rank " + std::to_string(member->rank) + " sees " +
                    std::to_string(member->members) + " members, rank " + std::to_string(members.front()->rank) + " " +
                    std::to_string(members.front()->members));
      }
    }
    const int64_t wanted = members.front()->members;
    if (ranks.size() != members.size()) {
      report->add("communicator " + identity + ": a rank has it twice");
    } else if (all_ranks && wanted >= 0 && static_cast<int64_t>(ranks.size()) != wanted) {
      report->add("communicator " + identity + ": known to " + std::to_string(ranks.size()) +
                  (ranks.size() == 1 ? " rank, but has " : " ranks, but has ") + std::to_string(wanted) +
                  (wanted == 1 ? " member" : " members"));
    }
  }
}

VerifyReport verify_job(const EventSource &source, const std::map<uint32_t, Process> &processes) {
  VerifyReport report;
  std::vector<CommSighting> comms;
  const std::vector<uint32_t> ranks = source.ranks();
  bool all_ranks = ranks.size() == source.rank_count();
  for (const uint32_t rank : ranks) {
    const auto process = processes.find(rank);
    if (process == processes.end()) {
      report.add("rank " + std::to_string(rank) + ": there is no log of it");
      continue;
    }
    ++report.ranks;
    all_ranks = all_ranks && source.complete(rank);
    const auto seen = RankVerifier(source, rank, process->second, report).run();
    comms.insert(comms.end(), seen.begin(), seen.end());
  }
  const bool ended_early = !std::all_of(ranks.begin(), ranks.end(), [&](uint32_t r) { return source.complete(r); });
  for (const auto &[rank, process] : processes) {
    if (std::find(ranks.begin(), ranks.end(), rank) != ranks.end()) continue;
    if (ended_early) {  // a process that was killed may have left nothing
      for (const LogFile *log : process.logs) report.beyond += log->records().size();
    } else {
      report.add("rank " + std::to_string(rank) + ": it has a log, but isn't in the trace");
    }
  }
  check_comms(comms, all_ranks, &report);
  return report;
}

}  // namespace

Result<VerifyReport> verify(const trace::Trace &trace, const std::string &directory) {
  return verify(TraceSource(trace), directory);
}

Result<VerifyReport> verify(const EventSource &source, const std::string &directory) {
  auto logs = read_logs(directory);
  if (!logs) return tl::unexpected(logs.error());
  return verify(source, *logs);
}

Result<VerifyReport> verify(const EventSource &source, const std::vector<LogFile> &logs) {
  // Processes of one MPI_COMM_WORLD; a folder may hold several (spawned processes, several jobs).
  using Job = std::map<std::pair<std::string, uint64_t>, Process>;
  std::map<std::string, Job> jobs;
  for (const LogFile &log : logs) {
    if (log.damaged() || log.header().cut_short != 0) {
      return tl::unexpected<Error>(Error{ErrorKind::unreadable, "the log is cut short", log.path(), Error::kNoOffset,
                                         "make it again where there is more room"});
    }
    const auto text = [](const char *s, size_t n) { return std::string(s, strnlen(s, n)); };
    const Header &header = log.header();
    Process &process = jobs[text(header.job, sizeof header.job)][{text(header.host, sizeof header.host), header.pid}];
    if (header.rank >= 0) process.rank = header.rank;
    process.logs.push_back(&log);
  }
  std::optional<VerifyReport> best;
  for (const auto &[name, job] : jobs) {
    std::map<uint32_t, Process> by_rank;
    bool one_world = true;
    for (const auto &[id, process] : job) {
      if (process.rank < 0 && job.size() > 1) continue;  // never came to MPI_Init
      Process sorted = process;
      std::sort(sorted.logs.begin(), sorted.logs.end(),
                [](const LogFile *a, const LogFile *b) { return a->header().thread < b->header().thread; });
      one_world =
          by_rank.emplace(process.rank < 0 ? 0 : static_cast<uint32_t>(process.rank), sorted).second && one_world;
    }
    if (jobs.size() > 1 && by_rank.size() != source.rank_count()) continue;
    if (!one_world) {
      return fail(ErrorKind::unreadable, "the folder has logs of several runs", "give each run a folder of its own");
    }
    VerifyReport report = verify_job(source, by_rank);
    if (!best || report.difference_count < best->difference_count) best = std::move(report);
  }
  if (!best) {
    return fail(ErrorKind::unreadable, "none of the logs is of a run with as many ranks as the trace has",
                "name the folder that was given to record --oracle");
  }
  return std::move(*best);
}

}  // namespace cairn::oracle
