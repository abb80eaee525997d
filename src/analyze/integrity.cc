#include "analyze/integrity.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analyze/communicator_ids.h"
#include "analyze/decode.h"
#include "base/in_order.h"
#include "trace/read/call_times.h"
#include "trace/read/events.h"

namespace cairn::analyze {
namespace {

void add_fault(Integrity *result, std::string text) {
  constexpr size_t kKept = 20;
  ++result->fault_count;
  if (result->faults.size() < kKept) result->faults.push_back(std::move(text));
}

/// What one rank holds.
class RankChecker {
 public:
  RankChecker(const trace::Trace &trace, const Decoder &decoder) : trace_(trace), decoder_(decoder) {}
  Integrity run(uint32_t rank) {
    check_rank(rank);
    return std::move(result_);
  }

 private:
  void fault(std::string text) { add_fault(&result_, std::move(text)); }

  void check_call(uint32_t index, uint32_t rank, const trace::CountedRow &counted) {
    const auto &[row, number, count] = counted;
    const Call call = decoder_.decode(index, row);
    ++result_.rows;
    result_.values += call.arguments.size();
    const trace::Row head = trace_.row_head(index, number);
    if (row.function != head.function || row.site != head.site || row.depth != head.depth) {
      fault(fmt::format("class {}: row {} of rank {} is another call than its class's", index, number, rank));
    }
    if (call.malformed) {
      fault(fmt::format("class {}: row {} of rank {} cannot be decoded: {}", index, number, rank, call_text(call)));
    }
  }

  void check_rank(uint32_t rank) {
    CommunicatorIds communicators;
    bool damaged = false;  // its block: said once
    for (const trace::SequenceView &sequence : trace_.sequences(rank)) {
      uint64_t length = 0;
      for (const uint64_t count : trace_.row_counts(sequence)) length += count;
      const std::string where = fmt::format("rank {}, thread {}", rank, sequence.thread);
      uint64_t counted = 0;
      for (const trace::CountedRow &call : trace_.counted_rows(sequence)) {
        check_call(sequence.class_index, rank, call);
        communicators.add(call.row, call.count);
        counted += call.count;
      }
      if (counted != length) fault(fmt::format("{}: values of {} calls, but it made {}", where, counted, length));
      auto times = trace::CallTimes::of(trace_, sequence);
      if (!times) {
        fault(fmt::format("{}: {}", where, times.error().message));
      } else {
        const trace::TimesBytes &bytes = times->bytes();
        if (bytes.in_block && bytes.damage && !std::exchange(damaged, true)) fault(bytes.damage->message);
        for (const Error &error : times->damage()) fault(fmt::format("{}: {}", where, error.message));
        if (times->count() != 0 && times->count() != length) {
          fault(fmt::format("{}: {} times of {} calls", where, times->count(), length));
        }
      }
      const auto tickets = trace_.tickets(sequence);
      if (!tickets.empty() && tickets.size() != length) {
        fault(fmt::format("{}: {} tickets of {} calls", where, tickets.size(), length));
      }
    }
    for (const std::string &line : communicators.repeated(trace_.rank_info(rank).degraded.empty())) {
      fault(fmt::format("rank {}: {}", rank, line));
    }
  }

  const trace::Trace &trace_;
  const Decoder &decoder_;
  Integrity result_;
};

class Checker {
 public:
  explicit Checker(const trace::Trace &trace)
      : trace_(trace),
        ranks_(trace.ranks()),
        sources_(trace, Sources::Look::in_trace_only),
        decoder_(trace, sources_) {}

  Integrity run() {
    if (trace_.damage()) fault(trace_.damage()->message);
    for (uint32_t index = 0; index < trace_.class_count(); ++index) check_class(index);
    in_order(
        ranks_.size(), [&](size_t i) { return RankChecker(trace_, decoder_).run(ranks_[i]); },
        [&](size_t, Integrity &&rank) {
          result_.rows += rank.rows;
          result_.values += rank.values;
          for (std::string &text : rank.faults) fault(std::move(text));
          result_.fault_count += rank.fault_count - rank.faults.size();
          return true;
        });
    return std::move(result_);
  }

 private:
  void fault(std::string text) { add_fault(&result_, std::move(text)); }

  void check_class(uint32_t index) {
    const trace::ClassView view = trace_.class_view(index);
    for (const uint64_t count : trace_.row_counts(index)) result_.calls += count;
    if (view.ranks.empty()) fault(fmt::format("class {}: it has no ranks", index));
    if (!std::is_sorted(view.ranks.begin(), view.ranks.end()))
      fault(fmt::format("class {}: ranks out of order", index));
    for (const uint32_t rank : view.ranks) {
      if (!std::binary_search(ranks_.begin(), ranks_.end(), rank)) {
        fault(fmt::format("class {}: its rank {} is not in the trace", index, rank));
      }
    }
    const auto multiplicities = view.calls->multiplicities();
    if (multiplicities.size() > view.rows) {
      fault(fmt::format("class {}: calls of row {}, but only {} rows", index, multiplicities.size() - 1, view.rows));
    }
    const size_t sites = trace_.sites(index).size();
    const auto rows = trace::structure_of(trace_, index).rows;
    for (size_t row = 0; row < rows.size(); ++row) {
      const uint32_t site = rows[row].site;
      if (site == 0 || site < sites) continue;
      fault(fmt::format("class {}: row {} is of call site {}, but only {} are known", index, row, site, sites));
    }
  }

  const trace::Trace &trace_;
  std::vector<uint32_t> ranks_;
  Sources sources_;
  Decoder decoder_;
  Integrity result_;
};

}  // namespace

Integrity check_integrity(const trace::Trace &trace) { return Checker(trace).run(); }

}  // namespace cairn::analyze
