#include "analyze/summary.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "analyze/bytes_moved.h"
#include "analyze/calls_on.h"
#include "analyze/gathered_line.h"
#include "analyze/rank_sums.h"
#include "analyze/red_flags.h"
#include "analyze/wanted_calls.h"
#include "base/in_order.h"
#include "base/saturating.h"
#include "spec/ids.h"
#include "timing/mode.h"
#include "trace/read/events.h"
#include "trace/read/exactness.h"

namespace cairn::analyze {
namespace {

using RowHead = trace::Structure::RowHead;

constexpr std::array<uint32_t, 3> kApart = {spec::function_id::Init, spec::function_id::Init_thread,
                                            spec::function_id::Finalize};

/// (function, module, offset, number of its callers) or (0, 0, rank, 0).
using Key = std::tuple<uint32_t, uint32_t, uint64_t, uint32_t>;

/// Whether calls of one sequence are wanted, found out once for each distinct one.
class Answers {
 public:
  explicit Answers(const WantedCalls &wanted) : wanted_(wanted) {}
  bool wants(const trace::Event &event) {
    if (event.call >= known_.size()) known_.resize(size_t{event.call} + 1);
    char &answer = known_[event.call];
    if (answer == 0) answer = wanted_.wants(event.class_index, *event.values) ? 1 : 2;
    return answer == 1;
  }

 private:
  const WantedCalls &wanted_;
  std::vector<char> known_;  ///< by number of the call: 0 not asked, 1 wanted, 2 not
};

class Summariser {
 public:
  Summariser(const trace::Trace &trace, const Sources &sources, const Filter &filter, GroupBy group, LineBytes bytes)
      : trace_(trace),
        sources_(sources),
        filter_(filter),
        wanted_(trace, sources, filter),
        group_(group),
        bytes_(bytes),
        has_times_(timing::keeps_times(trace.run().timing)),
        sums_(trace),
        by_function_(!filter.threads.chooses() && !filter.sites.chooses() && !filter.chooses_by_values()) {
    summary_.filtered = filter.chooses_calls();
    if (wanted_.by_communicators()) on_.emplace(trace, wanted_);
    for (const uint32_t rank : filter.ranks) {
      if (rank >= selected_.size()) selected_.resize(size_t{rank} + 1);
      selected_[rank] = true;
    }
  }

  Result<Summary> run() {
    summary_.group = group_;
    for (const uint32_t index : trace_.classes_of(filter_.ranks)) {
      if (auto done = add_class(index); !done) return tl::unexpected(done.error());
    }
    if (bytes_ == LineBytes::counted) {
      if (auto done = add_bytes(); !done) return tl::unexpected(done.error());
    }
    add_ranks();
    of_ranks_.clear();
    summary_.lines.reserve(lines_.size());
    while (!lines_.empty()) {
      // Of 100,000 ranks both copies of all lines are too much.
      const auto first = lines_.extract(lines_.begin());
      finish(first.mapped());
      summary_.lines.push_back(std::move(first.mapped().line));
    }
    std::stable_sort(summary_.lines.begin(), summary_.lines.end(), [&](const SummaryLine &a, const SummaryLine &b) {
      if (group_ == GroupBy::rank) return a.rank < b.rank;
      if (a.time_ns != b.time_ns) return a.time_ns > b.time_ns;
      return a.calls > b.calls;
    });
    summary_.within = trace::exactness(trace_);
    summary_.flags = find_red_flags(trace_, sources_, filter_);
    return std::move(summary_);
  }

 private:
  [[nodiscard]] bool is_selected(uint32_t rank) const { return rank < selected_.size() && selected_[rank]; }

  template <typename Head>
  GatheredLine &line(uint32_t class_index, const Head &head, uint32_t rank) {
    Key key{head.function, 0, 0, 0};
    trace::Site site;
    if (group_ == GroupBy::rank) {
      if (rank < of_ranks_.size() && of_ranks_[rank] != nullptr) return *of_ranks_[rank];
      key = {0, 0, rank, 0};
    }
    if (group_ == GroupBy::call_site) {
      if (head.site < sites_.size()) site = sites_[head.site];
      key = {head.function, site.module, site.offset, callers_number(site.caller)};
    }
    const auto [place, fresh] = lines_.try_emplace(key);
    if (group_ == GroupBy::rank) {
      of_ranks_.resize(std::max(of_ranks_.size(), size_t{rank} + 1));
      of_ranks_[rank] = &place->second;
    }
    if (fresh) {
      place->second.line.function = head.function;
      place->second.line.rank = rank;
      if (group_ == GroupBy::call_site) {
        place->second.line.position = sources_.position(class_index, head.site);
        place->second.line.callers = sources_.callers(class_index, head.site);
      }
    }
    return place->second;
  }

  /// Callers that look the same have one number: a loop that was unrolled calls from several places of one line.
  uint32_t callers_number(uint32_t caller) {
    if (caller == 0) return 0;
    const auto [known, fresh] = numbers_of_callers_.try_emplace(caller);
    if (!fresh) return known->second;
    std::string text;
    for (const Position &position : sources_.frames(caller)) text += position.text() + '\n';
    const auto next = static_cast<uint32_t>(numbers_of_texts_.size() + 1);
    known->second = numbers_of_texts_.try_emplace(std::move(text), next).first->second;
    return known->second;
  }

  Result<void> add_class(uint32_t index) {
    const trace::ClassView view = trace_.class_view(index);
    std::vector<uint32_t> members;
    for (const uint32_t rank : view.ranks) {
      if (is_selected(rank)) members.push_back(rank);
    }
    if (members.empty()) return {};
    const bool whole = members.size() == view.ranks.size();
    sites_ = trace_.sites(index);
    rows_ = trace::structure_of(trace_, index).rows;
    wanted_rows_.assign(rows_.size(), false);
    for (uint32_t row = 0; row < rows_.size(); ++row) {
      wanted_rows_[row] = wanted_.may_want(index, rows_[row].function, rows_[row].site) &&
                          (!filter_.outermost || rows_[row].depth == 0);
    }
    // Calls are looked at one by one where their values decide what is wanted, or where some may have failed.
    const std::vector<bool> failing = may_fail(trace_, index);
    bool by_values = false;
    for (uint32_t row = 0; row < rows_.size(); ++row) {
      const bool here = !wanted_.by_head_only() || (!failing.empty() && failing[row]);
      by_values = by_values || (here && wanted_rows_[row]);
    }
    std::vector<uint64_t> counts;
    std::set<std::pair<uint32_t, uint32_t>> in_part;
    if (by_values) {
      auto by_value = counts_by_value(index, view, members, &in_part);
      if (!by_value) return tl::unexpected(by_value.error());
      counts = *std::move(by_value);
    } else if (whole && group_ != GroupBy::rank) {
      counts = trace_.row_counts(index);
    } else {
      counts = counts_by_rank(index, view, members);
    }
    for (uint32_t row = 0; row < rows_.size(); ++row) {
      const RowHead &head = rows_[row];
      if (counts[row] == 0 || !wanted_rows_[row]) continue;
      summary_.calls += counts[row];
      if (group_ != GroupBy::rank) {
        GatheredLine &gathered = line(index, head, 0);
        gathered.line.calls += counts[row];
        for (const uint32_t rank : members) {
          if (!by_values) gathered.add_rank(rank);
        }
      }
      // Statistics don't tell calls of one function at one site apart for sure.
      if (!has_times_) add_stats(index, row, head, whole && !in_part.contains({head.function, head.site}));
    }
    if (!has_times_) return {};
    return add_times(index, view, members, counts);
  }

  /// Of these members together; by rank, each one's calls go to its line.
  std::vector<uint64_t> counts_by_rank(uint32_t index, const trace::ClassView &view,
                                       const std::vector<uint32_t> &members) {
    std::vector<uint64_t> all(view.rows);
    std::vector<uint64_t> own;
    for (const uint32_t rank : members) {
      if (own.empty() || view.counted) own = trace_.row_counts({rank, view.thread, view.segment, index, 0});
      for (uint32_t row = 0; row < view.rows; ++row) {
        all[row] += own[row];
        if (group_ != GroupBy::rank || own[row] == 0 || !wanted_rows_[row]) continue;
        GatheredLine &gathered = line(index, rows_[row], rank);
        gathered.line.calls += own[row];
        gathered.functions[rows_[row].function] += own[row];
      }
    }
    return all;
  }

  /// The same of those that are wanted for their values, and the failed ones. `in_part`: functions and sites of which
  /// some calls are wanted and some are not.
  Result<std::vector<uint64_t>> counts_by_value(uint32_t index, const trace::ClassView &view,
                                                const std::vector<uint32_t> &members,
                                                std::set<std::pair<uint32_t, uint32_t>> *in_part) {
    std::vector<uint64_t> all(view.rows);
    for (const uint32_t rank : members) {
      auto calls = wanted_rows({rank, view.thread, view.segment, index, 0}, in_part);
      if (!calls) return tl::unexpected(calls.error());
      for (const trace::CountedRow &call : *calls) {
        const trace::Row &row = call.row;
        all[call.class_row] += call.count;
        GatheredLine &gathered = line(index, rows_[call.class_row], rank);
        if (group_ == GroupBy::rank) {
          gathered.line.calls += call.count;
          gathered.functions[row.function] += call.count;
        } else {
          gathered.add_rank(rank);
        }
        if (const Outcome outcome = outcome_of(row); outcome.kind == Outcome::Kind::failed) {
          gathered.line.failed += call.count;
          summary_.failures[outcome.name] += call.count;
        }
      }
    }
    return all;
  }

  /// The wanted calls of a sequence; functions and sites of others go to `others`.
  Result<std::vector<trace::CountedRow>> wanted_rows(const trace::SequenceView &sequence,
                                                     std::set<std::pair<uint32_t, uint32_t>> *others) {
    if (on_) {
      const auto here = on_->of(sequence.rank, sequence.class_index);
      if (!here) return tl::unexpected(here.error());
      others->insert((*here)->others.begin(), (*here)->others.end());
      return (*here)->calls;
    }
    std::vector<trace::CountedRow> calls = trace_.counted_rows(sequence);
    std::erase_if(calls, [&](const trace::CountedRow &call) {
      const bool wanted = wanted_.wants(sequence.class_index, call.row);
      if (!wanted) others->insert({call.row.function, call.row.site});
      return !wanted;
    });
    return calls;
  }

  void add_stats(uint32_t index, uint32_t row, const RowHead &head, bool whole) {
    if (group_ == GroupBy::rank) return;  // rank_info has the sums
    line(index, head, 0).add_stats(index, whole ? trace_.row_stats(index, row) : std::nullopt);
  }

  Result<void> add_times(uint32_t index, const trace::ClassView &view, const std::vector<uint32_t> &members,
                         const std::vector<uint64_t> &counts) {
    Result<void> done;
    const auto add = [&](size_t member, const Result<TimesOfRank> &found) {
      if (!found) {
        done = tl::unexpected(found.error());
        return false;
      }
      const uint32_t rank = members[member];
      if (found->damaged.first) summary_.damaged.add(found->damaged.calls, *found->damaged.first);
      for (const std::vector<RowTimes> &times : found->sequences) {
        for (uint32_t row = 0; row < view.rows; ++row) {
          const uint64_t all = times[row].ns + times[row].others_ns;
          if (all != 0) sums_.add(rank, rows_[row].function, all);
          if (!wanted_rows_[row] || counts[row] == 0) continue;
          GatheredLine &gathered = line(index, rows_[row], rank);
          gathered.add_times(rank, times[row]);
          if (group_ != GroupBy::rank) gathered.add_durations(times[row].durations);
          if (group_ == GroupBy::rank) gathered.spent[rows_[row].function] += times[row].ns;
        }
      }
      return true;
    };
    const auto find = [&](size_t member) { return times_of(members[member], index, view.rows); };
    in_order(members.size(), find, add, on_ ? 1 : usable_cores());  // `on_` is one thread's
    return done;
  }

  /// What the calls of one rank in a class took.
  struct TimesOfRank {
    std::vector<std::vector<RowTimes>> sequences;  ///< by row
    DamagedTimes damaged;
  };
  Result<TimesOfRank> times_of(uint32_t rank, uint32_t index, uint32_t rows) {
    TimesOfRank found;
    for (const trace::SequenceView &sequence : trace_.sequences(rank)) {
      if (sequence.class_index != index) continue;
      std::vector<RowTimes> &times = found.sequences.emplace_back(rows);
      if (on_) {
        const auto here = on_->of(rank, index);
        if (!here) return tl::unexpected(here.error());
        for (const auto &[row, known] : (*here)->times) times[row] = known;
        if ((*here)->damaged.first) found.damaged.add((*here)->damaged.calls, *(*here)->damaged.first);
      } else if (auto done = add_durations(sequence, &times, &found.damaged); !done) {
        return tl::unexpected(done.error());
      }
    }
    return found;
  }

  Result<void> add_durations(const trace::SequenceView &sequence, std::vector<RowTimes> *times,
                             DamagedTimes *damaged) const {
    Answers answers(wanted_);
    const bool by_rows = wanted_.by_head_only();
    trace::Events events(trace_, sequence);
    while (const trace::Event *event = events.next()) {
      if (event->damaged) damaged->add(1, events.end().error());
      if (event->damaged) continue;
      if (!event->timed) break;
      (*times)[event->row].add(event->duration_ns, by_rows || answers.wants(*event));
    }
    return events.end_of_calls();
  }

  Result<void> add_bytes() {
    uint32_t of_class = UINT32_MAX;
    return BytesMoved(trace_, filter_, wanted_, on_ ? &*on_ : nullptr).each([&](const Moved &moved) {
      if (of_class != moved.class_index) sites_ = trace_.sites(moved.class_index);
      of_class = moved.class_index;
      // By rank each one has a line, else they share the first one's.
      const size_t lines = group_ == GroupBy::rank ? moved.ranks.size() : 1;
      for (size_t i = 0; i < lines; ++i) {
        add_bytes(moved, moved.ranks.size() / lines, &line(moved.class_index, moved, moved.ranks[i]).line);
      }
    });
  }
  static void add_bytes(const Moved &moved, uint64_t ranks, SummaryLine *line) {
    line->moves = true;
    const uint64_t bytes = saturating_product(moved.bytes, ranks);
    const uint64_t unsized = saturating_product(moved.unsized, ranks);
    if (moved.withdrawn) {
      line->bytes -= std::min(line->bytes, bytes);
      line->unsized_calls -= std::min(line->unsized_calls, unsized);
    } else {
      add_to(&line->bytes, bytes);
      add_to(&line->unsized_calls, unsized);
    }
  }

  /// In MPI_Init and MPI_Finalize; nothing if it is not known.
  [[nodiscard]] std::optional<uint64_t> apart_of(uint32_t rank) const {
    if (!sums_.known()) return std::nullopt;
    uint64_t sum = 0;
    for (const uint32_t function : kApart) {
      sum += sums_.of(rank, function).value_or(0);
    }
    return sum;
  }

  [[nodiscard]] uint64_t threads_of(uint32_t rank) const {
    std::set<uint32_t> threads;
    for (const trace::SequenceView &sequence : trace_.sequences(rank)) {
      if (sequence.segment != trace::SequenceRecord::kEpilogue) threads.insert(sequence.thread);
    }
    return std::max<uint64_t>(1, threads.size());
  }

  /// Totals over ranks, and what is known of each.
  void add_ranks() {
    uint64_t most = 0;
    uint64_t apart = 0;
    for (const uint32_t rank : filter_.ranks) {
      const trace::Trace::RankInfo info = trace_.rank_info(rank);
      uint64_t run = 0;
      if (__builtin_mul_overflow(info.wall_ns, threads_of(rank), &run)) run = info.wall_ns;
      const std::optional<uint64_t> own_apart = apart_of(rank);
      const uint64_t in_mpi = info.mpi_ns - std::min(info.mpi_ns, own_apart.value_or(0));
      const uint64_t outside = run - std::min(run, info.mpi_ns);
      apart += own_apart.value_or(0);
      summary_.mpi_ns += in_mpi;
      summary_.run_ns += run;
      summary_.outside_ns += outside;
      most = std::max(most, in_mpi);
      if (outside > summary_.slowest_ns || rank == filter_.ranks.front()) {
        summary_.slowest_ns = outside;
        summary_.slowest_rank = rank;
      }
      if (group_ == GroupBy::rank) add_rank(rank, info, in_mpi, outside, own_apart, run);
    }
    if (sums_.known()) summary_.apart_ns = apart;
    const auto ranks = static_cast<double>(filter_.ranks.size());
    const auto imbalance = [ranks](uint64_t greatest, uint64_t sum) {
      return sum == 0 ? 1 : static_cast<double>(greatest) * ranks / static_cast<double>(sum);
    };
    summary_.mpi_imbalance = imbalance(most, summary_.mpi_ns);
    summary_.outside_imbalance = imbalance(summary_.slowest_ns, summary_.outside_ns);
  }

  void add_rank(uint32_t rank, const trace::Trace::RankInfo &info, uint64_t in_mpi, uint64_t outside,
                std::optional<uint64_t> apart, uint64_t run) {
    GatheredLine &gathered = lines_[Key{0, 0, rank, 0}];
    SummaryLine &target = gathered.line;
    target.rank = rank;
    target.host = info.host;
    target.ranks = 1;
    target.outside_ns = outside;
    target.run_ns = run;
    target.apart_ns = apart;
    const auto may_be_most = [&target](uint32_t function, uint64_t spent) {
      if (is_apart(function) || spent <= target.most_ns) return;
      target.most_ns = spent;
      target.most_function = function;
    };
    for (const auto &[function, spent] : gathered.spent) may_be_most(function, spent);
    for (const uint32_t function : sums_.functions_of(rank)) {
      if (has_times_ || !by_function_ || !filter_.has_function(function)) continue;
      may_be_most(function, sums_.of(rank, function).value_or(0));
    }
    if (!summary_.filtered) {
      target.time_ns = in_mpi;
    } else if (!has_times_) {
      target.time_ns = 0;
      target.timed = sums_.known() && (by_function_ || gathered.line.calls == 0);
      for (const auto &[function, calls] : gathered.functions) {
        const std::optional<uint64_t> sum = sums_.of(rank, function);
        if (calls != 0 && !sum) target.timed = false;
        target.time_ns += sum.value_or(0);
      }
      if (!target.timed) summary_.times_missing = true;
    }
  }

  void finish(GatheredLine &gathered) {
    if (group_ == GroupBy::rank) return;
    if (group_ == GroupBy::function && !has_times_ && by_function_) gathered.sum_ranks(sums_, filter_.ranks);
    gathered.finish(trace_);
    if (!gathered.line.timed) summary_.times_missing = true;
  }

  const trace::Trace &trace_;
  const Sources &sources_;
  const Filter &filter_;
  WantedCalls wanted_;
  std::optional<CallsOn> on_;  ///< where names of communicators say what is wanted
  GroupBy group_;
  LineBytes bytes_;
  bool has_times_;  ///< of single calls: statistics are not needed then
  RankSums sums_;
  bool by_function_;  ///< the filter takes all of a rank's calls of a function, or none
  std::vector<bool> selected_;
  std::vector<trace::Site> sites_;                    ///< of the class at hand
  std::vector<RowHead> rows_;                         ///< of that too
  std::vector<bool> wanted_rows_;                     ///< and of which of them some calls may be wanted
  std::map<uint32_t, uint32_t> numbers_of_callers_;   ///< by Site::caller
  std::map<std::string, uint32_t> numbers_of_texts_;  ///< and by how they look
  std::map<Key, GatheredLine> lines_;
  std::vector<GatheredLine *> of_ranks_;  ///< of lines_, where they are by rank
  Summary summary_;
};

}  // namespace

bool is_apart(uint32_t function) { return std::find(kApart.begin(), kApart.end(), function) != kApart.end(); }

Result<Summary> summarise(const trace::Trace &trace, const Sources &sources, const Filter &filter, GroupBy group,
                          LineBytes bytes) {
  return Summariser(trace, sources, filter, group, bytes).run();
}

}  // namespace cairn::analyze
