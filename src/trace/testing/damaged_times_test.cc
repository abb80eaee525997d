// Bytes of times that are not those that were written: all else of the trace can be read, and what has a time has its
// own.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "timing/group_numbers.h"
#include "trace/file/file.h"
#include "trace/model/record_times.h"
#include "trace/read/call_times.h"
#include "trace/read/edit.h"
#include "trace/read/events.h"
#include "trace/testing/in_blocks.h"
#include "trace/testing/synthetic_parts.h"

namespace cairn::trace {
namespace {

using synthetic::atoms;
using synthetic::Recording;

const RunInfo kRun = {"./a", "MPI", "cairn", "lossless", "complete", 1, 2, {}};
constexpr uint32_t kRanks = 4;
constexpr uint32_t kTurns = 60;
constexpr size_t kBlockCalls = 20;

/// A loop of two calls, the same in each block, so that the times of one would fit another; its times are nobody
/// else's. Rank 2 does something else.
ProcessRecord process(uint32_t rank) {
  Recording recording;
  for (uint32_t turn = 0; turn < kTurns; ++turn) {
    for (const uint32_t function : {61U, 62U}) {
      recording.call({function + (rank == 2 ? 2U : 0U), 1, 0, {atoms({7})}});
    }
  }
  ProcessRecord process = synthetic::single_thread(rank, kRanks, recording, 1);
  SequenceRecord &sequence = process.sequences[0];
  sequence.stats.clear();
  sequence.times = {timing::kStreamMark};
  timing::StreamEnd end;
  timing::StreamSize size;
  for (uint32_t first = 0; first < 2 * kTurns; first += kBlockCalls) {
    timing::GroupNumbers numbers;
    numbers.begin_block();
    std::vector<timing::CallTime> times;
    for (uint32_t call = first; call < first + kBlockCalls; ++call) {
      numbers.add(call % 2);
      times.push_back({1 + rank, 100 + call});
    }
    timing::encode_block(*timing::mode_named("lossless"), numbers.calls(), times, &end, &sequence.times, &size);
  }
  return process;
}

std::vector<ProcessRecord> program() {
  std::vector<ProcessRecord> all;
  for (uint32_t rank = 0; rank < kRanks; ++rank) all.push_back(process(rank));
  return all;
}

Bytes times_in_blocks() {
  const InBlocks all = in_blocks(program());
  return with_blocks(*all.part.to_file(kRun, all.blocks.size()), all.blocks);
}

Bytes times_in_section() {
  Part part;
  for (const ProcessRecord &each : program()) part = *Part::merge(std::move(part), *Part::of(each));
  return *part.to_file(kRun);
}

/// Where in the file the section lies.
std::pair<size_t, size_t> place_of(const Bytes &file, SectionKind kind) {
  const std::vector<StoredSection> sections = *read_file(file);
  for (const StoredSection &section : sections) {
    if (section.kind == static_cast<uint8_t>(kind)) return {section.offset, section.offset + section.bytes.size()};
  }
  ADD_FAILURE() << "no such section";
  return {};
}

/// Of bytes of the file, in which rank's which block they are.
using Owners = std::map<size_t, std::pair<uint32_t, size_t>>;
Owners owners(const Bytes &file) {
  Owners all;
  const Trace trace = *Trace::from_bytes(file, "good");
  for (const uint32_t rank : trace.ranks()) {
    const SequenceView sequence = trace.sequences(rank)[0];
    const TimesBytes times = *trace.times_bytes(sequence);
    const auto at = std::search(file.begin(), file.end(), times.stream.begin(), times.stream.end());
    const auto begin = static_cast<size_t>(at - file.begin());
    const std::vector<timing::BlockPlace> blocks = CallTimes::of(trace, sequence)->blocks();
    EXPECT_EQ(blocks.size(), 2 * kTurns / kBlockCalls);
    for (size_t block = 0; block < blocks.size(); ++block) {
      const size_t end = block + 1 == blocks.size() ? times.stream.size() : blocks[block + 1].offset;
      for (size_t byte = blocks[block].offset; byte < end; ++byte) all[begin + byte] = {rank, block};
    }
  }
  return all;
}

/// Of each rank, which blocks' calls have no time. All calls are there, and no time is another's.
std::map<uint32_t, std::vector<size_t>> damaged_blocks(const Bytes &file) {
  std::map<uint32_t, std::vector<size_t>> damaged;
  const Result<Trace> trace = Trace::from_bytes(file, "bad");
  EXPECT_TRUE(trace.has_value()) << trace.error().message;
  if (!trace) return damaged;
  for (uint32_t rank = 0; rank < kRanks; ++rank) {
    Events events(*trace, rank);
    uint64_t call = 0;
    uint64_t begin = 0;
    for (; const Event *event = events.next(); ++call) {
      EXPECT_EQ(event->values->function, 61 + call % 2 + (rank == 2 ? 2 : 0));
      begin += 1 + rank;
      EXPECT_NE(event->timed, event->damaged);
      if (event->timed) {
        EXPECT_EQ(event->duration_ns, 100 + call);
        EXPECT_EQ(event->begin_ns, begin);
      } else if (auto &blocks = damaged[rank]; blocks.empty() || blocks.back() != call / kBlockCalls) {
        blocks.push_back(call / kBlockCalls);
      }
      begin += 100 + call;
    }
    EXPECT_EQ(call, 2 * kTurns) << "rank " << rank;
    EXPECT_TRUE(events.end_of_calls().has_value());
    EXPECT_EQ(events.end().has_value(), damaged.count(rank) == 0);
    if (damaged.count(rank) == 0) continue;
    EXPECT_NE(events.end().error().message.find("rank " + std::to_string(rank)), std::string::npos);
    auto times = CallTimes::of(*trace, trace->sequences(rank)[0]);
    EXPECT_TRUE(!times || !times->damage().empty());
  }
  return damaged;
}

void expect_one_block_lost(const Bytes &file, SectionKind kind) {
  const Owners owned = owners(file);
  const auto [begin, end] = place_of(file, kind);
  size_t within = 0;
  for (size_t at = begin; at < end; ++at) {
    for (const unsigned flip : {0x01U, 0x10U, 0x80U, 0xffU}) {
      Bytes bad = file;
      bad[at] = static_cast<uint8_t>(bad[at] ^ flip);
      const auto damaged = damaged_blocks(bad);
      const auto owner = owned.find(at);
      if (owner == owned.end()) continue;
      ++within;
      const std::vector<size_t> only = {owner->second.second};
      ASSERT_EQ(damaged.size(), 1U) << "byte " << at - begin;
      EXPECT_EQ(damaged.begin()->first, owner->second.first) << "byte " << at - begin;
      EXPECT_EQ(damaged.begin()->second, only) << "byte " << at - begin << " of " << end - begin;
    }
  }
  EXPECT_GT(within, 2000U);
}

TEST(DamagedTimes, CostTheirBlock) {
  expect_one_block_lost(times_in_section(), SectionKind::timing);
  expect_one_block_lost(times_in_blocks(), SectionKind::blocks);
}

/// Of the call of that number, from the begin of its sequence.
timing::PlacedTime time_of(uint32_t rank, uint64_t call) {
  const uint64_t before = call * (100 + 1 + rank) + call * (call - 1) / 2;
  return {before + 1 + rank, {1 + rank, 100 + call}};
}

void expect_any_call_alone(const Bytes &file) {
  const Owners owned = owners(file);
  const size_t blocks = 2 * kTurns / kBlockCalls;
  std::mt19937_64 random(3);
  const auto expect_time = [](CallTimes &times, uint32_t rank, uint64_t call) {
    const auto found = times.at(call);
    ASSERT_TRUE(found.has_value()) << found.error().message;
    EXPECT_EQ(found->begin_ns, time_of(rank, call).begin_ns) << "call " << call;
    EXPECT_EQ(found->time, time_of(rank, call).time) << "call " << call;
  };
  const Trace good = *Trace::from_bytes(file, "good");
  for (uint32_t rank = 0; rank < kRanks; ++rank) {
    CallTimes times = *CallTimes::of(good, good.sequences(rank)[0]);
    for (int i = 0; i < 200; ++i) expect_time(times, rank, random() % (2 * kTurns));
    // All others are damaged in the last byte, which says nothing of where they end.
    for (size_t kept = 0; kept < blocks; ++kept) {
      Bytes bad = file;
      for (auto at = owned.begin(); at != owned.end(); ++at) {
        const auto next = std::next(at);
        const bool is_last = next == owned.end() || next->first != at->first + 1 || next->second != at->second;
        if (is_last && at->second != std::pair(rank, kept)) bad[at->first] ^= 1;
      }
      const Trace trace = *Trace::from_bytes(bad, "bad");
      CallTimes alone = *CallTimes::of(trace, trace.sequences(rank)[0]);
      ASSERT_EQ(alone.count(), 2 * kTurns);
      for (uint64_t call = 0; call < alone.count(); ++call) {
        if (call / kBlockCalls == kept) {
          expect_time(alone, rank, call);
        } else {
          EXPECT_FALSE(alone.at(call).has_value());
        }
      }
    }
  }
}

TEST(DamagedTimes, AnyCallNeedsNoOtherBlockThanItsOwn) {
  expect_any_call_alone(times_in_section());
  expect_any_call_alone(times_in_blocks());
}

void expect_nobody_elses(const Bytes &file, SectionKind kind) {
  std::mt19937_64 random(7);
  const auto [begin, end] = place_of(file, kind);
  for (int round = 0; round < 2000; ++round) {
    Bytes bad = file;
    for (uint64_t n = 2 + random() % 6; n > 0; --n)
      bad[begin + random() % (end - begin)] = static_cast<uint8_t>(random());
    if (bad != file) (void)damaged_blocks(bad);
  }
}

TEST(DamagedTimes, ThatAreMoreAreNobodyElses) {
  expect_nobody_elses(times_in_section(), SectionKind::timing);
  expect_nobody_elses(times_in_blocks(), SectionKind::blocks);
}

TEST(DamagedTimes, StayDamagedInCopies) {
  Bytes file = times_in_section();
  const auto [begin, end] = place_of(file, SectionKind::timing);
  file[(begin + end) / 2] ^= 4;
  const Trace trace = *Trace::from_bytes(file, "x.cairn");
  ASSERT_TRUE(trace.damage().has_value());
  EXPECT_EQ(trace.damage()->message, "section 'timing' has a wrong checksum");
  EXPECT_EQ(trace.damage()->offset, begin);
  const Trace copy = *Trace::from_bytes(with_sources(trace, {}), "y.cairn");
  EXPECT_TRUE(copy.damage().has_value());
}

}  // namespace
}  // namespace cairn::trace
