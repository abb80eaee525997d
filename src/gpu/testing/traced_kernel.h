// A kernel traced under the emulator, for tests: its streams, decoded.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "cairn/gpu/device.h"
#include "cairn/gpu/drain_host.h"
#include "cairn/gpu/gather.h"
#include "gpu/testing/decode_stream.h"

namespace cairn::gpu {

/// What a traced launch leaves, decoded.
struct Traced {
  WarpRecord record;
  std::vector<uint32_t> words;
  std::vector<Event> events;
};

struct Extras {
  /// Gives the host's end of the buffers' ring, if they have one, when nobody else takes from it.
  std::function<DrainEnd *()> stop = nullptr;
  std::vector<uint16_t> value_locations{};
};

template <typename Body>
std::vector<Traced> trace_kernel(dim3 grid, dim3 block, Buffers buffers, size_t capacity, Body body,
                                 const Extras &extras = {}) {
  const uint32_t per_block = (block.x * block.y * block.z + 31) / 32;
  std::vector<TracedWarp> warps(size_t{grid.x} * per_block);
  std::vector<uint32_t> pool(capacity);
  buffers.warps = warps.data();
  buffers.words = pool.data();
  std::vector<WarpValues<LaneMask>> values(extras.value_locations.empty() ? 0 : warps.size());
  buffers.values = values.empty() ? nullptr : values.data();
  buffers.capacity = static_cast<uint32_t>(pool.size());
  buffers.used = kChunkHead;
  buffers.location_bits = 8;
  buffers.warps_per_block = per_block;
  buffers.warp_count = static_cast<uint32_t>(warps.size());
  if (buffers.end_block == 0) buffers.end_block = grid.x;
  if (buffers.one_in == 0) buffers.one_in = 1;
  const Trace trace{&buffers};
  emulator::launch(grid, block, [&] {
    const KernelScope scope(trace);
    body();
  });
  std::vector<uint32_t> out(pool.size());
  std::vector<WarpRecord> records(warps.size());
  for (size_t i = 0; i < warps.size(); ++i) {
    finish_warp(warps[i], records[i]);
    place_words(warps[i], records[i], out.data(), 0, 1);
  }
  if (extras.stop) {
    DrainEnd *drain = extras.stop();
    drain->take();
    EXPECT_TRUE(drain->has_all(buffers.drain.tail));
    out = drain->join(out, records.data());
  }
  std::vector<Traced> all;
  for (const WarpRecord &record : records) {
    const uint32_t *words = out.data() + record.offset;
    Traced traced{record, {words, words + record.words}, {}};
    StreamForm form;
    form.value_locations = extras.value_locations;
    if (buffers.policy != Policy::ring) {
      auto events = decode_stream(form, {words, traced.record.words}, traced.record.events, traced.record.all);
      EXPECT_TRUE(events.has_value());
      if (events) traced.events = *events;
    }
    for (uint32_t chunk = 0; chunk < traced.record.chunks; ++chunk) {
      auto events = decode_stream(form, {words + 2, words[1]}, words[0], traced.record.all);
      EXPECT_TRUE(events.has_value());
      if (events) traced.events.insert(traced.events.end(), events->begin(), events->end());
      words += 2 + words[1];
    }
    all.push_back(std::move(traced));
  }
  return all;
}

/// A warp of block b visits location 2 so often.
constexpr int kVisits = 2000;
inline void irregular() {
  uint32_t draw = threadIdx.x * 2654435761u + blockIdx.x;
  point(1);
  for (int i = 0; i < kVisits; ++i) {
    draw = draw * 1664525u + 1013904223u;
    if (draw >> 31 != 0) point(static_cast<uint32_t>(2 + i % 50));
  }
}

}  // namespace cairn::gpu
