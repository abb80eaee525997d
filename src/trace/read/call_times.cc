#include "trace/read/call_times.h"

#include <algorithm>

#include "trace/read/trace_body.h"

namespace cairn::trace {

Result<CallTimes> CallTimes::of(const Trace &trace, const SequenceView &sequence) {
  CallTimes times(trace, sequence);
  Result<TimesBytes> bytes = trace.times_bytes(sequence);
  if (!bytes) return tl::unexpected(bytes.error());
  times.bytes_ = *std::move(bytes);
  size_t bad = 0;
  if (!timing::find_blocks(times.bytes_.stream, times.bytes_.calls, &times.blocks_, &bad)) {
    return tl::unexpected(trace.times_error(times.bytes_, "is malformed, or of an earlier Cairn: the times of rank " +
                                                              std::to_string(sequence.rank) + ", byte " +
                                                              std::to_string(bad) + " of its stream"));
  }
  return times;
}

uint64_t CallTimes::count() const { return blocks_.empty() ? 0 : blocks_.back().first_call + blocks_.back().calls; }

timing::StreamSize CallTimes::size() const {
  timing::StreamSize size;
  for (const timing::BlockPlace &block : blocks_) {
    size.add({1, block.calls, block.bytes.size(), block.clock_error_ns});
  }
  return size;
}

Result<timing::PlacedTime> CallTimes::at(uint64_t call) {
  if (decoded_ == SIZE_MAX || call < blocks_[decoded_].first_call ||
      call - blocks_[decoded_].first_call >= blocks_[decoded_].calls) {
    const auto after = std::upper_bound(blocks_.begin(), blocks_.end(), call,
                                        [](uint64_t wanted, const auto &block) { return wanted < block.first_call; });
    const auto block = static_cast<size_t>(after - blocks_.begin()) - 1;
    if (auto decoded = decode(block); !decoded) return tl::unexpected(decoded.error());
  }
  return times_[call - blocks_[decoded_].first_call];
}

CallTimes::Group CallTimes::group_of_next_call() {
  const grammar::Symbol call = reader_->next();
  ++next_call_;
  if (call == grammar::kNoSymbol) return {0, 0};  // counted otherwise: the block's check tells
  if (call >= group_of_call_.size()) group_of_call_.resize(call + 1);
  Group &group = group_of_call_[call];
  if (group.number == UINT32_MAX) {
    const Row &row = reader_->call(call);
    const auto next = static_cast<uint32_t>(groups_.size());
    group = {groups_.try_emplace(group_of_row(row), next).first->second, row.depth};
  }
  return group;
}

Result<void> CallTimes::decode(size_t block) {
  const timing::BlockPlace &place = blocks_[block];
  if (!reader_ || place.first_call < next_call_) {
    reader_.emplace(*trace_, sequence_);
    group_of_call_.clear();
    next_call_ = 0;
  }
  while (next_call_ < place.first_call) group_of_next_call();
  numbers_.begin_block();
  for (uint64_t i = 0; i < place.calls; ++i) {
    const Group group = group_of_next_call();
    numbers_.add(group.number, 0, group.depth);
  }
  times_.clear();
  decoded_ = SIZE_MAX;
  const timing::BlockCalls calls = numbers_.calls();
  if (const char *what = timing::decode_block(place, calls.groups, &times_, calls.depths)) return wrong(what, block);
  decoded_ = block;
  return {};
}

Result<std::vector<timing::CallTime>> all_times(const Trace &trace, const SequenceView &sequence) {
  Result<CallTimes> times = CallTimes::of(trace, sequence);
  if (!times) return tl::unexpected(times.error());
  std::vector<timing::CallTime> all;
  for (uint64_t call = 0; call < times->count(); ++call) {
    const Result<timing::PlacedTime> placed = times->at(call);
    if (!placed) return tl::unexpected(placed.error());
    all.push_back(placed->time);
  }
  return all;
}

tl::unexpected<Error> CallTimes::wrong(const char *what, size_t block) const {
  const timing::BlockPlace &place = blocks_[block];
  return tl::unexpected(trace_->times_error(
      bytes_, std::string("holds times that are ") + what + ": of calls " + std::to_string(place.first_call) + " to " +
                  std::to_string(place.first_call + place.calls - 1) + " of rank " + std::to_string(sequence_.rank) +
                  ", block " + std::to_string(block) + " of " + std::to_string(blocks_.size())));
}

}  // namespace cairn::trace
