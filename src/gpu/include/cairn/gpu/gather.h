// When a kernel has ended: warps' streams are finished and brought together, by a kernel of ours (memory_device.h) or
// on the host (the emulator).
#pragma once

#include "stream.h"

namespace cairn::gpu {

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

/// What is left to write when the kernel has ended.
template <typename Coder>
CAIRN_GPU_BOTH void end_warp(Warp<Coder> &warp) {
  Buffers &buffers = *warp.head.buffers;
  if (buffers.policy == Policy::ring) return close_chunk<Coder>(warp.head, warp.room, warp.state, buffers);
  ChunkWriter out(warp.head, warp.room, buffers);
  Coder::end(warp.state, out);
}

/// Finishes a warp's stream and finds it a place among those that `place_words` copies.
template <typename Coder>
CAIRN_GPU_BOTH void finish_warp(Warp<Coder> &warp, WarpRecord &record) {
  record = {};
  WarpHead<LaneMask> &head = warp.head;
  if (head.buffers == nullptr) return;  // its block never ran
  Buffers &buffers = *head.buffers;
  record.lost = head.lost;
  record.all = head.all;
  record.index = head.index;
  if (head.open != 0) {  // lanes left without a word (`exit` in assembly): its events are lost, and how many, unknown
    ++record.lost;
    return;
  }
  record.events = warp.events;
  if (head.current == 0 || record.events == 0) return;
  end_warp(warp);
  ChunkWriter chunks(head, warp.room, buffers);
  if (buffers.policy == Policy::ring) {
    record.chunks = head.chunks < buffers.ring_chunks ? head.chunks : buffers.ring_chunks;
    for (uint32_t n = 0; n < record.chunks; ++n) {
      record.words += 2 + chunks.at(ring_chunk(head, buffers, record.chunks, n)).words;
    }
  } else {
    for (uint32_t place = head.first; place != head.current; place = chunks.at(place).next) {
      record.words += chunks.at(place).words;
    }
    record.words += warp.room.at - head.current - kChunkHead;
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
    const uint32_t words = last ? warp.room.at - place - kChunkHead : chunk_at(place)->words;
    for (uint32_t i = lane; i < words; i += lanes) to[i] = buffers.words[place + kChunkHead + i];
    to += words;
    if (last) return;
  }
}

}  // namespace cairn::gpu
