#include "timeline/row_shares.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "timing/mode.h"
#include "trace/read/class_structure.h"

namespace cairn::timeline {
namespace {

Ticks fixed(double ns) {
  constexpr double kMost = 1e20;
  if (!(ns > 0)) return 0;
  return static_cast<Ticks>(std::ldexp(std::min(ns, kMost), kTickBits));
}

/// What is told of the rows of a class: how often they stand, how often they are called, what that takes.
struct OfRows {
  std::vector<double> stands;  ///< on all members together, as the others
  std::vector<double> calls;
  std::vector<double> call_ns;
  std::vector<double> gap_ns;
};

/// Times by statistics: means of the slots that a row is in, made to add up to what the slots of its function, site and
/// depth add up to.
std::vector<double> call_times(const trace::ClassPart &part, const std::vector<double> &calls) {
  struct Sum {
    double calls = 0;
    double ns = 0;
  };
  const size_t rows = part.rows.size();
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, size_t> numbers;
  std::vector<size_t> head_of(rows);
  for (size_t row = 0; row < rows; ++row) {
    const trace::ClassRow &of = *part.rows[row];
    head_of[row] = numbers.try_emplace({of.function, of.site, of.depth}, numbers.size()).first->second;
  }
  std::vector<Sum> sums(rows);
  std::vector<double> told(numbers.size());
  for (const trace::StatsBlock &block : part.stats) {
    for (size_t slot = 0; slot < block.slots.size(); ++slot) {
      const timing::CallStats stats = block.slots[slot].numbers().calls;
      const auto add = [&](uint32_t row) {
        sums[row].calls += static_cast<double>(stats.count);
        sums[row].ns += static_cast<double>(stats.sum);
      };
      if (block.rows.empty()) {
        add(static_cast<uint32_t>(slot));
        told[head_of[slot]] += static_cast<double>(stats.sum);
      } else if (!block.rows[slot].empty()) {
        for (const uint32_t row : block.rows[slot]) add(row);
        told[head_of[block.rows[slot].front()]] += static_cast<double>(stats.sum);
      }
    }
  }
  std::vector<double> times(rows);
  std::vector<double> together(numbers.size());
  for (size_t row = 0; row < rows; ++row) {
    times[row] = sums[row].calls == 0 ? 0 : calls[row] * sums[row].ns / sums[row].calls;
    together[head_of[row]] += times[row];
  }
  for (size_t row = 0; row < rows; ++row) {
    const size_t head = head_of[row];
    if (together[head] > 0) times[row] *= told[head] / together[head];
  }
  return times;
}

/// Rows that stand for many calls take what all of their group take together, each time the same.
void even_out(const trace::ClassPart &part, const trace::RowGroups &groups, const std::vector<double> &stands,
              std::vector<double> *sums) {
  std::vector<double> of_group(groups.count());
  std::vector<double> stands_of(groups.count());
  for (size_t row = 0; row < sums->size(); ++row) {
    of_group[groups.of_row[row]] += (*sums)[row];
    stands_of[groups.of_row[row]] += stands[row];
  }
  for (size_t row = 0; row < sums->size(); ++row) {
    const uint32_t group = groups.of_row[row];
    if (is_call(part.rows[row]->kind) || stands_of[group] == 0) continue;
    (*sums)[row] = of_group[group] * stands[row] / stands_of[group];
  }
}

}  // namespace

const char *name_of(AxisKind kind) {
  constexpr const char *kNames[] = {"measured", "estimated", "calls"};
  return kNames[static_cast<size_t>(kind)];
}

AxisKind axis_of(const trace::Trace &trace) {
  if (timing::keeps_times(trace.run().timing)) return AxisKind::measured;
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    if (!trace::class_structure(trace, index).stats.empty()) return AxisKind::estimated;
  }
  return AxisKind::calls;
}

Ticks RowShare::gap_in(Ticks ticks) const {
  if (ticks >= whole()) return gap;
  if (!many) return std::min(ticks, gap);
  return static_cast<Ticks>(static_cast<double>(ticks) * (static_cast<double>(gap) / static_cast<double>(whole())));
}

double RowShares::calls_of(uint32_t class_index) {
  const auto [known, fresh] = calls_.try_emplace(class_index);
  if (fresh) {
    for (const uint64_t count : trace_.row_counts(class_index)) known->second += static_cast<double>(count);
    const uint64_t ranks = trace_.class_ranks(class_index).size();
    known->second /= static_cast<double>(std::max<uint64_t>(1, ranks));
  }
  return known->second;
}

/// As Trace::mean_gap_ns, of all members together and the class's thread alone.
double RowShares::mean_gap_ns(uint32_t class_index) {
  const uint32_t thread = trace::class_structure(trace_, class_index).thread;
  double outside = 0;
  double calls = 0;
  for (const uint32_t rank : trace_.class_ranks(class_index).expand()) {
    const trace::Trace::RankInfo info = trace_.rank_info(rank);
    if (info.wall_ns > info.mpi_ns) outside += static_cast<double>(info.wall_ns - info.mpi_ns);
    for (const trace::SequenceView &sequence : trace_.sequences(rank)) {
      if (sequence.thread == thread) calls += calls_of(sequence.class_index);
    }
  }
  return calls == 0 ? 0 : outside / calls;
}

std::vector<RowShare> RowShares::of(uint32_t class_index) {
  const trace::ClassPart &part = trace::class_structure(trace_, class_index);
  const size_t rows = part.rows.size();
  const auto ranks = static_cast<double>(part.ranks.size());
  OfRows all;
  std::vector<uint64_t> stands = part.calls->multiplicities();
  stands.resize(rows);
  for (const uint64_t each : stands) all.stands.push_back(static_cast<double>(each) * ranks);
  for (const uint64_t each : trace_.row_counts(class_index)) all.calls.push_back(static_cast<double>(each));
  all.gap_ns.assign(rows, 0);
  if (kind_ == AxisKind::calls) {
    for (const double calls : all.calls) all.call_ns.push_back(calls * static_cast<double>(kCallNs));
  } else {
    all.call_ns = call_times(part, all.calls);
    std::map<uint32_t, double> at_site;  // calls
    bool told = false;
    for (size_t row = 0; row < rows; ++row) {
      const trace::ClassRow &of = *part.rows[row];
      if (of.depth != 0) all.call_ns[row] = 0;
      if (of.depth == 0) at_site[of.site] += all.calls[row];
      told = told || trace_.gaps(class_index, of.site) != nullptr;
    }
    const double mean = told ? 0 : mean_gap_ns(class_index);
    for (size_t row = 0; row < rows; ++row) {
      const trace::ClassRow &of = *part.rows[row];
      if (of.depth != 0) continue;
      const timing::GapStats *gaps = trace_.gaps(class_index, of.site);
      all.gap_ns[row] = all.calls[row] * mean;
      if (gaps != nullptr && at_site[of.site] > 0) {
        all.gap_ns[row] = static_cast<double>(gaps->sum) * (all.calls[row] / at_site[of.site]);
      }
    }
  }
  const trace::RowGroups groups(part.rows);
  even_out(part, groups, all.stands, &all.call_ns);
  even_out(part, groups, all.stands, &all.gap_ns);
  std::vector<RowShare> shares(rows);
  for (size_t row = 0; row < rows; ++row) {
    shares[row].many = !is_call(part.rows[row]->kind);
    if (all.stands[row] == 0) continue;
    shares[row].gap = fixed(all.gap_ns[row] / all.stands[row]);
    shares[row].call = fixed(all.call_ns[row] / all.stands[row]);
  }
  return shares;
}

}  // namespace cairn::timeline
