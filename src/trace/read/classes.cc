// Which classes a trace has, and which ranks are in them.
#include <algorithm>
#include <tuple>

#include "trace/model/row_counts.h"
#include "trace/read/trace.h"
#include "trace/read/trace_body.h"

namespace cairn::trace {

uint32_t Trace::class_count() const { return static_cast<uint32_t>(body_->part->classes.size()); }

ClassView Trace::class_view(uint32_t index) const {
  ClassView view;
  if (index >= class_count()) return view;
  const ClassPart &part = body_->part->classes[index];
  view.thread = part.thread;
  view.segment = part.segment;
  view.ranks = part.ranks.expand();
  view.calls = part.calls.get();
  view.rows = static_cast<uint32_t>(part.rows.size());
  view.counted = has_counted_rows(part);
  return view;
}

const RankSet &Trace::class_ranks(uint32_t index) const { return body_->part->classes[index].ranks; }

uint32_t Trace::class_thread(uint32_t index) const { return body_->part->classes[index].thread; }

std::vector<uint32_t> Trace::classes_of(const std::vector<uint32_t> &ranks) const {
  std::vector<bool> met(class_count());
  std::vector<uint32_t> found;
  for (const uint32_t rank : ranks) {
    for (const auto &[index, member] : body_->places.of(rank, body_->part->classes)) {
      if (!met[index]) found.push_back(index);
      met[index] = true;
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<SequenceView> Trace::sequences(uint32_t rank) const {
  std::vector<SequenceView> result;
  for (const auto &[index, member] : body_->places.of(rank, body_->part->classes)) {
    const ClassPart &part = body_->part->classes[index];
    const Atom begin = part.begin_ns.at(member);
    result.push_back({rank, part.thread, part.segment, index, begin < 0 ? 0 : static_cast<uint64_t>(begin)});
  }
  std::sort(result.begin(), result.end(), [](const SequenceView &a, const SequenceView &b) {
    return std::tuple(a.thread, a.segment, a.class_index) < std::tuple(b.thread, b.segment, b.class_index);
  });
  return result;
}

}  // namespace cairn::trace
