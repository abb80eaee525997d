#include "gpu/analyze/accesses.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <tuple>

namespace cairn::analyze {
namespace {

using gpu::Access;
using gpu::Space;

constexpr uint32_t kSectorWidth = 5;
constexpr uint64_t kSector = uint64_t{1} << kSectorWidth;
constexpr uint64_t kWord = 4;
constexpr size_t kBanks = 32;

uint64_t parts_of(uint64_t bytes, uint64_t part) { return (bytes + part - 1) / part; }

/// From the first byte that is touched to behind the last, in order of the first.
using Spans = std::vector<std::pair<uint64_t, uint64_t>>;

/// In how many pieces of 2^`width` bytes lies what is touched, each piece once.
uint64_t pieces(const Spans &touched, uint32_t width) {
  uint64_t count = 0;
  uint64_t done = 0;
  for (const auto &[first, end] : touched) {
    const uint64_t from = std::max(first >> width, done);
    const uint64_t to = ((end - 1) >> width) + 1;
    if (to > from) count += to - from, done = to;
  }
  return count;
}

/// Of words that are wanted at a time.
uint64_t wavefronts_of(std::vector<uint64_t> words) {
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  std::array<uint64_t, kBanks> in_bank{};
  for (const uint64_t word : words) ++in_bank[word % kBanks];
  return *std::max_element(in_bank.begin(), in_bank.end());
}

uint64_t wavefronts(std::span<const Access> touched, std::span<const uint8_t> lane) {
  uint64_t widest = 1;
  for (const Access &each : touched) widest = std::max<uint64_t>(widest, parts_of(each.bytes, kWord));
  const bool at_once = widest == 1 || widest == 2 || widest == 4;
  const uint64_t lanes_at_once = at_once ? kBanks / widest : kBanks;
  const uint64_t words_at_once = at_once ? widest : 1;
  uint64_t all = 0;
  for (size_t first = 0; first < touched.size();) {
    size_t end = first;
    while (end < touched.size() && lane[end] / lanes_at_once == lane[first] / lanes_at_once) ++end;
    for (uint64_t word = 0; word < widest; word += words_at_once) {
      std::vector<uint64_t> wanted;
      for (size_t i = first; i < end; ++i) {
        const uint64_t has = parts_of(touched[i].address % kWord + touched[i].bytes, kWord);
        for (uint64_t own = word; own < std::min(has, word + words_at_once); ++own) {
          wanted.push_back(touched[i].address / kWord + own);
        }
      }
      if (!wanted.empty()) all += wavefronts_of(std::move(wanted));
    }
    first = end;
  }
  return all;
}

using Key = std::tuple<uint16_t, Space>;
using Sums = std::map<Key, AccessUse>;

struct OfStream {
  Sums sums;
  std::map<uint32_t, uint64_t> warps;  ///< that have it, by kernel
};

/// What lanes of one event touch, by memory; kept from event to event for its memory.
struct Touched {
  std::array<std::vector<Access>, 4> accesses;
  std::array<std::vector<uint8_t>, 4> lanes;
};

void take(const gpu::Event &event, Touched *scratch, Sums *sums) {
  auto &[touched, lanes] = *scratch;
  for (auto &each : touched) each.clear();
  for (auto &each : lanes) each.clear();
  auto value = event.values.begin();
  for (uint64_t rest = event.mask; rest != 0 && value != event.values.end(); rest &= rest - 1, ++value) {
    const Access access = gpu::access_of(*value);
    touched[static_cast<size_t>(access.space)].push_back(access);
    lanes[static_cast<size_t>(access.space)].push_back(static_cast<uint8_t>(std::countr_zero(rest)));
  }
  for (size_t space = 0; space < touched.size(); ++space) {
    if (touched[space].empty()) continue;
    (*sums)[{event.location, static_cast<Space>(space)}].add(request_of(touched[space], lanes[space]), 1);
  }
}

}  // namespace

double AccessUse::mean() const {
  return requests == 0 ? 0 : static_cast<double>(moved) / static_cast<double>(requests);
}

double AccessUse::efficiency() const {
  return moved == 0 ? 1 : static_cast<double>(least) / static_cast<double>(moved);
}

void AccessUse::add(const AccessUse &other, uint64_t times) {
  requests += times * other.requests;
  lanes += times * other.lanes;
  bytes += times * other.bytes;
  moved += times * other.moved;
  least += times * other.least;
  most = std::max(most, other.most);
  other_steps += times * other.other_steps;
  for (const auto &[step, pairs] : other.steps) {
    const auto found = steps.find(step);
    if (found != steps.end()) {
      found->second += times * pairs;
    } else if (steps.size() < kSteps) {
      steps.emplace(step, times * pairs);
    } else {
      other_steps += times * pairs;
    }
  }
}

AccessUse request_of(std::span<const Access> touched, std::span<const uint8_t> lane) {
  AccessUse use;
  use.requests = 1;
  use.lanes = touched.size();
  Spans spans;
  spans.reserve(touched.size());
  uint64_t *last = nullptr;  // of the step before, which mostly comes again
  int64_t last_step = 0;
  for (size_t i = 0; i < touched.size(); ++i) {
    spans.emplace_back(touched[i].address, touched[i].address + std::max<uint64_t>(touched[i].bytes, 1));
    if (i == 0) continue;
    const auto step = static_cast<int64_t>(touched[i].address - touched[i - 1].address);
    if (last == nullptr || step != last_step) last = &use.steps[step];
    ++*last;
    last_step = step;
  }
  if (!std::is_sorted(spans.begin(), spans.end())) std::sort(spans.begin(), spans.end());
  use.bytes = pieces(spans, 0);
  if (touched.empty()) return use;
  use.space = touched.front().space;
  if (use.space == Space::global) {
    use.moved = pieces(spans, kSectorWidth);
    use.least = parts_of(use.bytes, kSector);
  } else if (use.space == Space::shared) {
    use.moved = wavefronts(touched, lane);
    use.least = std::min(use.moved, parts_of(use.bytes, kBanks * kWord));
  }
  use.most = use.moved;
  return use;
}

Result<std::vector<AccessUse>> gpu_accesses(const gpu::Launches &launches) {
  // How a stream is read depends on these of its launch.
  std::map<std::tuple<uint32_t, gpu::CoderKind, uint8_t, uint8_t, uint32_t>, OfStream> known;
  Touched scratch;
  for (uint32_t number = 0; number < launches.launches.size(); ++number) {
    const gpu::LaunchRecord &launch = launches.launches[number];
    const gpu::ProgramRecord &program = launches.programs[launch.program];
    if (!program.has_accesses()) continue;
    for (const gpu::WarpStreams &warp : launch.warps) {
      for (const uint32_t stream : warp.streams) {
        const auto [at, fresh] =
            known.try_emplace({launch.program, launch.coder, launch.location_bits, launch.lanes, stream});
        OfStream &told = at->second;
        ++told.warps[launch.kernel];
        if (!fresh) continue;
        auto done = launches.visit(launch, stream, [&](const gpu::Event &event) {
          if (program.is_access(event.location)) take(event, &scratch, &told.sums);
        });
        if (!done) {
          done.error().message += " of warp " + std::to_string(warp.index) + " in launch " + std::to_string(number);
          return tl::unexpected(done.error());
        }
      }
    }
  }
  std::map<std::tuple<uint32_t, uint32_t, uint16_t, Space>, AccessUse> all;
  for (const auto &[reading, told] : known) {
    for (const auto &[kernel, warps] : told.warps) {
      for (const auto &[key, use] : told.sums) {
        const auto &[location, space] = key;
        AccessUse &sum = all[{std::get<0>(reading), kernel, location, space}];
        sum.program = std::get<0>(reading);
        sum.kernel = kernel;
        sum.location = location;
        sum.space = space;
        sum.add(use, warps);
      }
    }
  }
  std::vector<AccessUse> uses;
  uses.reserve(all.size());
  for (auto &[key, use] : all) uses.push_back(std::move(use));
  return uses;
}

}  // namespace cairn::analyze
