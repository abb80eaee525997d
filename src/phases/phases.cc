#include "phases/phases.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "analyze/alignment.h"
#include "analyze/summary.h"
#include "base/saturating.h"
#include "timing/mode.h"
#include "trace/read/events.h"
#include "traffic/traffic.h"

namespace cairn::phases {
namespace {

using analyze::KindOfRank;
using analyze::LoopFinder;

/// What calls of one place took in one phase, on all ranks of a kind.
struct OfPlace {
  double mpi_ns = 0;
  double gap_ns = 0;
};

/// One kind, its course, and which phase each part is.
struct Kind {
  KindOfRank kind;
  std::vector<uint32_t> ranks;  ///< that are looked at
  std::vector<Part> parts;
  std::vector<size_t> phases;                  ///< by part
  std::vector<std::vector<OfPlace>> of_place;  ///< by part and place
  std::vector<double> bytes;                   ///< by place, of all ranks of the kind
};

/// Phases of the kinds so far, as places where they call MPI.
struct Merged {
  What what;
  std::set<uint32_t> places;
  std::set<std::string> functions;
  std::set<std::string> turns;  ///< Part::turns
};

double likeness(const Part &part, const Merged &phase) {
  const bool edges = part.what == phase.what && (part.what == What::start || part.what == What::end);
  if ((part.what == What::loop) != (phase.what == What::loop)) return 0;
  // Ranks that exchange with the other side may do so on other lines of the same functions; in loops, as often.
  constexpr double kOfFunctions = 0.6;
  const bool as_often = part.what != What::loop || phase.turns.contains(part.turns);
  const double of_functions = as_often ? kOfFunctions * analyze::common_share(part.functions, phase.functions) : 0;
  const double share = std::max(analyze::common_share(part.places, phase.places), of_functions);
  constexpr double kLeastShare = 0.3;
  return share >= kLeastShare || edges ? share + 0.1 : 0;
}

/// Gives each part of the kind a phase, and phases that are new a place in the order.
void take_in(Kind *kind, std::vector<Merged> *merged, std::vector<size_t> *moved) {
  const auto pairs = analyze::aligned<double>(merged->size(), kind->parts.size(), [&](size_t phase, size_t part) {
    return likeness(kind->parts[part], (*merged)[phase]);
  });
  std::vector<Merged> order;
  moved->assign(merged->size(), 0);
  size_t phase = 0;
  size_t part = 0;
  const auto keep_until = [&](size_t end) {
    for (; phase < end; ++phase) {
      (*moved)[phase] = order.size();
      order.push_back(std::move((*merged)[phase]));
    }
  };
  const auto begin_until = [&](size_t end) {
    for (; part < end; ++part) {
      kind->phases.push_back(order.size());
      const Part &fresh = kind->parts[part];
      order.push_back({fresh.what, fresh.places, fresh.functions, {fresh.turns}});
    }
  };
  for (const auto &[both, own] : pairs) {
    keep_until(both);
    begin_until(own);
    kind->phases.push_back(order.size());
    Merged &of_both = (*merged)[both];
    const Part &fresh = kind->parts[own];
    of_both.places.insert(fresh.places.begin(), fresh.places.end());
    of_both.functions.insert(fresh.functions.begin(), fresh.functions.end());
    of_both.turns.insert(fresh.turns);
    ++part;
    keep_until(both + 1);
  }
  keep_until(merged->size());
  begin_until(kind->parts.size());
  *merged = std::move(order);
}

/// What begins on some ranks later than on others, or ends earlier, is a stretch of the run.
What what_at(size_t phase, const std::vector<Merged> &merged) {
  const What what = merged[phase].what;
  const bool within = (what == What::start && phase != 0) || (what == What::end && phase + 1 != merged.size());
  return within ? What::stretch : what;
}

class BytesOfPlaces : public traffic::Listener {
 public:
  BytesOfPlaces(const trace::Trace &trace, const LoopFinder &finder, std::vector<Kind> *kinds, size_t ranks)
      : finder_(finder), kinds_(*kinds), of_rank_(ranks) {
    for (uint32_t index = 0; index < trace.class_count(); ++index) threads_.push_back(trace.class_view(index).thread);
    for (Kind &kind : kinds_) {
      for (const uint32_t rank : kind.ranks) of_rank_[rank] = &kind;
    }
  }
  void moved(const traffic::Traffic &traffic, const traffic::Called &called) override {
    Kind *kind = called.rank < of_rank_.size() ? of_rank_[called.rank] : nullptr;
    if (kind == nullptr || threads_[called.class_index] != kind->kind.thread) return;
    kind->bytes[finder_.places_of(called.class_index)[called.class_row]] +=
        static_cast<double>(traffic.given_by(called.rank).bytes) * static_cast<double>(called.times());
  }

 private:
  const LoopFinder &finder_;
  std::vector<Kind> &kinds_;
  std::vector<Kind *> of_rank_;
  std::vector<uint32_t> threads_;  ///< by class
};

/// The sequences of a kind of rank, by class. A class is of several kinds where ranks stop at different places, or keep
/// other segments of a long run together: of the kind's are some of its ranks then.
std::map<uint32_t, std::vector<trace::SequenceView>> classes_of(const trace::Trace &trace, const KindOfRank &kind) {
  std::map<uint32_t, std::vector<trace::SequenceView>> classes;
  for (const uint32_t rank : kind.ranks) {
    for (const trace::SequenceView &sequence : trace.sequences(rank)) {
      if (sequence.thread == kind.thread) classes[sequence.class_index].push_back(sequence);
    }
  }
  return classes;
}

/// Which part of a class's ranks those are.
double share_of(const trace::Trace &trace, uint32_t index, const std::vector<trace::SequenceView> &sequences) {
  return static_cast<double>(sequences.size()) / static_cast<double>(trace.class_ranks(index).size());
}

/// Of what all ranks of a class spent.
uint64_t share_of(uint64_t ns, double share) {
  return share == 1 ? ns : static_cast<uint64_t>(std::llround(share * static_cast<double>(ns)));
}

/// How many calls are made at each place, and how long they took, which is given whether it is known. Of a class that
/// other kinds have, too, each rank counts as the mean of all.
bool add_statistics(const trace::Trace &trace, const LoopFinder &finder, KindOfRank *kind) {
  bool timed = true;
  for (const auto &[index, sequences] : classes_of(trace, *kind)) {
    const std::vector<uint32_t> &places = finder.places_of(index);
    const double share = share_of(trace, index, sequences);
    std::vector<std::vector<uint64_t>> counts;
    if (share == 1) {
      counts.push_back(trace.row_counts(index));
    } else {
      for (const trace::SequenceView &sequence : sequences) counts.push_back(trace.row_counts(sequence));
    }
    for (const std::vector<uint64_t> &each : counts) {
      for (uint32_t row = 0; row < each.size(); ++row) add_to(&kind->places[places[row]].calls, each[row]);
    }
    for (uint32_t row = 0; row < places.size(); ++row) {
      const auto stats = trace.row_stats(index, row);
      timed = timed && stats.has_value();
      if (stats) add_to(&kind->places[places[row]].time_ns, share_of(stats->calls.sum, share));
    }
  }
  return timed;
}

class Course {
 public:
  Course(const trace::Trace &trace, const LoopFinder &finder, Run *run) : trace_(trace), finder_(finder), run_(*run) {}

  /// All calls of a rank with their times.
  Result<void> walk(Kind *kind, uint32_t rank) {
    std::map<uint32_t, uint64_t> offsets;  ///< by segment
    uint64_t offset = 0;
    for (const trace::SequenceView &sequence : trace_.sequences(rank)) {
      if (sequence.thread != kind->kind.thread) continue;
      offsets[sequence.segment] = offset;
      offset += trace_.class_view(sequence.class_index).calls->length();
    }
    size_t part = 0;
    bool begun = false;
    uint64_t last_end = 0;
    uint64_t part_begin = 0;
    std::vector<uint64_t> turns;  ///< when those of the part began
    trace::Events events(trace_, rank);
    while (const trace::Event *event = events.next()) {
      if (event->damaged) run_.damaged.add(1, events.end().error());
      if (event->thread != kind->kind.thread || !event->timed || event->values->depth != 0) continue;
      if (!begun) part_begin = last_end = event->begin_ns;
      begun = true;
      const uint64_t place = offsets[event->segment] + event->row_place;
      while (part + 1 < kind->parts.size() && place >= kind->parts[part].end) {
        close(kind, part, rank, part_begin, last_end, std::exchange(turns, {}));
        part_begin = last_end;
        ++part;
      }
      const uint32_t symbol = finder_.places_of(event->class_index)[event->row];
      const uint64_t begin = std::max(last_end, event->begin_ns);
      const uint64_t end = std::max(begin, event->end_ns);
      OfPlace &of_place = kind->of_place[part][symbol];
      of_place.gap_ns += static_cast<double>(begin - last_end);
      of_place.mpi_ns += static_cast<double>(end - begin);
      if (kind->parts[part].anchor == symbol) turns.push_back(last_end);
      last_end = end;
    }
    if (begun) close(kind, part, rank, part_begin, last_end, std::exchange(turns, {}));
    return events.end_of_calls();
  }

  /// What statistics say of places, shared out among the parts that come to them.
  void share_out(Kind *kind) {
    std::vector<double> gaps(kind->kind.places.size());
    for (const auto &[index, sequences] : classes_of(trace_, kind->kind)) {
      const double of_class = share_of(trace_, index, sequences);
      std::set<uint32_t> sites;
      const auto rows = trace::structure_of(trace_, index).rows;
      for (uint32_t row = 0; row < rows.size(); ++row) {
        if (rows[row].depth != 0 || !sites.insert(rows[row].site).second) continue;
        const timing::GapStats *found = trace_.gaps(index, rows[row].site);
        run_.gaps = run_.gaps || found != nullptr;
        if (found != nullptr) gaps[finder_.places_of(index)[row]] += of_class * static_cast<double>(found->sum);
      }
    }
    const double whole = static_cast<double>(kind->ranks.size()) / static_cast<double>(kind->kind.ranks.size());
    for (size_t part = 0; part < kind->parts.size(); ++part) {
      for (const uint32_t place : kind->parts[part].places) {
        const analyze::LoopPlace &at = kind->kind.places[place];
        const double share =
            whole * static_cast<double>(kind->parts[part].visits[place]) / static_cast<double>(at.visits);
        kind->of_place[part][place] = {share * static_cast<double>(at.time_ns), share * gaps[place]};
      }
    }
  }

 private:
  /// Of one rank's part.
  void close(Kind *kind, size_t part, uint32_t rank, uint64_t begin, uint64_t end,
             const std::vector<uint64_t> &begins) {
    Phase &phase = run_.phases[kind->phases[part]];
    const auto extend = [rank](std::optional<Moment> *moment, uint64_t ns, bool earlier) {
      if (!*moment || (earlier ? ns < (*moment)->ns : ns > (*moment)->ns)) *moment = Moment{ns, rank};
    };
    extend(&phase.first_begin, begin, true);
    extend(&phase.last_begin, begin, false);
    extend(&phase.first_end, end, true);
    extend(&phase.last_end, end, false);
    if (begins.size() < 2) return;
    if (!phase.took) phase.took = Turns();
    Turns &took = *phase.took;
    const size_t count = begins.size();
    const size_t tenth = (count + 9) / 10;
    double first = 0;
    double last = 0;
    double sum = 0;
    for (size_t turn = 0; turn < count; ++turn) {
      const uint64_t ns = (turn + 1 < count ? begins[turn + 1] : end) - begins[turn];
      sum += static_cast<double>(ns);
      if (turn < tenth) first += static_cast<double>(ns);
      if (turn + tenth >= count) last += static_cast<double>(ns);
      took.least_ns = std::min(took.least_ns, ns);
      if (ns <= took.most_ns) continue;
      took.most_ns = ns;
      took.most_turn = turn;
      took.most_rank = rank;
    }
    // Means so far, of the ranks' means weighted by their turns.
    const auto all = static_cast<double>(took.count);
    const auto more = static_cast<double>(count);
    const auto mix = [&](double *mean, double own) { *mean = (*mean * all + own * more) / (all + more); };
    mix(&took.mean_ns, sum / more);
    mix(&took.first_tenth_ns, first / static_cast<double>(tenth));
    mix(&took.last_tenth_ns, last / static_cast<double>(tenth));
    took.count += count;
  }

  const trace::Trace &trace_;
  const LoopFinder &finder_;
  Run &run_;
};

/// What all kinds' parts of a phase come to.
void add_up(const std::vector<Kind> &kinds, Run *run) {
  for (size_t number = 0; number < run->phases.size(); ++number) {
    Phase &phase = run->phases[number];
    std::map<uint32_t, double> functions;
    std::set<uint32_t> having;
    double all_ns = 0;
    double mpi_ns = 0;
    for (const Kind &kind : kinds) {
      const auto here = std::find(kind.phases.begin(), kind.phases.end(), number);
      if (here == kind.phases.end()) continue;
      const auto index = static_cast<size_t>(here - kind.phases.begin());
      const Part &part = kind.parts[index];
      const auto ranks = static_cast<double>(kind.ranks.size());
      const bool first = phase.on.empty();
      if (first) {
        phase.place = part.place;
        phase.turns = part.turns;
        phase.note = part.note;
      }
      OnRanks on{kind.ranks, part.turns, 0};
      for (const uint32_t place : part.places) {
        const analyze::LoopPlace &at = kind.kind.places[place];
        const double share = static_cast<double>(part.visits[place]) / static_cast<double>(at.visits);
        on.calls += at.calls == 0 ? static_cast<double>(part.visits[place])
                                  : share * static_cast<double>(at.calls) / static_cast<double>(kind.kind.ranks.size());
        phase.bytes += share * kind.bytes[place];
        const OfPlace &took = kind.of_place[index][place];
        all_ns += took.mpi_ns + took.gap_ns;
        if (analyze::is_apart(at.function)) continue;
        mpi_ns += took.mpi_ns;
        functions[at.function] += took.mpi_ns;
      }
      phase.calls += on.calls * ranks;
      having.insert(kind.ranks.begin(), kind.ranks.end());
      phase.on.push_back(std::move(on));
      if (!first) continue;
      for (const Inner &inner : part.inner) {
        InnerLoop loop{inner.depth, inner.place, inner.turns, inner.times, std::nullopt};
        double ns = 0;
        for (const uint32_t place : part.places) {
          ns += inner.of_visits[place] * (kind.of_place[index][place].mpi_ns + kind.of_place[index][place].gap_ns);
        }
        if (run->timed) loop.ns = ns / ranks;
        phase.inner.push_back(std::move(loop));
      }
    }
    std::set_difference(run->ranks.begin(), run->ranks.end(), having.begin(), having.end(),
                        std::back_inserter(phase.lacking));
    if (!run->timed || having.empty()) continue;
    if (run->gaps) phase.mean_ns = all_ns / static_cast<double>(having.size());
    phase.mpi_ns = mpi_ns / static_cast<double>(having.size());
    for (const auto &[function, ns] : functions) {
      if (ns <= phase.most_ns) continue;
      phase.most_ns = ns;
      phase.most_function = function;
    }
  }
}

}  // namespace

Result<Run> phases_of(const trace::Trace &trace, const analyze::Sources &sources, const analyze::Filter &filter,
                      size_t depth) {
  Run run;
  run.ranks = filter.ranks;
  run.each_timed = timing::keeps_times(trace.run().timing);
  run.gaps = run.each_timed;
  run.timed = !timing::keeps_nothing(trace.run().timing);
  const LoopFinder finder(trace, sources);
  std::vector<Kind> kinds;
  std::vector<Merged> merged;
  std::vector<bool> seen(trace.rank_count());
  std::vector<KindOfRank> found = finder.kinds(filter);
  // The first thread of each rank.
  std::stable_sort(found.begin(), found.end(), [](const auto &a, const auto &b) { return a.thread < b.thread; });
  for (KindOfRank &each : found) {
    Kind kind;
    for (const uint32_t rank : each.ranks) {
      if (!std::binary_search(filter.ranks.begin(), filter.ranks.end(), rank)) continue;
      if (rank >= seen.size()) seen.resize(size_t{rank} + 1);
      if (seen[rank]) {
        run.threads = true;
        continue;
      }
      seen[rank] = true;
      kind.ranks.push_back(rank);
    }
    if (kind.ranks.empty()) continue;
    kind.kind = std::move(each);
    if (auto done = finder.find_structure(&kind.kind); !done) return tl::unexpected(done.error());
    if (!add_statistics(trace, finder, &kind.kind) && !run.each_timed) run.timed = false;
    kind.parts = course_of(kind.kind, depth);
    kind.of_place.assign(kind.parts.size(), std::vector<OfPlace>(kind.kind.places.size()));
    kind.bytes.resize(kind.kind.places.size());
    std::vector<size_t> moved;
    take_in(&kind, &merged, &moved);
    for (Kind &before : kinds) {
      for (size_t &phase : before.phases) phase = moved[phase];
    }
    kinds.push_back(std::move(kind));
  }
  run.phases.resize(merged.size());
  for (size_t i = 0; i < merged.size(); ++i) run.phases[i].what = what_at(i, merged);
  BytesOfPlaces bytes(trace, finder, &kinds, seen.size());
  if (auto told = traffic::each_traffic(trace, sources, filter, {.sums = true, .peers = false}, &bytes); !told) {
    return tl::unexpected(told.error());
  }
  Course course(trace, finder, &run);
  for (Kind &kind : kinds) {
    if (!run.each_timed) {
      if (run.timed) course.share_out(&kind);
      continue;
    }
    for (const uint32_t rank : kind.ranks) {
      if (auto done = course.walk(&kind, rank); !done) return tl::unexpected(done.error());
    }
  }
  add_up(kinds, &run);
  return run;
}

}  // namespace cairn::phases
