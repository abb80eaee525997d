#include "trace/plain_text.h"

#include <sstream>

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

void write_field(const Field &field, std::ostringstream *out) {
  if (field.is_bytes) {
    *out << " x" << hex(field.bytes);
    return;
  }
  *out << " [";
  for (size_t i = 0; i < field.atoms.size(); ++i) *out << (i == 0 ? "" : " ") << field.atoms[i];
  *out << "]";
}

void write_sequence(const Trace &trace, const SequenceView &view, std::ostringstream *out) {
  const ClassView shared = trace.class_view(view.class_index);
  *out << " sequence " << view.thread << " " << view.segment << " begin " << view.begin_ns << " calls "
       << shared.calls->length() << ":";
  for (const uint32_t symbol : shared.calls->expand()) *out << " " << symbol;
  *out << "\n";
  const std::vector<Site> sites = trace.sites(view.class_index);
  for (size_t s = 1; s < sites.size(); ++s) {
    *out << "  site " << s << " " << hex(trace.modules()[sites[s].module].build_id) << " " << sites[s].offset;
    if (const auto source = trace.source(sites[s])) {
      *out << " " << source->function << " " << source->file << ":" << source->line;
    }
    *out << "\n";
  }
  for (uint32_t r = 0; r < shared.rows; ++r) {
    const Row row = trace.row(view.class_index, r, view.rank);
    *out << "  row " << row.function << " " << row.site << " " << row.depth;
    for (const Field &field : row.fields) write_field(field, out);
    *out << "\n";
    if (const auto stats = trace.row_stats(view.class_index, r)) {
      *out << "   stats " << stats->calls.count << " " << stats->calls.sum << " " << stats->calls.minimum << " "
           << stats->calls.maximum << " " << stats->ranks << " " << stats->least_sum << " " << stats->greatest_sum
           << " " << stats->greatest_rank;
      for (int b = 0; b < CallStats::kBuckets; ++b) {
        const uint64_t count = stats->calls.histogram[static_cast<size_t>(b)];
        if (count != 0) *out << " " << b << ":" << count;
      }
      *out << "\n";
    }
  }
  if (const auto times = trace.times(view); times && !times->empty()) {
    *out << "  times";
    for (const Trace::CallTime &time : *times) *out << " " << time.gap << "+" << time.duration;
    *out << "\n";
  }
  if (const auto tickets = trace.tickets(view); !tickets.empty()) {
    *out << "  tickets";
    for (const uint64_t ticket : tickets) *out << " " << ticket;
    *out << "\n";
  }
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
  for (const uint32_t rank : trace.ranks()) {
    const Trace::RankInfo info = trace.rank_info(rank);
    out << "rank " << rank << " " << info.host << "|" << info.degraded << "|" << info.complete << " " << info.wall_ns
        << " " << info.mpi_ns << " " << info.peak_memory << "\n";
    for (const SequenceView &view : trace.sequences(rank)) write_sequence(trace, view, &out);
  }
  return out.str();
}

}  // namespace cairn::trace
