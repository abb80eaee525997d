#include "trace/testing/plain_text.h"

#include <map>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "trace/read/call_reader.h"
#include "trace/read/call_times.h"

namespace cairn::trace {
namespace {

std::string hex(const Bytes &bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string call_text(const Row &row) {
  std::ostringstream out;
  out << row.function << " " << row.site << " " << row.depth;
  for (const Field &field : row.fields) {
    if (field.is_bytes) {
      out << " x" << hex(field.bytes);
      continue;
    }
    out << " [";
    for (size_t i = 0; i < field.atoms.size(); ++i) out << (i == 0 ? "" : " ") << field.atoms[i];
    out << "]";
  }
  return out.str();
}

/// The calls of a sequence, numbered by what they are: two rows of a class may be the same call on one rank.
struct NumberedCalls {
  std::vector<size_t> order;
  std::vector<std::string> texts;                 ///< by number
  std::vector<std::pair<uint32_t, size_t>> rows;  ///< of the class, with the number of its first call, in that order

  NumberedCalls(const Trace &trace, const SequenceView &view) {
    CallReader reader(trace, view);
    std::vector<size_t> numbers;  // by the reader's
    std::map<std::string, size_t> known;
    std::set<uint32_t> rows_met;
    for (grammar::Symbol call = reader.next(); call != grammar::kNoSymbol; call = reader.next()) {
      if (call == numbers.size()) {
        const auto [place, fresh] = known.emplace(call_text(reader.call(call)), texts.size());
        if (fresh) texts.push_back(place->first);
        numbers.push_back(place->second);
        const uint32_t row = reader.class_row(call);
        if (rows_met.insert(row).second) rows.emplace_back(row, place->second);
      }
      order.push_back(numbers[call]);
    }
  }
};

void write_statistics(const RowStats &stats, std::ostringstream *out) {
  *out << stats.calls.count << " " << stats.calls.sum << " " << stats.calls.minimum << " " << stats.calls.maximum;
  if (!stats.sums_are_estimates) {
    *out << " " << stats.ranks << " " << stats.least_sum << " of " << stats.least_rank << " " << stats.greatest_sum
         << " of " << stats.greatest_rank;
  }
  for (int b = 0; b < timing::CallStats::kBuckets; ++b) {
    const uint64_t count = stats.calls.histogram[static_cast<size_t>(b)];
    if (count != 0) *out << " " << b << ":" << count;
  }
}

void write_sequence(const Trace &trace, const SequenceView &view, std::ostringstream *out) {
  const NumberedCalls calls(trace, view);
  *out << " sequence " << view.thread << " " << view.segment << " begin " << view.begin_ns << " calls "
       << calls.order.size() << ":";
  for (const size_t number : calls.order) *out << " " << number;
  *out << "\n";
  const std::vector<Site> sites = trace.sites(view.class_index);
  for (size_t s = 1; s < sites.size(); ++s) {
    *out << "  site " << s << " " << hex(trace.modules()[sites[s].module].build_id) << " " << sites[s].offset;
    if (const auto source = trace.source(sites[s])) {
      *out << " " << source->function << " " << source->file << ":" << source->line;
      if (const Source *jump = source->tail_call.get()) {
        *out << " jumps " << jump->function << " " << jump->file << ":" << jump->line;
      }
    }
    if (const timing::GapStats *gaps = trace.gaps(view.class_index, static_cast<uint32_t>(s))) {
      *out << " gaps " << gaps->sum;
      for (const timing::Histogram::Bucket &bucket : gaps->histogram.buckets()) {
        *out << " " << unsigned{bucket.number} << ":" << bucket.count;
      }
    }
    for (uint32_t caller = sites[s].caller; caller != 0; caller = trace.all_sites()[caller - 1].caller) {
      const Site &frame = trace.all_sites()[caller - 1];
      *out << " < " << hex(trace.modules()[frame.module].build_id) << " " << frame.offset;
    }
    *out << "\n";
  }
  for (const std::string &text : calls.texts) *out << "  call " << text << "\n";
  for (const auto &[row, number] : calls.rows) {
    const auto stats = trace.row_stats(view.class_index, row);
    if (!stats) continue;
    *out << "  stats " << number << ": ";
    write_statistics(*stats, out);
    *out << "\n";
  }
  if (const auto times = all_times(trace, view); times && !times->empty()) {
    *out << "  times";
    for (const timing::CallTime &time : *times) *out << " " << time.gap << "+" << time.duration;
    *out << "\n";
  }
  if (const auto heap = trace.heap(view)) {
    *out << "  heap";
    for (const grammar::Symbol event : heap->order->expand()) {
      const HeapEvent &each = heap->events[event];
      *out << " " << each.calls << ":" << each.number;
      if (!each.ends()) *out << "=" << each.bytes;
    }
    *out << "\n";
  }
  if (const auto tickets = trace.tickets(view); !tickets.empty()) {
    *out << "  tickets";
    for (const uint64_t ticket : tickets) *out << " " << ticket;
    *out << "\n";
  }
}

void write_knots(const char *name, const Knots &knots, std::ostringstream *out) {
  *out << "  shift " << name << " ";
  const char *between = "";
  for (const Knot &knot : knots.all()) *out << std::exchange(between, " ") << knot.at_ns << "+" << knot.shift_ns;
  *out << "\n";
}

}  // namespace

std::string plain_text(const Trace &trace) {
  std::ostringstream out;
  const RunInfo &run = trace.run();
  out << "run " << run.command << "|" << run.mpi << "|" << run.recorder << "|" << run.timing << "|" << run.status << "|"
      << run.start_unix_ns << "|" << run.wall_ns << "|" << trace.rank_count() << "\n";
  if (run.merge.ranks != 0) {
    out << "merge " << run.merge.ranks << " " << run.merge.sum_ns << " " << run.merge.most_ns << "\n";
  }
  if (!run.job.empty()) out << "job " << run.job << " " << run.spawned_by << "\n";
  for (const Job &job : run.jobs) {
    out << "job of rank " << job.first << " " << job.command << "|" << (job.spawned_by ? *job.spawned_by + 1 : 0) << "|"
        << job.parent << "\n";
  }
  for (const uint32_t rank : trace.ranks()) {
    const Trace::RankInfo info = trace.rank_info(rank);
    out << "rank " << rank << " " << info.host << "|" << info.degraded << "|" << info.complete << " " << info.wall_ns
        << " " << info.mpi_ns << " " << info.peak_memory << "\n";
    if (info.clock.uncertainty_ns != RankClock::kNone) {
      out << "  clock " << info.clock.begin_unix_ns << " " << info.clock.drift_ns << " " << info.clock.uncertainty_ns
          << "\n";
    }
    if (const RankShift *shift = trace.place_on_axis(rank).shift) {
      write_knots("after", shift->after, &out);
      write_knots("before", shift->before, &out);
    }
    for (const uint32_t function : trace.summed_functions()) {
      out << "  sum " << function << " " << trace.function_ns(rank, function).value_or(0) << "\n";
    }
    for (const SequenceView &view : trace.sequences(rank)) write_sequence(trace, view, &out);
  }
  return out.str();
}

}  // namespace cairn::trace
