// How often ranks of a Trace called, from the counts of rows.
#include "trace/model/row_counts.h"
#include "trace/read/trace_body.h"

namespace cairn::trace {

std::vector<uint64_t> Trace::row_counts(uint32_t class_index) const {
  if (class_index >= class_count()) return {};
  return trace::row_counts(body_->part->classes[class_index]);
}

std::vector<uint64_t> Trace::row_counts(const SequenceView &sequence) const {
  if (sequence.class_index >= class_count()) return {};
  const ClassPart &part = body_->part->classes[sequence.class_index];
  if (!part.ranks.index_of(sequence.rank)) return {};
  return row_counts_of(part, sequence.rank);
}

uint64_t Trace::call_count(uint32_t rank) const {
  uint64_t calls = 0;
  for (const SequenceView &sequence : sequences(rank)) {
    for (const uint64_t count : row_counts(sequence)) calls += count;
  }
  return calls;
}

double Trace::mean_gap_ns(uint32_t rank) const {
  const uint64_t calls = call_count(rank);
  const RankInfo info = rank_info(rank);
  if (calls == 0 || info.wall_ns <= info.mpi_ns) return 0;
  return static_cast<double>(info.wall_ns - info.mpi_ns) / static_cast<double>(calls);
}

bool Trace::has_threads(uint32_t rank) const {
  const std::vector<SequenceView> all = sequences(rank);  // in order of threads
  return !all.empty() && all.front().thread != all.back().thread;
}

}  // namespace cairn::trace
