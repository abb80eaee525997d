#include "timing/rank_times.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace cairn::timing {

void merge(RankTimes *left, RankTimes right) {
  const auto middle = static_cast<ptrdiff_t>(left->size());
  std::move(right.begin(), right.end(), std::back_inserter(*left));
  std::inplace_merge(left->begin(), left->begin() + middle, left->end(),
                     [](const TimesOfRank &a, const TimesOfRank &b) { return a.rank < b.rank; });
}

const Bytes *stream_of(const RankTimes &times, uint32_t rank) {
  const auto found = std::lower_bound(times.begin(), times.end(), rank,
                                      [](const TimesOfRank &entry, uint32_t wanted) { return entry.rank < wanted; });
  return found != times.end() && found->rank == rank ? &found->stream : nullptr;
}

void write(const RankTimes &times, ByteWriter &out) {
  out.varint(times.size());
  uint32_t next = 0;
  for (const TimesOfRank &each : times) {
    out.varint(each.rank - next);
    out.blob(each.stream);
    next = each.rank + 1;
  }
}

RankTimes parse_rank_times(ByteReader &in) {
  const size_t count = in.count(2);
  if (!in.take(count, sizeof(TimesOfRank))) return {};
  RankTimes times(count);
  uint64_t next = 0;
  for (TimesOfRank &each : times) {
    next += in.varint();
    const ByteView bytes = in.blob();
    if (next > UINT32_MAX) in.fail();
    if (!in.take(bytes.size() + sizeof(TimesOfRank))) break;
    each = {static_cast<uint32_t>(next), Bytes(bytes.begin(), bytes.end())};
    ++next;
  }
  return times;
}

}  // namespace cairn::timing
