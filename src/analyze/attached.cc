#include "analyze/attached.h"

#include <algorithm>

#include "spec/ids.h"
#include "trace/values/atom_reader.h"

namespace cairn::analyze {
namespace {

namespace id = spec::function_id;

bool has_attaching(const trace::Trace &trace, uint32_t class_index) {
  const size_t rows = trace.row_counts(class_index).size();
  for (uint32_t row = 0; row < rows; ++row) {
    if (trace.row_head(class_index, row).function == id::Win_attach) return true;
  }
  return false;
}

}  // namespace

std::optional<uint64_t> raw_address(const trace::Field &field) {
  trace::AtomReader atoms(field.atoms);
  const trace::AtomValue kind = atoms.next();
  atoms.next();
  const trace::AtomValue offset = atoms.next();
  if (!kind.special || kind.constant() >= 0 || kind.is(trace::kNull)) return std::nullopt;
  const trace::AtomValue raw = kind.is(trace::kInteger) ? offset : atoms.next();
  if (raw.missing || raw.special) return std::nullopt;
  return static_cast<uint64_t>(raw.value);
}

std::optional<Segment> attached_by(const trace::Row &row, uint32_t thread) {
  constexpr size_t kFields = 4;  // window, base, size, what it returned
  if (row.function != id::Win_attach || row.fields.size() != kFields) return std::nullopt;
  trace::AtomReader base(row.fields[1].atoms);
  trace::AtomReader size(row.fields[2].atoms);
  const auto raw = raw_address(row.fields[1]);
  const trace::AtomValue bytes = size.next();
  if (!raw || bytes.special || bytes.missing || bytes.value < 0) return std::nullopt;
  Segment segment{*raw, static_cast<uint64_t>(bytes.value), base.next().value, base.next().value, base.next().value, 0};
  if (segment.address_class == trace::kStack) segment.thread = thread;
  return segment;
}

bool attaches(const trace::Trace &trace) {
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    if (has_attaching(trace, index)) return true;
  }
  return false;
}

std::vector<Segment> attached_segments(const trace::Trace &trace, uint32_t rank) {
  std::vector<Segment> segments;
  for (const trace::SequenceView &sequence : trace.sequences(rank)) {
    if (!has_attaching(trace, sequence.class_index)) continue;
    for (const trace::CountedRow &counted : trace.counted_rows(sequence)) {
      if (const auto segment = attached_by(counted.row, sequence.thread)) segments.push_back(*segment);
    }
  }
  std::sort(segments.begin(), segments.end());
  segments.erase(std::unique(segments.begin(), segments.end()), segments.end());
  return segments;
}

}  // namespace cairn::analyze
