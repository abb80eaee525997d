#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyze/message_calls.h"
#include "analyze/rank_windows.h"
#include "analyze/spawned.h"
#include "analyze/summary.h"
#include "analyze/volume.h"
#include "base/ascending.h"
#include "spec/ids.h"
#include "spec/spec.h"
#include "trace/read/cut_short.h"
#include "waits/locks.h"
#include "waits/path.h"
#include "waits/report.h"

namespace cairn::waits {
namespace {

using analyze::CallTime;
using analyze::Delivery;
using analyze::Edge;
using analyze::MarkPointer;
using analyze::Meeting;

/// How a rank stood when it began to send, or entered a collective call.
struct Stand : analyze::Mark {
  PathPointer path;
  uint64_t ideal_ns = 0;
};
/// How a rank stood when it began a call that spawned a job.
struct SpawnStand {
  uint64_t begin_ns = 0;
  Cause cause;
  PathPointer path;
};
const Stand *stand_of(const MarkPointer &mark) { return static_cast<const Stand *>(mark.get()); }

Pattern find_pattern(const spec::Function &function) {
  const std::string name = analyze::operation(function);
  const auto begins = [&](std::string_view with) { return name.compare(0, with.size(), with) == 0; };
  if (name == "Barrier") return Pattern::wait_barrier;
  if (name == "Bcast" || begins("Scatter")) return Pattern::late_root;
  if (name == "Reduce" || begins("Gather")) return Pattern::early_root;
  if (name == "Scan" || name == "Exscan") return Pattern::early_scan;
  if (analyze::is_among_neighbors(function.id)) return Pattern::wait_neighbors;
  if (function.id == spec::function_id::Win_fence) return Pattern::wait_fence;
  return Pattern::wait_all;
}

/// Of a collective call, by its operation.
Pattern pattern_of(uint32_t operation) {
  static const std::vector<Pattern> all = [] {
    std::vector<Pattern> patterns;
    for (const spec::Function &each : spec::functions()) patterns.push_back(find_pattern(each));
    return patterns;
  }();
  return all[operation];
}

/// What a call waits for longest, as far as it is known.
struct Candidate {
  Pattern pattern = Pattern::late_sender;
  CallTime culprit;
  MarkPointer mark;
  uint64_t ideal_ns = 0;  ///< of all that it waits for
};

/// Messages on their way to a rank: when sent, by whom, in which call.
class Flying {
 public:
  using Message = std::tuple<uint64_t, uint32_t, uint64_t>;
  void add(const Message &message) {
    if (!spare_) {
      all_.insert(message);
      return;
    }
    spare_.value() = message;
    all_.insert(std::move(spare_));
  }
  void take(const Message &message) {
    auto node = all_.extract(message);
    if (node) spare_ = std::move(node);
  }
  /// Whether one was sent before.
  [[nodiscard]] bool has_before(uint64_t ns) const { return !all_.empty() && std::get<0>(*all_.begin()) < ns; }

 private:
  std::set<Message> all_;
  std::set<Message>::node_type spare_;  ///< the room of the one that came last
};

struct RankState {
  explicit RankState(uint32_t rank) : timeline(rank) { line.rank = rank; }
  RankLine line;
  bool threads = false;  ///< several
  bool started = false;
  bool finished = false;
  uint64_t start_ns = 0;
  uint64_t last_end_ns = 0;
  uint64_t end_ns = 0;
  uint64_t ideal_ns = 0;               ///< as far as it has come, were messages to take no time; on the run's axis
  std::optional<uint32_t> spawned_by;  ///< the rank that did, of another job of the trace
  uint64_t cut_short_ns = 0;           ///< when it was, if it was; 0: else, or nobody knows
  std::optional<uint32_t> last_place;  ///< of the call that ended last
  Path path;
  Timeline timeline;
  Ascending<Candidate> calls;  ///< under way, by number
  Flying flying;               ///< to this rank
};

/// Of a collective call in which somebody is.
struct MeetingState {
  bool all_known = false;  ///< the next two
  uint32_t last = 0;       ///< the place of who came last
  uint64_t ideal_ns = 0;   ///< of all
  std::vector<CallTime> ends;
};

class Pass : public analyze::Arrivals {
 public:
  Pass(const trace::Trace &trace, const analyze::Sources &sources, const Victims &victims)
      : places_(sources), victims_(victims) {
    for (const uint32_t rank : trace.ranks()) {
      by_rank_.resize(rank, kNone);  // ranks ascend
      by_rank_.push_back(static_cast<uint32_t>(ranks_.size()));
      ranks_.emplace_back(rank);
      ranks_.back().threads = trace.has_threads(rank);
      threads_ += ranks_.back().threads ? 1 : 0;
      if (!trace.rank_info(rank).complete) ++cut_short_;
      ranks_.back().cut_short_ns = trace::cut_short_ns(trace, rank).value_or(0);
      const std::vector<trace::Job> &jobs = trace.run().jobs;
      if (!jobs.empty()) ranks_.back().spawned_by = jobs[trace.job_of(rank).number].spawned_by;
    }
  }

  MarkPointer begun(const CallTime &call, uint64_t outside_ns, bool reaches_others) override {
    RankState &rank = of(call.rank);
    if (!rank.started) {  // MPI_Init, or where it has no time the first call that has one
      rank.started = true;
      rank.start_ns = analyze::is_apart(call.function) ? call.end_ns : call.begin_ns;
      rank.last_end_ns = rank.start_ns;
      rank.end_ns = rank.start_ns;
      rank.ideal_ns = rank.start_ns;
      // Others may have waited for what it did there.
      if (analyze::is_apart(call.function)) {
        rank.timeline.add({call.begin_ns, call.end_ns, {call.rank, activity(places_.of(call), Doing::inside)}});
      }
      if (rank.spawned_by) be_born(&rank);
    }
    rank.calls.add(call.call, {});
    if (rank.finished || call.begin_ns < rank.start_ns) return nullptr;
    const uint32_t place = places_.of(call);
    const uint64_t since = call.begin_ns - std::min(call.begin_ns, rank.last_end_ns);
    const uint64_t outside = std::min(outside_ns, since);
    rank.line.outside_ns += outside;
    rank.ideal_ns += outside;
    spend(&rank, activity(place, Doing::outside), outside);
    spend(&rank, activity(place, Doing::others), since - outside);
    // Which came first is not known: calls that are not told of, or what was between them.
    rank.timeline.add({rank.last_end_ns, rank.last_end_ns + outside, {call.rank, activity(place, Doing::outside)}});
    rank.timeline.add({rank.last_end_ns + outside, call.begin_ns, {call.rank, activity(place, Doing::others)}});
    rank.end_ns = std::max(rank.end_ns, call.begin_ns);
    if (analyze::is_apart(call.function)) rank.finished = true;
    if (analyze::spawns_jobs(call.function)) {
      spawns_.push_back({call.begin_ns, {call.rank, activity(place, Doing::inside)}, rank.path.now()});
    }
    if (!reaches_others) return nullptr;
    auto stand = std::make_shared<Stand>();
    stand->path = rank.path.now();
    stand->ideal_ns = rank.ideal_ns;
    return stand;
  }

  void sent(const CallTime &call, uint32_t to, int64_t /*tag*/, uint64_t /*number*/) override {
    if (to < by_rank_.size() && by_rank_[to] != kNone) of(to).flying.add({call.begin_ns, call.rank, call.call});
  }

  void message(const Edge &edge) override {
    RankState &rank = of(edge.to.rank);
    if (edge.kind == Edge::Kind::message) rank.flying.take({edge.from.begin_ns, edge.from.rank, edge.from.call});
    if (edge.from.begin_ns > edge.to.end_ns) ++reversed_;
    const Pattern pattern = edge.kind == Edge::Kind::exposed ? Pattern::early_wait : Pattern::late_sender;
    const Stand *stand = stand_of(edge.mark);
    consider(&rank, edge.to, edge.from, edge.mark, stand == nullptr ? 0 : stand->ideal_ns, pattern);
  }

  void left(const Meeting &meeting, const std::vector<uint32_t> &from, const CallTime &to) override {
    MeetingState &state = meetings_[meeting.number];
    uint32_t last = 0;
    uint64_t ideal_ns = 0;
    const auto look_at = [&](uint32_t place, bool first) {
      if (first || meeting.begins[place].begin_ns > meeting.begins[last].begin_ns) last = place;
      if (const Stand *stand = stand_of(meeting.marks[place])) ideal_ns = std::max(ideal_ns, stand->ideal_ns);
    };
    if (!from.empty()) {
      for (const uint32_t place : from) look_at(place, place == from.front());
    } else if (state.all_known) {
      last = state.last;
      ideal_ns = state.ideal_ns;
    } else {
      for (uint32_t place = 0; place < meeting.begins.size(); ++place) look_at(place, place == 0);
      state = {true, last, ideal_ns, std::move(state.ends)};
    }
    // Then it did not wait after all.
    if (meeting.customary && meeting.begins[last].begin_ns > to.end_ns) return;
    const Pattern pattern = pattern_of(meeting.operation);
    consider(&of(to.rank), to, meeting.begins[last], meeting.marks[last], ideal_ns, pattern);
    const bool all = pattern == Pattern::wait_all || pattern == Pattern::wait_barrier;
    if (all && from.empty()) state.ends.push_back(to);
  }

  void over(const Meeting &meeting) override {
    const auto found = meetings_.find(meeting.number);
    if (found == meetings_.end()) return;
    const MeetingState state = std::move(found->second);
    meetings_.erase(found);
    uint64_t first_ns = UINT64_MAX;
    for (const CallTime &end : state.ends) first_ns = std::min(first_ns, end.end_ns);
    const bool barrier = pattern_of(meeting.operation) == Pattern::wait_barrier;
    for (const CallTime &end : state.ends) {
      const uint64_t since = std::max(first_ns, end.begin_ns);
      if (end.end_ns <= since) continue;
      add(barrier ? Pattern::barrier_completion : Pattern::all_completion, end, end, end.end_ns - since);
    }
  }

  uint64_t ended(const CallTime &call) override {
    RankState &rank = of(call.rank);
    Candidate *found = rank.calls.find(call.call);
    if (found == nullptr) return 0;
    Candidate candidate = std::move(*found);
    rank.calls.take(call.call);
    // What the call received is no longer among them.
    const bool other_first = !rank.threads && rank.flying.has_before(candidate.culprit.begin_ns);
    if (candidate.pattern == Pattern::late_sender && other_first) candidate.pattern = Pattern::wrong_order;
    rank.ideal_ns = std::max(rank.ideal_ns, candidate.ideal_ns);
    if (rank.finished || call.begin_ns < rank.start_ns) return 0;
    const uint64_t begin = std::max(call.begin_ns, std::min(rank.last_end_ns, call.end_ns));
    const uint64_t until = std::clamp(candidate.culprit.begin_ns, call.begin_ns, call.end_ns);
    const uint64_t waited = until - call.begin_ns;
    const uint32_t place = places_.of(call);
    const Activity inside = activity(place, Doing::inside);
    if (waited != 0) {
      add(candidate.pattern, call, candidate.culprit, waited);
      blame(call, call.begin_ns, until, candidate.culprit.rank, &rank);
      if (const Stand *stand = stand_of(candidate.mark)) rank.path.become(stand->path);
      const uint64_t since = std::max(begin, candidate.culprit.begin_ns);
      rank.path.add({call.rank, inside}, call.end_ns - std::min(call.end_ns, since));
    } else {
      rank.path.add({call.rank, inside}, call.end_ns - begin);
    }
    total(inside) += call.end_ns - begin;
    rank.timeline.add({std::max(begin, until), call.end_ns, {call.rank, inside}});
    rank.last_end_ns = std::max(rank.last_end_ns, call.end_ns);
    rank.end_ns = std::max(rank.end_ns, call.end_ns);
    rank.last_place = place;
    return waited;
  }

  void delivered(const Delivery &delivery) override {
    const CallTime &call = delivery.completed;
    const uint64_t waited = call.begin_ns + delivery.waited_ns;
    // Of several that came later, each is told for how much longer it took than those told before.
    const uint64_t from = delivery.late_until == nullptr ? waited : std::max(waited, *delivery.late_until);
    const uint64_t until = delivery.posted.begin_ns;
    if (call.rank == delivery.posted.rank || until <= from || until >= call.end_ns) return;
    const RankState &rank = of(call.rank);
    if (call.begin_ns < rank.start_ns || analyze::is_apart(call.function)) return;
    if (delivery.late_until != nullptr) *delivery.late_until = until;
    add(delivery.exposed ? Pattern::late_post : Pattern::late_receiver, call, delivery.posted, until - from);
    blame(call, from, until, delivery.posted.rank, nullptr);
  }

  [[nodiscard]] bool wants_customary() const override { return true; }
  [[nodiscard]] analyze::FollowWindows follow_windows() const override { return analyze::RankWindows::follow; }

  void locked(const analyze::LockCall &call) override {
    const RankState &rank = of(call.call.rank);
    if (call.call.begin_ns >= rank.start_ns) locks_.add(call);
  }

  void all_after(uint64_t ns) override {
    settle_locks(ns);
    ns = std::min(ns, locks_.earliest());
    for (RankState &rank : ranks_) rank.timeline.forget_before(ns);
  }

  /// Of all calls that ended until then.
  void settle_locks(uint64_t ns) {
    locks_.settle(ns, [&](const CallTime &call, const CallTime &culprit) {
      add(Pattern::lock_contention, call, culprit, culprit.begin_ns - call.begin_ns);
      blame(call, call.begin_ns, culprit.begin_ns, culprit.rank, nullptr);
    });
  }

  Report report(const analyze::MessageCounts &counts);

 private:
  using Line = std::tuple<Pattern, uint32_t, uint32_t>;  ///< with victim and culprit

  RankState &of(uint32_t rank) { return ranks_[by_rank_[rank]]; }
  uint64_t &total(Activity activity) {
    if (activity >= totals_.size()) totals_.resize(activity + size_t{1});
    return totals_[activity];
  }

  /// What led to a spawned rank is what led to the call that spawned it: the last one that had begun by then.
  void be_born(RankState *rank) {
    const auto by = std::find_if(spawns_.rbegin(), spawns_.rend(), [&](const SpawnStand &spawn) {
      return spawn.cause.rank == *rank->spawned_by && spawn.begin_ns <= rank->start_ns;
    });
    if (by == spawns_.rend()) return;
    rank->path.become(by->path);
    rank->path.add(by->cause, rank->start_ns - by->begin_ns);
  }

  /// Time of a rank that it did not wait, in no call that is told of.
  void spend(RankState *rank, Activity activity, uint64_t ns) {
    if (ns == 0) return;
    total(activity) += ns;
    rank->path.add({rank->line.rank, activity}, ns);
  }

  static void consider(RankState *rank, const CallTime &call, const CallTime &culprit, const MarkPointer &mark,
                       uint64_t ideal_ns, Pattern pattern) {
    Candidate *found = rank->calls.find(call.call);
    if (found == nullptr) return;
    Candidate &candidate = *found;
    candidate.ideal_ns = std::max(candidate.ideal_ns, ideal_ns);
    if (culprit.rank == call.rank || culprit.begin_ns <= candidate.culprit.begin_ns) return;
    candidate.pattern = pattern;
    candidate.culprit = culprit;
    candidate.mark = mark;
  }

  /// Of a rank that was in no call when the run was cut short; false: it is none.
  bool spend_until_cut_short(RankState *rank) {
    if (!rank->started || rank->finished || !rank->last_place || rank->cut_short_ns <= rank->last_end_ns) return false;
    const uint64_t outside = rank->cut_short_ns - rank->last_end_ns;
    rank->line.outside_ns += outside;
    rank->ideal_ns += outside;
    spend(rank, activity(*rank->last_place, Doing::after), outside);
    rank->end_ns = std::max(rank->end_ns, rank->cut_short_ns);
    return true;
  }

  [[nodiscard]] bool is_asked_for(const CallTime &victim) const { return !victims_ || victims_(victim); }

  void add(Pattern pattern, const CallTime &victim, const CallTime &culprit, uint64_t ns) {
    if (!is_asked_for(victim)) return;
    WaitLine &line = lines_[{pattern, places_.of(victim), places_.of(culprit)}];
    ++line.count;
    line.ns += ns;
    if (ns > line.longest.ns) line.longest = {ns, victim.rank, victim.call, culprit.rank};
    of(victim.rank).line.waited_ns[static_cast<size_t>(pattern)] += ns;
  }

  /// Somebody waited for a rank in that call. What it did then becomes part of the victim's timeline.
  void blame(const CallTime &call, uint64_t begin_ns, uint64_t end_ns, uint32_t culprit, RankState *victim) {
    const bool told = is_asked_for(call);
    std::vector<Span> spans;
    of(culprit).timeline.between(begin_ns, end_ns, [&](const Span &span) { spans.push_back(span); });
    for (const Span &span : spans) {
      if (told) blamed_[{span.cause.activity, span.cause.rank}] += span.end_ns - span.begin_ns;
      if (victim != nullptr) victim->timeline.add(span);
    }
  }

  Places places_;
  const Victims &victims_;
  Locks locks_;
  std::vector<RankState> ranks_;
  static constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> by_rank_;   ///< their places
  std::vector<SpawnStand> spawns_;  ///< as they were begun
  std::unordered_map<uint64_t, MeetingState> meetings_;
  std::map<Line, WaitLine> lines_;
  std::map<std::pair<Activity, uint32_t>, uint64_t> blamed_;
  std::vector<uint64_t> totals_;  ///< of all ranks, by activity
  uint64_t reversed_ = 0;
  uint64_t threads_ = 0;    ///< ranks with several
  uint64_t cut_short_ = 0;  ///< ranks
};

Report Pass::report(const analyze::MessageCounts &counts) {
  Report made;
  made.counts = counts;
  made.reversed = reversed_;
  made.with_threads = threads_;
  made.cut_short = cut_short_;
  made.places = places_.all();
  for (const auto &[key, line] : lines_) {
    made.lines.push_back(line);
    std::tie(made.lines.back().pattern, made.lines.back().victim, made.lines.back().culprit) = key;
  }
  for (const auto &[key, ns] : blamed_) {
    if (made.causes.empty() || made.causes.back().activity != key.first) made.causes.push_back({key.first, 0, 0, 0, 0});
    CauseLine &line = made.causes.back();
    line.ns += ns;
    ++line.ranks;
    if (ns > line.rank_ns) std::tie(line.rank, line.rank_ns) = std::pair(key.second, ns);
    of(key.second).line.blamed_ns += ns;
  }

  uint64_t first_ns = UINT64_MAX;
  uint64_t end_ns = 0;
  const RankState *last = nullptr;  ///< of whom the path is told
  bool last_computed = false;
  Efficiency &efficiency = made.efficiency;
  for (RankState &rank : ranks_) {
    if (!rank.started) continue;
    // Who was in a call then waited for somebody, as far as anybody knows.
    const bool computed = spend_until_cut_short(&rank);
    first_ns = std::min(first_ns, rank.start_ns);
    end_ns = std::max(end_ns, rank.end_ns);
    if (last == nullptr || std::pair(computed, rank.end_ns) > std::pair(last_computed, last->end_ns)) {
      last = &rank;
      last_computed = computed;
    }
    rank.line.run_ns = rank.end_ns - rank.start_ns;
    efficiency.ideal_ns = std::max(efficiency.ideal_ns, rank.ideal_ns);
    efficiency.mean_outside_ns += static_cast<double>(rank.line.outside_ns) / static_cast<double>(ranks_.size());
    if (rank.line.outside_ns > efficiency.most_outside_ns) {
      efficiency.most_outside_ns = rank.line.outside_ns;
      efficiency.most_outside_rank = rank.line.rank;
    }
  }
  if (last != nullptr) {
    efficiency.ideal_ns -= first_ns;
    efficiency.run_ns = end_ns - first_ns;
    made.path_rank = last->line.rank;
    std::map<Activity, PathLine> by_activity;
    if (last->path.now()) {
      for (const auto &[cause, ns] : last->path.now()->all()) {
        PathLine &line = by_activity[cause.activity];
        line.activity = cause.activity;
        line.ns += ns;
        const bool more = ns > line.rank_ns || (ns == line.rank_ns && cause.rank < line.rank);
        if (more) std::tie(line.rank, line.rank_ns) = std::pair(cause.rank, ns);
        made.path_ns += ns;
        of(cause.rank).line.path_ns += ns;
      }
    }
    for (auto &[activity, line] : by_activity) {
      line.mean_ns = (activity < totals_.size() ? totals_[activity] : 0) / ranks_.size();
      made.path.push_back(line);
    }
  }
  for (const RankState &rank : ranks_) made.ranks.push_back(rank.line);
  const auto longest_first = [](auto *list) {
    std::stable_sort(list->begin(), list->end(), [](const auto &a, const auto &b) { return a.ns > b.ns; });
  };
  longest_first(&made.lines);
  longest_first(&made.causes);
  longest_first(&made.path);
  return made;
}

}  // namespace

Result<Report> analyse(const trace::Trace &trace, const analyze::Sources &sources, const Victims &victims) {
  const auto messages = analyze::Messages::of(trace, sources);
  if (!messages) return tl::unexpected(messages.error());
  Pass pass(trace, sources, victims);
  const auto counts = messages->replay(&pass);
  if (!counts) return tl::unexpected(counts.error());
  pass.settle_locks(UINT64_MAX);
  return pass.report(*counts);
}

}  // namespace cairn::waits
