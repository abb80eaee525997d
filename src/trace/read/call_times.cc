#include "trace/read/call_times.h"

#include <algorithm>
#include <utility>

#include "base/as_size.h"
#include "trace/read/trace_body.h"

namespace cairn::trace {

Result<CallTimes> CallTimes::of(const Trace &trace, const SequenceView &sequence) {
  CallTimes times(trace, sequence);
  Result<TimesBytes> bytes = trace.times_bytes(sequence);
  if (!bytes) return tl::unexpected(bytes.error());
  times.bytes_ = *std::move(bytes);
  if (times.bytes_.damage) {
    times.find_in_damaged();
    return times;
  }
  size_t bad = 0;
  if (!timing::find_blocks(times.bytes_.stream, times.bytes_.calls, &times.blocks_, &bad)) {
    return tl::unexpected(trace.times_error(times.bytes_, "is malformed, or of an earlier Cairn: the times of rank " +
                                                              std::to_string(sequence.rank) + ", byte " +
                                                              std::to_string(bad) + " of its stream"));
  }
  return times;
}

/// A block's check says whether it is right, but not how many calls are before it, nor where it begins. Both are sure
/// of blocks before all that are damaged, and, where the whole sequence has times, of those behind. What lies between
/// is taken as one block without bytes.
void CallTimes::find_in_damaged() {
  const ByteView stream = bytes_.stream;
  const uint64_t calls = bytes_.calls;
  size_t bad = stream.size();
  const bool whole = !stream.empty() && timing::find_blocks_from(1, stream, calls, &blocks_, &bad);
  if (whole && count() == calls) return;  // so many calls they have together that none says a wrong number
  size_t sound = 0;
  while (sound < blocks_.size() && decode(sound)) ++sound;
  const Trace::RankInfo info = trace_->rank_info(sequence_.rank);
  const bool all_recorded = info.complete && info.degraded.empty();
  if (whole && sound == blocks_.size() && bytes_.end_is_sure && !all_recorded) return;
  timing::BlockPlace lost;
  lost.first_call = sound == blocks_.size() ? count() : blocks_[sound].first_call;
  lost.offset = sound == blocks_.size() ? bad : blocks_[sound].offset;
  lost.calls = calls - lost.first_call;
  blocks_.resize(sound);
  if (lost.calls == 0) return;
  blocks_.push_back(lost);
  if (!all_recorded || !bytes_.end_is_sure || lost.offset >= stream.size()) return;
  // What looks like a block may not be one.
  constexpr int kMostTries = 16;
  size_t from = lost.offset;
  std::vector<timing::BlockPlace> best;
  for (int i = 0; i < kMostTries; ++i) {
    std::vector<timing::BlockPlace> last = timing::find_last_blocks(from, lost.first_call, stream, calls);
    if (last.empty()) break;
    from = last.front().offset;
    const size_t before = last.size();
    keep_sound_end(&last);
    const size_t kept = last.size();
    if (!last.empty() && (best.empty() || last.front().first_call < best.front().first_call)) best = std::move(last);
    if (kept == before) break;
  }
  if (!best.empty()) blocks_[sound].calls = best.front().first_call - lost.first_call;
  blocks_.insert(blocks_.end(), best.begin(), best.end());
}

/// Leaves the blocks behind the last that is damaged.
void CallTimes::keep_sound_end(std::vector<timing::BlockPlace> *last) {
  const size_t before = blocks_.size();
  blocks_.insert(blocks_.end(), last->begin(), last->end());
  size_t damaged = 0;
  for (size_t i = 0; i < last->size(); ++i) {
    if (!decode(before + i)) damaged = i + 1;
  }
  blocks_.resize(before);
  decoded_ = SIZE_MAX;
  last->erase(last->begin(), last->begin() + static_cast<ptrdiff_t>(damaged));
}

std::vector<Error> CallTimes::damage() {
  std::vector<Error> all;
  for (const timing::BlockPlace &block : blocks_) {
    if (auto time = at(block.first_call); !time) all.push_back(time.error());
  }
  return all;
}

uint64_t CallTimes::count() const { return blocks_.empty() ? 0 : blocks_.back().first_call + blocks_.back().calls; }

timing::StreamSize CallTimes::size() const {
  timing::StreamSize size;
  for (const timing::BlockPlace &block : blocks_) {
    if (!block.bytes.empty()) size.add({1, block.calls, block.bytes.size(), block.clock_error_ns});
  }
  return size;
}

uint64_t CallTimes::first_near(uint64_t ns) const {
  if (bytes_.damage) return 0;
  uint64_t off = 0;  // of an end that is told to lie before a block, and of the begin that is told of the block
  for (const timing::BlockPlace &block : blocks_) off = std::max(off, block.clock_error_ns);
  if (off > ns / 2) return 0;
  const auto after = std::partition_point(
      blocks_.begin(), blocks_.end(), [&](const timing::BlockPlace &block) { return block.begin_ns < ns - 2 * off; });
  return after == blocks_.begin() ? 0 : (after - 1)->first_call;
}

Result<timing::PlacedTime> CallTimes::at(uint64_t call) {
  if (decoded_ == SIZE_MAX || call < blocks_[decoded_].first_call ||
      call - blocks_[decoded_].first_call >= blocks_[decoded_].calls) {
    const auto after = std::upper_bound(blocks_.begin(), blocks_.end(), call,
                                        [](uint64_t wanted, const auto &block) { return wanted < block.first_call; });
    const auto block = static_cast<size_t>(after - blocks_.begin()) - 1;
    if (wrong_ && wrong_->first == block) return tl::unexpected(wrong_->second);
    if (auto decoded = decode(block); !decoded) {
      wrong_ = {block, decoded.error()};
      return tl::unexpected(decoded.error());
    }
  }
  if (call == begin_next_at_) begin_next();
  return times_[as_size(call - blocks_[decoded_].first_call)];
}

void CallTimes::begin_next() {
  begin_next_at_ = UINT64_MAX;
  const size_t block = decoded_ + 1;
  if (block >= blocks_.size() || blocks_[block].bytes.empty()) return;
  Ahead *next = next_.get();
  next->place = blocks_[block];
  const auto work = [next] { next->wrong = next->decoder.decode(next->place, &next->times); };
  if (next->task.begin(work)) next->block = block;
}

Result<void> CallTimes::decode(size_t block) {
  const timing::BlockPlace &place = blocks_[block];
  if (place.bytes.empty()) return wrong("lost", block);
  decoded_ = SIZE_MAX;
  if (next_->task.begun()) next_->task.finish();
  if (std::exchange(next_->block, SIZE_MAX) == block) {
    times_.swap(next_->times);
    if (next_->wrong != nullptr) return wrong(next_->wrong, block);
  } else if (const char *what = next_->decoder.decode(place, &times_)) {
    return wrong(what, block);
  }
  decoded_ = block;
  constexpr uint64_t kPart = 16;  // of a block: who wants few calls does not pay for more
  begin_next_at_ = ahead_ ? place.first_call + place.calls / kPart : UINT64_MAX;
  return {};
}

CallTimes::Decoder::Group CallTimes::Decoder::group_of_next_call() {
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

const char *CallTimes::Decoder::decode(const timing::BlockPlace &place, std::vector<timing::PlacedTime> *times) {
  if (!reader_) reader_.emplace(*trace_, sequence_, false);
  if (next_call_ != place.first_call) reader_->seek(place.first_call);
  next_call_ = place.first_call;
  numbers_.begin_block();
  for (uint64_t i = 0; i < place.calls; ++i) {
    const Group group = group_of_next_call();
    numbers_.add(group.number, 0, group.depth);
  }
  times->clear();
  const timing::BlockCalls calls = numbers_.calls();
  return timing::decode_block(place, calls.groups, times, calls.depths);
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
  if (times->bytes().damage) return tl::unexpected(*times->bytes().damage);
  return all;
}

tl::unexpected<Error> CallTimes::wrong(const char *what, size_t block) const {
  const timing::BlockPlace &place = blocks_[block];
  Error error = trace_->times_error(
      bytes_, std::string("holds times that are ") + what + ": of calls " + std::to_string(place.first_call) + " to " +
                  std::to_string(place.first_call + place.calls - 1) + " of rank " + std::to_string(sequence_.rank) +
                  ", block " + std::to_string(block) + " of " + std::to_string(blocks_.size()));
  error.hint = "other calls and times can be read; cairn verify names all that is damaged";
  return tl::unexpected(std::move(error));
}

}  // namespace cairn::trace
