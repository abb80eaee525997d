#include "trace/model/record_times.h"

#include <map>

#include "timing/group_numbers.h"

namespace cairn::trace {
namespace {

std::vector<uint32_t> groups_of(const SequenceRecord &sequence) {
  std::map<RowGroup, uint32_t> numbers;
  std::vector<uint32_t> of_row;
  for (const Bytes &row : sequence.rows) {
    of_row.push_back(numbers.try_emplace(group_of_row(row), static_cast<uint32_t>(numbers.size())).first->second);
  }
  std::vector<uint32_t> groups = sequence.calls.expand();
  for (uint32_t &each : groups) each = of_row[each];
  return groups;
}

}  // namespace

RowGroup group_of_row(ByteView packed_row) {
  ByteReader in(packed_row);
  RowGroup group;
  group.function = in.varint();
  group.site = in.varint();
  group.depth = in.varint();
  return group;
}

Bytes coded_times(const SequenceRecord &sequence, std::vector<timing::CallTime> times, const timing::Mode &mode,
                  uint64_t bound) {
  timing::StreamSize size;
  const std::vector<uint64_t> bounds(sequence.rows.size(), bound);
  return timing::encode_stream(mode, groups_of(sequence), bounds, std::move(times), &size);
}

Bytes exact_times(const SequenceRecord &sequence, std::vector<timing::CallTime> times) {
  return coded_times(sequence, std::move(times), *timing::mode_named("lossless"), 0);
}

std::optional<std::vector<timing::CallTime>> read_times(const SequenceRecord &sequence) {
  const std::vector<uint32_t> groups = groups_of(sequence);
  std::vector<timing::BlockPlace> blocks;
  size_t bad = 0;
  if (!timing::find_blocks(sequence.times, groups.size(), &blocks, &bad)) return std::nullopt;
  timing::GroupNumbers numbers;
  std::vector<timing::PlacedTime> placed;
  for (const timing::BlockPlace &block : blocks) {
    numbers.begin_block();
    for (uint64_t i = 0; i < block.calls; ++i) numbers.add(groups[block.first_call + i]);
    if (timing::decode_block(block, numbers.calls().groups, &placed) != nullptr) return std::nullopt;
  }
  std::vector<timing::CallTime> times;
  times.reserve(placed.size());
  for (const timing::PlacedTime &each : placed) times.push_back(each.time);
  return times;
}

}  // namespace cairn::trace
