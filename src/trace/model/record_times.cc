#include "trace/model/record_times.h"

#include <map>

#include "base/as_size.h"
#include "timing/group_numbers.h"

namespace cairn::trace {
namespace {

struct Groups {
  std::vector<uint32_t> of_call;
  std::vector<uint32_t> depths;  ///< of each group
};

Groups groups_of(const SequenceRecord &sequence) {
  std::map<RowGroup, uint32_t> numbers;
  std::vector<uint32_t> of_row;
  Groups groups;
  for (const Bytes &row : sequence.rows) {
    const RowGroup group = group_of_row(row);
    const auto [number, added] = numbers.try_emplace(group, static_cast<uint32_t>(numbers.size()));
    if (added) groups.depths.push_back(static_cast<uint32_t>(group.depth));
    of_row.push_back(number->second);
  }
  groups.of_call = sequence.calls.expand();
  for (uint32_t &each : groups.of_call) each = of_row[each];
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
  const Groups groups = groups_of(sequence);
  return timing::encode_stream(mode, groups.of_call, bounds, std::move(times), &size, groups.depths);
}

Bytes exact_times(const SequenceRecord &sequence, std::vector<timing::CallTime> times) {
  return coded_times(sequence, std::move(times), *timing::mode_named("lossless"), 0);
}

std::optional<std::vector<timing::CallTime>> read_times(const SequenceRecord &sequence) {
  const Groups groups = groups_of(sequence);
  std::vector<timing::BlockPlace> blocks;
  size_t bad = 0;
  if (!timing::find_blocks(sequence.times, groups.of_call.size(), &blocks, &bad)) return std::nullopt;
  timing::GroupNumbers numbers;
  std::vector<timing::PlacedTime> placed;
  for (const timing::BlockPlace &block : blocks) {
    numbers.begin_block();
    for (uint64_t i = 0; i < block.calls; ++i) {
      const uint32_t group = groups.of_call[as_size(block.first_call + i)];
      numbers.add(group, 0, groups.depths[group]);
    }
    const timing::BlockCalls calls = numbers.calls();
    if (timing::decode_block(block, calls.groups, &placed, calls.depths) != nullptr) return std::nullopt;
  }
  std::vector<timing::CallTime> times;
  times.reserve(placed.size());
  for (const timing::PlacedTime &each : placed) times.push_back(each.time);
  return times;
}

}  // namespace cairn::trace
