// Where a warp's events go: its head, its coder's state, and chunks of words from a pool that the launch shares.
//
// The memory of a launch belongs to the host, which makes it, hands it to the kernel and takes what is in it when the
// kernel has ended. A warp writes its own head and chunks only; what warps share is the pool's cursor. Policies:
//
//   stop   chunks double from 16 to 1,024 words and are linked. When the pool is used up a warp keeps its beginning and
//          counts what it loses.
//   ring   a warp has N chunks of one size for itself and begins the oldest anew; each is decodable alone.
//   drain  a warp has one chunk, which goes to the host whenever it is full (drain.h). A warp that could not send it
//          keeps its beginning and counts what it loses.
//
// Chunks and not an array for each warp, since most warps of an irregular program write little and a few write much:
// equal shares lose the end of those and leave most of the memory unused. Chunks double so that a short stream wastes
// little and a long one asks the shared cursor seldom, which is one atomic addition a chunk. The first chunk is the
// warp's own, of `own` words, and needs none (lanes.h says what atomics do to a warp).
//
// Before an event is coded, room for the largest one and for the stream's end is made sure of; so what is counted as
// recorded is always whole.
#pragma once

#include "bits.h"
#include "collect.h"
#include "drain.h"
#include "guesses.h"
#include "hot_word.h"
#include "values.h"

namespace cairn::gpu {

enum class Policy : uint32_t { stop, ring, drain };

/// What a kernel is given, by value as its last parameter. An empty one: not traced.
struct Buffers;
struct Trace {
  Buffers *buffers = nullptr;
};

struct Buffers {
  void *warps;              ///< Warp<Coder>, one for each traced warp
  void *values;             ///< WarpValues, likewise; null if the program has no locations with values
  cairn_gpu_clock *clocks;  ///< likewise; null if the launch is traced without
  uint32_t clocks_only;     ///< nothing else of a warp is recorded
  uint32_t *words;          ///< the pool
  uint32_t capacity;        ///< in words
  uint32_t own;             ///< stop: so many words at its beginning are each warp's first chunk; 0: none
  unsigned int used;        ///< words given out; may run past the capacity
  Policy policy;
  uint32_t location_bits;  ///< 8 or 16
  uint32_t warps_per_block;
  uint32_t warp_count;  ///< in `warps`
  // The filter: blocks in [first_block, end_block), and of their warps one in `one_in`.
  uint32_t first_block;
  uint32_t end_block;
  uint32_t one_in;
  uint32_t ring_words;    ///< of a chunk
  uint32_t ring_chunks;   ///< of a warp
  unsigned int gathered;  ///< words that `gather` has placed
  DrainRing drain;
  Guesses guesses;  ///< what every warp starts from
};

/// The most words that a launch can have: warps may run past them by one chunk each.
constexpr uint64_t kMostWords = UINT32_MAX - (uint64_t{1} << 26);

/// Stands in front of a chunk's words.
struct Chunk {
  uint32_t next;    ///< stop: where the next chunk begins, 0 if there is none. ring: 1 + which chunk of the warp it is
  uint32_t words;   ///< stop: that follow. ring: that are used
  uint32_t events;  ///< ring: in this chunk
  uint32_t unused;
};
constexpr uint32_t kChunkHead = sizeof(Chunk) / sizeof(uint32_t);
static_assert(kDrainChunk == kChunkHead + kDrainWords, "a chunk of its own has a head, too");

constexpr uint32_t kFirstChunk = 32;
constexpr uint32_t kLargestChunk = 1024;
constexpr uint32_t kMostOwn = 1024;

/// Gives a launch its words, of which there is one at least.
inline void give_words(Buffers &buffers, uint32_t *words, uint32_t capacity) {
  buffers.words = words;
  buffers.capacity = capacity;
  buffers.own = 0;
  if (buffers.policy == Policy::stop) {  // half of them are everybody's own, as far as they are worth having
    const uint32_t share = (capacity - kChunkHead) / 2 / buffers.warp_count / 4 * 4;
    buffers.own = share < kFirstChunk ? 0 : share < kMostOwn ? share : kMostOwn;
  }
  buffers.used = kChunkHead + buffers.own * buffers.warp_count;
}

/// What is seldom needed of a warp.
template <typename Mask>
struct WarpHead {
  uint64_t lost;  ///< events that were not recorded, for want of room
  Buffers *buffers;
  cairn_gpu_clock *clock;  ///< null: the launch is traced without
  Mask all;                ///< lanes that were alive when the kernel began
  uint32_t open;           ///< it has begun, and not left its LiveWarp here
  uint32_t first;          ///< chunk, as a place in the pool; 0: none yet
  uint32_t current;
  uint32_t following;  ///< stop: the chunk after `current`, if it is there already; there may be one after it
  uint32_t chunks;     ///< begun so far
  uint32_t index;      ///< of the warp in the grid
};

/// Where the next word goes.
struct Room {
  uint32_t at;
  uint32_t end;     ///< of the current chunk
  uint32_t beyond;  ///< words in the chunks after it that are there already
  [[nodiscard]] CAIRN_GPU_BOTH uint32_t words() const { return end - at + beyond; }
};

/// A warp in the launch's memory.
template <typename Coder>
struct Warp {
  WarpHead<LaneMask> head;
  // What LiveWarp has while the warp is under way.
  uint64_t events;
  Room room;
  typename Coder::State state;

  typename Coder::Tables tables;
};

/// What nearly every event of a warp changes. It stands in the block's shared memory while lanes of the warp are in the
/// kernel: a GPU's caches forget what is stored to, so that a state in memory costs a way to the second level at each
/// event, some 2,000 cycles (measured on an H200). The last lane to leave the kernel takes it home (save_warp).
template <typename Coder>
struct LiveWarp {
  Warp<Coder> *home;  ///< null: the warp's events are not recorded
  HotWord<LaneMask> hot;
  Turns turns;
  LaneMask alive;  ///< lanes that may come to a point: with all of them there, nobody else is
  LaneMask left;   ///< lanes that have left the kernel
  union {
    uint64_t events;              ///< recorded
    cairn_gpu_clock *only_clock;  ///< where there is no home, and null if there is no clock either
  };
  Room room;
  uint32_t quick;  ///< events that are as predicted need no room: not a ring, and nothing was lost
  typename Coder::State state;
};

CAIRN_GPU_BOTH uint32_t take_words(Buffers &buffers, uint32_t count) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  if (*static_cast<volatile unsigned int *>(&buffers.used) >= buffers.capacity) return 0;
  const unsigned int at = atomicAdd(&buffers.used, count);
#else
  const unsigned int at = buffers.used;
  if (at >= buffers.capacity) return 0;
  buffers.used += count;
#endif
  // The cursor starts at 4, so that 0 is no place.
  return at + count <= buffers.capacity ? at : 0;
}

/// A coder's Out.
class ChunkWriter {
 public:
  CAIRN_GPU_BOTH ChunkWriter(WarpHead<LaneMask> &head, Room &room, Buffers &buffers)
      : head_(head), room_(room), buffers_(buffers), words_(buffers.words) {}

  CAIRN_GPU_BOTH void word(uint32_t value) {
    if (room_.at == room_.end) advance();
    words_[room_.at++] = value;
  }

  /// Room for `most` words. False: there is none, and nothing may be written.
  CAIRN_GPU_BOTH bool reserve(uint32_t most) {
    if (room_.words() >= most) return true;
    uint32_t last = head_.current;
    CAIRN_GPU_ROLLED for (uint32_t next = head_.following; next != 0; next = at(next).next) last = next;
    uint32_t size = kFirstChunk << head_.chunks;
    if (head_.chunks > 5 || size > kLargestChunk) size = kLargestChunk;
    while (size < most + kChunkHead || size < buffers_.own) size *= 2;
    const uint32_t place = take_words(buffers_, size);
    if (place == 0) return false;
    add_chunk(place, size, last);
    return true;
  }

  /// At `place`, of `size` words with its head, after chunk `last`.
  CAIRN_GPU_BOTH void add_chunk(uint32_t place, uint32_t size, uint32_t last) {
    Chunk &chunk = at(place);
    chunk.next = 0;
    chunk.words = size - kChunkHead;
    ++head_.chunks;
    if (head_.current == 0) {
      head_.first = head_.current = place;
      room_ = {place + kChunkHead, place + size, 0};
    } else {
      room_.beyond += size - kChunkHead;
      at(last).next = place;
      if (head_.following == 0) head_.following = place;
    }
  }

  CAIRN_GPU_BOTH Chunk &at(uint32_t place) { return *reinterpret_cast<Chunk *>(words_ + place); }

 private:
  CAIRN_GPU_BOTH void advance() {
    head_.current = head_.following;
    head_.following = at(head_.current).next;
    room_.at = head_.current + kChunkHead;
    room_.end = room_.at + at(head_.current).words;
    room_.beyond -= at(head_.current).words;
  }

  WarpHead<LaneMask> &head_;
  Room &room_;
  Buffers &buffers_;
  uint32_t *words_;
};

/// Which of those that are traced a warp is.
template <typename Coder>
CAIRN_GPU_BOTH uint32_t number_of(const Warp<Coder> &warp, const Buffers &buffers) {
  return static_cast<uint32_t>(&warp - static_cast<const Warp<Coder> *>(buffers.warps));
}
/// nullptr if the launch has no values.
template <typename Coder>
CAIRN_GPU_BOTH WarpValues<LaneMask> *values_of(const Warp<Coder> &warp) {
  const Buffers &buffers = *warp.head.buffers;
  if (buffers.values == nullptr) return nullptr;
  return static_cast<WarpValues<LaneMask> *>(buffers.values) + number_of(warp, buffers);
}

/// Closes the ring's current chunk: it becomes decodable.
template <typename Coder>
CAIRN_GPU_BOTH void close_chunk(WarpHead<LaneMask> &head, Room &room, typename Coder::State &state, Buffers &buffers) {
  ChunkWriter out(head, room, buffers);
  Coder::end(state, out);
  out.at(head.current).words = room.at - head.current - kChunkHead;
}

/// Makes room in the ring, in the oldest chunk if need be.
template <typename Coder>
CAIRN_GPU_BOTH void turn_ring(LiveWarp<Coder> &live, Buffers &buffers) {
  Warp<Coder> &warp = *live.home;
  WarpHead<LaneMask> &head = warp.head;
  if (head.current != 0) {
    close_chunk<Coder>(head, live.room, live.state, buffers);
    Coder::begin(live.state, warp.tables, head.all, buffers.guesses);
    if (buffers.values != nullptr) begin_values(values_of(warp)->known);
  }
  const uint32_t size = buffers.ring_words;
  const uint32_t of_warp = number_of(warp, buffers) * buffers.ring_chunks;
  const uint32_t place = (of_warp + head.chunks % buffers.ring_chunks) * size + kChunkHead;
  Chunk &chunk = ChunkWriter(head, live.room, buffers).at(place);
  if (head.chunks >= buffers.ring_chunks) {  // what it held is gone
    live.events -= chunk.events;
    head.lost += chunk.events;
  }
  chunk.next = ++head.chunks;
  chunk.events = 0;
  chunk.words = 0;
  head.current = place;
  live.room = {place + kChunkHead, place + size, 0};
}

/// Makes room in the warp's only chunk by sending what is in it. False: it could not be sent.
template <typename Coder>
CAIRN_GPU_BOTH bool drain_chunk(LiveWarp<Coder> &live, Buffers &buffers) {
  static_assert(Coder::kMostWords + kMostValueWords<LaneMask> <= kDrainWords, "an event fits into a chunk");
  WarpHead<LaneMask> &head = live.home->head;
  const uint32_t traced = number_of(*live.home, buffers);
  if (head.current == 0) {
    head.first = head.current = traced * kDrainChunk + kChunkHead;
    live.room = {head.current + kChunkHead, head.current + kDrainChunk, 0};
  } else {
    const uint32_t begin = head.current + kChunkHead;
    if (!send_words(buffers.drain, traced, buffers.words + begin, live.room.at - begin)) return false;
    live.room.at = begin;
  }
  return true;
}

/// Makes room for `most` words where the warp's chunk has not so many left, or sees that there is none (`quick`).
template <typename Coder>
CAIRN_GPU_BOTH void find_room(LiveWarp<Coder> &live, uint32_t most) {
  if (live.room.words() >= most) return;  // somebody else did
  WarpHead<LaneMask> &head = live.home->head;
  Buffers &buffers = *head.buffers;
  if (buffers.policy == Policy::ring) return turn_ring(live, buffers);
  // What came after something lost would be taken for what came next.
  bool room = head.lost == 0;
  if (room && buffers.policy == Policy::stop) room = ChunkWriter(head, live.room, buffers).reserve(most);
  if (room && buffers.policy == Policy::drain) room = drain_chunk(live, buffers);
  live.quick = room ? 1 : 0;
}

/// Words of an event on their way into the warp's chunks: where they go is looked up once.
template <uint32_t Most>
class StagedWords {
 public:
  CAIRN_GPU_BOTH void word(uint32_t value) { words_[count_++] = value; }
  CAIRN_GPU_BOTH void write(WarpHead<LaneMask> &head, Room &room, Buffers &buffers) const {
    if (count_ == 0) return;
    ChunkWriter out(head, room, buffers);
    CAIRN_GPU_ROLLED for (uint32_t i = 0; i < count_; ++i) out.word(words_[i]);
  }

 private:
  uint32_t words_[Most];
  uint32_t count_ = 0;
};

/// Counts an event. False: there is no room for it.
template <typename Coder>
CAIRN_GPU_BOTH bool count_event(LiveWarp<Coder> &live, Buffers &buffers) {
  WarpHead<LaneMask> &head = live.home->head;
  if (live.quick == 0) {
    if (buffers.policy != Policy::ring) {
      ++head.lost;
      return false;
    }
    ++ChunkWriter(head, live.room, buffers).at(head.current).events;
  }
  ++live.events;
  return true;
}

/// Whether an event may be recorded: there is room for `most` words, or it is known (`looked`) that there is none.
template <typename Coder>
CAIRN_GPU_BOTH bool may_record(const LiveWarp<Coder> &live, uint32_t most, bool looked) {
  if (live.room.words() >= most) return true;
  return looked && live.quick == 0 && live.home->head.buffers->policy != Policy::ring;
}

/// Records an event of a warp that the caller alone may touch now. False, and nothing happened: see `may_record`;
/// find_room, then try again. It does not call it: kernels need the registers of the larger of the two only.
template <typename Coder>
CAIRN_GPU_BOTH bool record_event(LiveWarp<Coder> &live, uint32_t location, LaneMask mask, bool looked) {
  Warp<Coder> &warp = *live.home;
  const bool quick = live.quick != 0;
  if (!quick && !may_record(live, Coder::kMostWords, looked)) return false;
  const bool hit = Coder::is_hit(live.state, warp.tables, location, mask);
  if (quick && !hit && !may_record(live, Coder::kMostWords, looked)) return false;
  Buffers &buffers = *warp.head.buffers;
  if (!count_event(live, buffers)) return true;
  StagedWords<Coder::kMostWords> words;
  Coder::put(live.state, warp.tables, location, mask, hit, buffers.location_bits, words);
  Coder::move(live.state, warp.tables, location, mask);
  words.write(warp.head, live.room, buffers);
  return true;
}

/// As record_event, with the values that the lanes of `mask` have brought. It can be a hit only if they are as
/// expected.
template <typename Coder>
CAIRN_GPU_BOTH bool record_value_event(LiveWarp<Coder> &live, uint32_t location, LaneMask mask, ValueType type,
                                       bool looked) {
  constexpr uint32_t kMost = Coder::kMostWords + kMostValueWords<LaneMask>;
  if (!may_record(live, kMost, looked)) return false;
  Warp<Coder> &warp = *live.home;
  Buffers &buffers = *warp.head.buffers;
  if (!count_event(live, buffers)) return true;
  WarpValues<LaneMask> &values = *values_of(warp);
  ValueSlot &slot = value_slot(values.known, location);
  const bool hit =
      are_expected(slot, type, values.lane, mask) && Coder::is_hit(live.state, warp.tables, location, mask);
  StagedWords<kMost> words;
  Coder::put(live.state, warp.tables, location, mask, hit, buffers.location_bits, words);
  if (hit) {
    confirm(slot);
  } else {
    Coder::values(live.state, slot, type, values.lane, mask, words);
  }
  Coder::move(live.state, warp.tables, location, mask);
  words.write(warp.head, live.room, buffers);
  return true;
}

/// Each of `lanes` callers does its share; only then may an event be recorded.
template <typename Coder>
CAIRN_GPU_BOTH void begin_warp(LiveWarp<Coder> &live, Warp<Coder> &warp, Buffers *buffers, uint32_t index, LaneMask all,
                               uint32_t lane, uint32_t lanes) {
  if (lane == 0) {
    warp.head = {};
    warp.head.buffers = buffers;
    warp.head.all = all;
    warp.head.open = 1;
    warp.head.index = index;
    live = {};
    live.home = &warp;
    live.hot = HotWord<LaneMask>::closed();
    live.alive = all;
    if (buffers->own != 0) {
      const uint32_t place = number_of(warp, *buffers) * buffers->own + kChunkHead;
      ChunkWriter(warp.head, live.room, *buffers).add_chunk(place, buffers->own, 0);
      live.quick = 1;
    }
  }
  Coder::begin(live.state, warp.tables, all, buffers->guesses, lane, lanes);
  if (lane == 0 && live.quick != 0) live.hot = Coder::hot_word(live.state);
  if (buffers->values != nullptr) {
    auto *values = static_cast<WarpValues<LaneMask> *>(buffers->values) + number_of(warp, *buffers);
    begin_values(values->known, lane, lanes);
  }
}

/// Of a warp whose events are not recorded.
template <typename Coder>
CAIRN_GPU_BOTH void leave_empty(Warp<Coder> &warp, Buffers *buffers, uint32_t index, LaneMask all) {
  warp.head = {};
  warp.head.buffers = buffers;
  warp.head.all = all;
  warp.head.index = index;
  warp.events = 0;
}

/// Takes the hot word into the state, so that the caller may record.
template <typename Coder>
CAIRN_GPU_BOTH void take_hits(LiveWarp<Coder> &live, const HotWord<LaneMask> &word) {
  live.events += Coder::take_hot_word(live.state, word);
}
/// What the hot word is to be when the caller has recorded.
template <typename Coder>
CAIRN_GPU_BOTH HotWord<LaneMask> next_hot_word(const LiveWarp<Coder> &live) {
  return live.quick != 0 ? Coder::hot_word(live.state) : HotWord<LaneMask>::closed();
}

/// Takes the state home. The hot word has been taken in.
template <typename Coder>
CAIRN_GPU_BOTH void save_warp(LiveWarp<Coder> &live) {
  Warp<Coder> &warp = *live.home;
  warp.events = live.events;
  warp.room = live.room;
  warp.state = live.state;
  warp.head.open = 0;
}

/// Lanes that leave the kernel; the last of them take the state home. One caller at a time.
template <typename Coder>
CAIRN_GPU_BOTH void leave_warp(LiveWarp<Coder> &live, LaneMask lanes) {
  live.left |= lanes;
  if (live.left == live.home->head.all) save_warp(live);
}

}  // namespace cairn::gpu
