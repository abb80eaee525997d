#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "gpu/testing/traced_kernel.h"

namespace cairn::gpu {
namespace {

constexpr unsigned kBlocks = 12;
constexpr unsigned kWarps = kBlocks * 2;

/// A ring, and perhaps a thread that takes from it every so often.
class Host {
 public:
  explicit Host(uint32_t slots) : slots_(slots) { end_.begin(slots_.data(), &consumed_, slots, kWarps); }
  ~Host() { stop(); }
  Host(const Host &) = delete;
  Host &operator=(const Host &) = delete;

  [[nodiscard]] Buffers buffers(uint32_t waits) {
    Buffers made{};
    made.policy = Policy::drain;
    made.drain = end_.ring(slots_.data(), &consumed_);
    made.drain.waits = waits;
    return made;
  }
  void drain_every(std::chrono::microseconds time) {
    thread_ = std::thread([this, time] {
      while (!over_) {
        end_.take();
        std::this_thread::sleep_for(time);
      }
    });
  }
  /// Nothing else may take what is left.
  DrainEnd *stop() {
    over_ = true;
    if (thread_.joinable()) thread_.join();
    return &end_;
  }

 private:
  std::vector<DrainSlot> slots_;
  uint32_t consumed_ = 0;
  DrainEnd end_;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

std::vector<Traced> whole() { return trace_kernel(dim3(kBlocks), dim3(64), {}, 1 << 22, irregular); }
constexpr size_t kPool = kWarps * kDrainChunk + kChunkHead;

uint64_t words_of(const std::vector<Traced> &warps) {
  uint64_t words = 0;
  for (const Traced &warp : warps) words += warp.words.size();
  return words;
}

TEST(Drain, ManyTimesTheRingIsKeptWholeWhileTheHostTakesIt) {
  const auto wanted = whole();
  for (const uint32_t slots : {1u, 4u}) {
    ASSERT_GT(words_of(wanted), 20 * slots * kDrainWords);
    Host host(slots);
    host.drain_every(std::chrono::microseconds(50));
    const auto got = trace_kernel(dim3(kBlocks), dim3(64), host.buffers(kDrainWaits), kPool, irregular,
                                  {[&host] { return host.stop(); }});
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(got[i].record.lost, 0);
      EXPECT_EQ(got[i].record.events, wanted[i].record.events);
      ASSERT_EQ(got[i].words, wanted[i].words) << "warp " << i;
    }
  }
}

TEST(Drain, AHostThatTakesNothingCostsCountedLosses) {
  const auto wanted = whole();
  Host host(16);
  const auto got =
      trace_kernel(dim3(kBlocks), dim3(64), host.buffers(20), kPool, irregular, {[&host] { return host.stop(); }});
  uint64_t lost = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    lost += got[i].record.lost;
    ASSERT_EQ(got[i].record.events + got[i].record.lost, wanted[i].record.events);
    ASSERT_EQ(got[i].events.size(), got[i].record.events);
    EXPECT_TRUE(std::equal(got[i].events.begin(), got[i].events.end(), wanted[i].events.begin()));
  }
  EXPECT_GT(lost, wanted[0].record.events);
}

TEST(Drain, OnlyOneWaitsForAHostThatTakesNothing) {
  std::vector<DrainSlot> slots(2);
  uint32_t consumed = 0;
  DrainEnd end;
  end.begin(slots.data(), &consumed, 2, 1);
  DrainRing ring = end.ring(slots.data(), &consumed);
  ring.waits = 500;
  const uint32_t word = 7;
  const auto sends = [&](int times) {
    const auto begin = std::chrono::steady_clock::now();
    int sent = 0;
    for (int i = 0; i < times; ++i) sent += send_words(ring, 0, &word, 1) ? 1 : 0;
    return std::pair(sent, std::chrono::steady_clock::now() - begin);
  };
  EXPECT_EQ(sends(2).first, 2);
  const auto [first, wait] = sends(1);
  const auto [later, waits] = sends(100);
  EXPECT_EQ(first + later, 0);
  EXPECT_LT(waits, wait / 2);
  EXPECT_TRUE(end.take());  // there is room again, and somebody will wait again
  EXPECT_EQ(sends(2).first, 2);
  EXPECT_EQ(ring.stalled, 0);
}

TEST(Drain, ALaterLaunchGoesOnInTheSameRing) {
  const auto wanted = whole();
  std::vector<DrainSlot> slots(1024);
  uint32_t consumed = 0;
  DrainEnd end;
  for (int launch = 0; launch < 3; ++launch) {
    end.begin(slots.data(), &consumed, 1024, kWarps);
    Buffers buffers{};
    buffers.policy = Policy::drain;
    buffers.drain = end.ring(slots.data(), &consumed);
    const auto got = trace_kernel(dim3(kBlocks), dim3(64), buffers, kPool, irregular, {[&end] { return &end; }});
    for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i].words, wanted[i].words);
  }
}

TEST(Drain, TheThreadOfAllLaunchesEmptiesTheirRings) {
  std::vector<DrainSlot> slots(4);
  uint32_t consumed = 0;
  DrainEnd end;
  end.begin(slots.data(), &consumed, 4, 1);
  DrainRing ring = end.ring(slots.data(), &consumed);
  Drainer::one().begin(&end);
  std::vector<uint32_t> words(50);
  for (uint32_t i = 0; i < 1000; ++i) {
    std::fill(words.begin(), words.end(), i);
    ASSERT_TRUE(send_words(ring, 0, words.data(), 50));
  }
  Drainer::one().end(&end);
  EXPECT_TRUE(end.has_all(1000));
  WarpRecord record{};
  const std::vector<uint32_t> all = end.join({}, &record);
  ASSERT_EQ(all.size(), 50'000);
  for (uint32_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], i / 50);
}

}  // namespace
}  // namespace cairn::gpu
