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
// little and a long one asks the shared cursor seldom, which is one atomic addition a chunk.
//
// Before an event is coded, room for the largest one and for the stream's end is made sure of; so what is counted as
// recorded is always whole.
#pragma once

#include "bits.h"
#include "drain.h"
#include "guesses.h"
#include "values.h"

namespace cairn::gpu {

enum class Policy : uint32_t { stop, ring, drain };

/// What a kernel is given, by value as its last parameter. An empty one: not traced.
struct Buffers;
struct Trace {
  Buffers *buffers = nullptr;
};

struct Buffers {
  void *warps;        ///< Warp<Coder>, one for each traced warp
  void *values;       ///< WarpValues, likewise; null if the program has no locations with values
  uint32_t *words;    ///< the pool
  uint32_t capacity;  ///< in words
  unsigned int used;  ///< words given out; may run past the capacity
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

template <typename Mask>
struct WarpHead {
  uint64_t events;  ///< recorded
  uint64_t lost;    ///< not recorded, for want of room
  Buffers *buffers;
  Mask all;  ///< lanes that were alive when the kernel began
  uint32_t lock;
  uint32_t quick;  ///< events that are as predicted need no room: not a ring, and nothing was lost
  uint32_t first;  ///< chunk, as a place in the pool; 0: none yet
  uint32_t current;
  uint32_t following;  ///< stop: the chunk after `current`, if it is there already; there may be one after it
  uint32_t at;         ///< where the next word goes
  uint32_t end;        ///< of the current chunk
  uint32_t chunks;     ///< begun so far
  uint32_t index;      ///< of the warp in the grid
};

template <typename Coder>
struct Warp {
  WarpHead<LaneMask> head;
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
  CAIRN_GPU_BOTH ChunkWriter(WarpHead<LaneMask> &head, Buffers &buffers) : head_(head), buffers_(buffers) {}

  CAIRN_GPU_BOTH void word(uint32_t value) {
    if (head_.at == head_.end) advance();
    buffers_.words[head_.at++] = value;
  }

  /// Room for `most` words. False: there is none, and nothing may be written.
  CAIRN_GPU_BOTH bool reserve(uint32_t most) {
    uint32_t room = head_.end - head_.at;
    uint32_t last = head_.current;
    for (uint32_t next = head_.following; room < most && next != 0; next = at(next).next) {
      room += at(next).words;
      last = next;
    }
    if (room >= most) return true;
    uint32_t size = kFirstChunk << head_.chunks;
    if (head_.chunks > 5 || size > kLargestChunk) size = kLargestChunk;
    while (size < most + kChunkHead) size *= 2;
    const uint32_t place = take_words(buffers_, size);
    if (place == 0) return false;
    Chunk &chunk = at(place);
    chunk.next = 0;
    chunk.words = size - kChunkHead;
    ++head_.chunks;
    if (head_.current == 0) {
      head_.first = head_.current = place;
      head_.at = place + kChunkHead;
      head_.end = place + size;
    } else {
      at(last).next = place;
      if (head_.following == 0) head_.following = place;
    }
    return true;
  }

  CAIRN_GPU_BOTH Chunk &at(uint32_t place) { return *reinterpret_cast<Chunk *>(buffers_.words + place); }

 private:
  CAIRN_GPU_BOTH void advance() {
    head_.current = head_.following;
    head_.following = at(head_.current).next;
    head_.at = head_.current + kChunkHead;
    head_.end = head_.at + at(head_.current).words;
  }

  WarpHead<LaneMask> &head_;
  Buffers &buffers_;
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
CAIRN_GPU_BOTH void close_chunk(Warp<Coder> &warp, Buffers &buffers) {
  ChunkWriter out(warp.head, buffers);
  Coder::end(warp.state, out);
  Chunk &chunk = out.at(warp.head.current);
  chunk.words = warp.head.at - warp.head.current - kChunkHead;
}

/// Makes room in the ring, in the oldest chunk if need be.
template <typename Coder>
CAIRN_GPU_BOTH void turn_ring(Warp<Coder> &warp, Buffers &buffers) {
  WarpHead<LaneMask> &head = warp.head;
  if (head.current != 0) {
    close_chunk(warp, buffers);
    Coder::begin(warp.state, head.all, buffers.guesses);
    if (buffers.values != nullptr) begin_values(values_of(warp)->known);
  }
  const uint32_t traced = number_of(warp, buffers);
  const uint32_t size = buffers.ring_words;
  const uint32_t place = (traced * buffers.ring_chunks + head.chunks % buffers.ring_chunks) * size + kChunkHead;
  Chunk &chunk = ChunkWriter(head, buffers).at(place);
  if (head.chunks >= buffers.ring_chunks) {  // what it held is gone
    head.events -= chunk.events;
    head.lost += chunk.events;
  }
  chunk.next = ++head.chunks;
  chunk.events = 0;
  chunk.words = 0;
  head.current = place;
  head.at = place + kChunkHead;
  head.end = place + size;
}

/// Makes room in the warp's only chunk by sending what is in it. False: it could not be sent.
template <typename Coder>
CAIRN_GPU_BOTH bool drain_chunk(Warp<Coder> &warp, Buffers &buffers) {
  static_assert(Coder::kMostWords + kMostValueWords<LaneMask> <= kDrainWords, "an event fits into a chunk");
  WarpHead<LaneMask> &head = warp.head;
  const uint32_t traced = number_of(warp, buffers);
  if (head.current == 0) {
    head.first = head.current = traced * kDrainChunk + kChunkHead;
    head.at = head.current + kChunkHead;
    head.end = head.current + kDrainChunk;
  } else {
    const uint32_t begin = head.current + kChunkHead;
    if (!send_words(buffers.drain, traced, buffers.words + begin, head.at - begin)) return false;
    head.at = begin;
  }
  return true;
}

/// Makes room for `most` words where the warp's chunk has not so many left, or sees that there is none (`quick`).
/// Called beside what records, not by it: kernels need the registers of the larger of the two only.
template <typename Coder>
CAIRN_GPU_CALLED void find_room(Warp<Coder> &warp, uint32_t most) {
  WarpHead<LaneMask> &head = warp.head;
  Buffers &buffers = *head.buffers;
  if (buffers.policy == Policy::ring) return turn_ring(warp, buffers);
  // What came after something lost would be taken for what came next.
  bool room = head.lost == 0;
  if (room && buffers.policy == Policy::stop) room = ChunkWriter(head, buffers).reserve(most);
  if (room && buffers.policy == Policy::drain) room = drain_chunk(warp, buffers);
  head.quick = room ? 1 : 0;
}

/// Counts an event, for which room has been looked for. False: there was none.
CAIRN_GPU_BOTH bool count_event(WarpHead<LaneMask> &head, Buffers &buffers) {
  if (buffers.policy == Policy::ring) {
    ++ChunkWriter(head, buffers).at(head.current).events;
  } else if (head.quick == 0) {
    ++head.lost;
    return false;
  }
  ++head.events;
  return true;
}

/// Records an event that was no hit, or where that has not been `tried`.
template <typename Coder>
CAIRN_GPU_CALLED void record_slowly(Warp<Coder> &warp, uint32_t location, LaneMask mask, bool tried) {
  Buffers &buffers = *warp.head.buffers;
  if (!count_event(warp.head, buffers)) return;
  if (!tried && Coder::hit(warp.state, location, mask)) return;
  ChunkWriter out(warp.head, buffers);
  Coder::miss(warp.state, location, mask, buffers.location_bits, out);
}

/// Records an event of a warp that the caller alone may touch now.
template <typename Coder>
CAIRN_GPU_BOTH void record_event(Warp<Coder> &warp, uint32_t location, LaneMask mask) {
  const bool quick = warp.head.quick != 0;
  if (quick && Coder::hit(warp.state, location, mask)) {
    ++warp.head.events;
    return;
  }
  if (warp.head.end - warp.head.at < Coder::kMostWords) find_room(warp, Coder::kMostWords);
  record_slowly(warp, location, mask, quick);
}

/// Records an event with the values that the lanes of `mask` have brought. It can be a hit only if they are as
/// expected.
template <typename Coder>
CAIRN_GPU_CALLED void record_values(Warp<Coder> &warp, uint32_t location, LaneMask mask, ValueType type) {
  Buffers &buffers = *warp.head.buffers;
  if (!count_event(warp.head, buffers)) return;
  WarpValues<LaneMask> &values = *values_of(warp);
  ValueSlot &slot = value_slot(values.known, location);
  if (are_expected(slot, type, values.lane, mask) && Coder::hit(warp.state, location, mask)) return confirm(slot);
  ChunkWriter out(warp.head, buffers);
  Coder::miss(warp.state, location, mask, buffers.location_bits, out);
  Coder::values(warp.state, slot, type, values.lane, mask, out);
}

/// As record_event, with values.
template <typename Coder>
CAIRN_GPU_BOTH void record_value_event(Warp<Coder> &warp, uint32_t location, LaneMask mask, ValueType type) {
  constexpr uint32_t kMost = Coder::kMostWords + kMostValueWords<LaneMask>;
  if (warp.head.end - warp.head.at < kMost) find_room(warp, kMost);
  record_values(warp, location, mask, type);
}

/// Each of `lanes` callers does its share; only then may an event be recorded.
template <typename Coder>
CAIRN_GPU_BOTH void begin_warp(Warp<Coder> &warp, Buffers *buffers, uint32_t index, LaneMask all, uint32_t lane,
                               uint32_t lanes) {
  if (lane == 0) {
    warp.head = {};
    warp.head.buffers = buffers;
    warp.head.all = all;
    warp.head.index = index;
  }
  Coder::begin(warp.state, all, buffers->guesses, lane, lanes);
  if (buffers->values != nullptr) {
    auto *values = static_cast<WarpValues<LaneMask> *>(buffers->values) + number_of(warp, *buffers);
    begin_values(values->known, lane, lanes);
  }
}

/// What is left to write when the kernel has ended.
template <typename Coder>
CAIRN_GPU_BOTH void end_warp(Warp<Coder> &warp) {
  Buffers &buffers = *warp.head.buffers;
  if (warp.head.current == 0) return;
  if (buffers.policy == Policy::ring) return close_chunk(warp, buffers);
  ChunkWriter out(warp.head, buffers);
  Coder::end(warp.state, out);
}

/// A warp's stream as the host takes it; of one that drains, its end.
struct WarpRecord {
  uint64_t events;
  uint64_t lost;
  uint64_t all;     ///< lanes that were alive when the kernel began
  uint32_t index;   ///< of the warp in the grid
  uint32_t offset;  ///< of its words among those gathered
  uint32_t words;
  uint32_t chunks;  ///< ring: so many times (events, words, the words); stop: 0, one stream
};

/// Where the n-th of `count` chunks that a ring still holds begins, the oldest first.
CAIRN_GPU_BOTH uint32_t ring_chunk(const WarpHead<LaneMask> &head, const Buffers &buffers, uint32_t count, uint32_t n) {
  const uint32_t base = head.current - (head.chunks - 1) % buffers.ring_chunks * buffers.ring_words;
  return base + (head.chunks - count + n) % buffers.ring_chunks * buffers.ring_words;
}

/// Finishes a warp's stream and finds it a place among those that `place_words` copies.
template <typename Coder>
CAIRN_GPU_BOTH void finish_warp(Warp<Coder> &warp, WarpRecord &record) {
  record = {};
  WarpHead<LaneMask> &head = warp.head;
  if (head.buffers == nullptr) return;  // its block never ran
  Buffers &buffers = *head.buffers;
  end_warp(warp);
  record.events = head.events;
  record.lost = head.lost;
  record.all = head.all;
  record.index = head.index;
  if (head.current == 0) return;
  ChunkWriter chunks(head, buffers);
  if (buffers.policy == Policy::ring) {
    record.chunks = head.chunks < buffers.ring_chunks ? head.chunks : buffers.ring_chunks;
    for (uint32_t n = 0; n < record.chunks; ++n) {
      record.words += 2 + chunks.at(ring_chunk(head, buffers, record.chunks, n)).words;
    }
  } else {
    for (uint32_t place = head.first; place != head.current; place = chunks.at(place).next) {
      record.words += chunks.at(place).words;
    }
    record.words += head.at - head.current - kChunkHead;
  }
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  record.offset = atomicAdd(&buffers.gathered, record.words);
#else
  record.offset = buffers.gathered;
  buffers.gathered += record.words;
#endif
}

/// Copies what `finish_warp` found to `out`, of which every lane of `lanes` takes its share.
template <typename Coder>
CAIRN_GPU_BOTH void place_words(const Warp<Coder> &warp, const WarpRecord &record, uint32_t *out, uint32_t lane,
                                uint32_t lanes) {
  if (record.words == 0) return;
  const WarpHead<LaneMask> &head = warp.head;
  const Buffers &buffers = *head.buffers;
  const auto chunk_at = [&](uint32_t place) { return reinterpret_cast<const Chunk *>(buffers.words + place); };
  uint32_t *to = out + record.offset;
  for (uint32_t n = 0; n < record.chunks; ++n) {
    const uint32_t place = ring_chunk(head, buffers, record.chunks, n);
    const Chunk *chunk = chunk_at(place);
    if (lane == 0) {
      to[0] = chunk->events;
      to[1] = chunk->words;
    }
    to += 2;
    for (uint32_t i = lane; i < chunk->words; i += lanes) to[i] = buffers.words[place + kChunkHead + i];
    to += chunk->words;
  }
  if (buffers.policy == Policy::ring) return;
  for (uint32_t place = head.first;; place = chunk_at(place)->next) {
    const bool last = place == head.current;
    const uint32_t words = last ? head.at - place - kChunkHead : chunk_at(place)->words;
    for (uint32_t i = lane; i < words; i += lanes) to[i] = buffers.words[place + kChunkHead + i];
    to += words;
    if (last) return;
  }
}

}  // namespace cairn::gpu
