#include "gpu/file/collect.h"

#include <algorithm>
#include <cstring>

#include "trace/merge/part.h"
#include "trace/read/edit.h"
#include "trace/read/trace.h"

namespace cairn::gpu {
namespace {

std::string text_of(const char *text) { return text == nullptr ? "" : text; }

}  // namespace

ProgramRecord program_of(const cairn_gpu_program &from) {
  ProgramRecord program;
  program.file = text_of(from.file);
  program.source_hash = from.source_hash;
  for (uint32_t i = 0; i < from.kernel_count; ++i) program.kernels.push_back(text_of(from.kernels[i]));
  for (uint32_t i = 0; i < from.location_count; ++i) {
    const cairn_gpu_location &each = from.locations[i];
    if (each.id == 0 || each.kind >= kKinds) continue;
    program.locations.push_back(
        {each.id, static_cast<Kind>(each.kind), text_of(each.function), text_of(each.file), each.line, each.column});
    if (!is_access(program.locations.back().kind)) program.locations.back().column = 0;
  }
  std::sort(program.locations.begin(), program.locations.end(),
            [](const LocationRecord &a, const LocationRecord &b) { return a.id < b.id; });
  program.locations.erase(std::unique(program.locations.begin(), program.locations.end(),
                                      [](const auto &a, const auto &b) { return a.id == b.id; }),
                          program.locations.end());
  for (const uint16_t *pair = from.successors; pair != nullptr && pair[1] != 0; pair += 2) {
    program.successors.emplace_back(pair[0], pair[1]);
  }
  return program;
}

namespace {

StreamRecord stream_of(const uint32_t *words, uint32_t count, uint64_t events, uint64_t all) {
  StreamRecord stream{events, all, Bytes(size_t{count} * 4)};
  if (count == 0) return stream;
  std::memcpy(stream.bytes.data(), words, stream.bytes.size());
  for (int i = 0; i < 3 && stream.bytes.back() == 0; ++i) stream.bytes.pop_back();
  return stream;
}

/// The warp's streams, or false if its words do not hold what it says.
bool add_warp(const cairn_gpu_launch &launch, const cairn_gpu_warp &from, Launches *to, WarpStreams *warp) {
  warp->index = from.index;
  warp->lost = from.lost;
  if (from.offset > launch.word_count || from.words > launch.word_count - from.offset) return false;
  const uint32_t *words = launch.words + from.offset;
  if (launch.policy == 0) {
    if (from.events != 0) warp->streams.push_back(to->add(stream_of(words, from.words, from.events, from.all)));
    return true;
  }
  uint32_t left = from.words;
  for (uint32_t chunk = 0; chunk < from.chunks; ++chunk) {
    if (left < 2 || words[1] > left - 2) return false;
    if (words[0] != 0) warp->streams.push_back(to->add(stream_of(words + 2, words[1], words[0], from.all)));
    left -= 2 + words[1];
    words += 2 + words[1];
  }
  return true;
}

LaunchMoment moment_of(const cairn_gpu_moment &from) {
  constexpr uint64_t kMost = uint64_t{1} << 59;  // as many nanoseconds as 18 years have
  LaunchMoment moment;
  moment.made = from.made_ns != 0 && from.made_ns < kMost;
  moment.made_ns = moment.made ? static_cast<int64_t>(from.made_ns) : 0;
  moment.placed = moment.made;
  moment.thread = moment.placed ? from.thread : 0;
  moment.calls = moment.placed && from.calls < kMost ? from.calls : 0;
  moment.ran = moment.made && from.begin_ns != 0 && from.begin_ns <= from.end_ns && from.end_ns < kMost;
  if (!moment.ran) return moment;
  moment.begin_ns = static_cast<int64_t>(from.begin_ns);
  moment.duration_ns = from.end_ns - from.begin_ns;
  return moment;
}

/// Of so many warps.
std::vector<WarpClock> clocks_of(const cairn_gpu_clock *clocks, uint32_t count) {
  std::vector<WarpClock> all(count);
  uint64_t zero = UINT64_MAX;
  for (uint32_t i = 0; i < count; ++i) {
    if (clocks[i].told != 0) zero = std::min(zero, clocks[i].begin);
  }
  for (uint32_t i = 0; i < count; ++i) {
    const cairn_gpu_clock &from = clocks[i];
    if (from.told == 0 || from.begin - zero >= WarpClock::kMost) continue;
    all[i].processor = from.processor;
    all[i].begin = from.begin - zero;
    all[i].ended = from.told == 2 && from.end >= from.begin && from.end - from.begin < WarpClock::kMost;
    if (all[i].ended) all[i].cycles = from.end - from.begin;
  }
  return all;
}

}  // namespace

uint32_t Collected::number_of(const cairn_gpu_program &program) {
  const auto known = programs_.find(&program);
  if (known != programs_.end()) return known->second;
  const uint32_t number = launches_.add(program_of(program));
  programs_.emplace(&program, number);
  return number;
}

std::optional<LaunchRecord> record_of(const cairn_gpu_launch &launch, const AboutLaunch &about) {
  const bool known_form = is_coder(launch.coder) && (launch.location_bits == 8 || launch.location_bits == 16) &&
                          (launch.lanes == 32 || launch.lanes == 64) && launch.policy <= 1 && launch.one_in != 0;
  if (launch.program == nullptr || !known_form) return std::nullopt;
  LaunchRecord record;
  record.kernel = launch.kernel;
  record.device = launch.device;
  record.stream = static_cast<uint32_t>(launch.stream);
  for (size_t i = 0; i < 3; ++i) {
    record.grid[i] = launch.grid[i];
    record.block[i] = launch.block[i];
  }
  record.coder = static_cast<CoderKind>(launch.coder);
  record.location_bits = launch.location_bits;
  record.lanes = launch.lanes;
  record.ring = launch.policy == 1;
  record.first_block = launch.first_block;
  record.end_block = launch.end_block;
  record.one_in = launch.one_in;
  if (about.moment != nullptr) record.moment = moment_of(*about.moment);
  if (about.clocks != nullptr) {
    record.clocks = clocks_of(about.clocks, launch.warp_count);
    record.processors = about.processors;
  }
  if (launch.warp_count == 0) record.why = about.why;
  return record;
}

bool Collected::add(const cairn_gpu_launch &launch, const AboutLaunch &about) {
  auto record = record_of(launch, about);
  if (!record) return false;
  record->program = number_of(*launch.program);
  for (uint32_t i = 0; i < launch.warp_count; ++i) {
    WarpStreams warp;
    if (!add_warp(launch, launch.warps[i], &launches_, &warp)) return false;
    record->warps.push_back(std::move(warp));
  }
  launches_.launches.push_back(*std::move(record));
  return true;
}

Bytes file_of(const Launches &launches, const std::string &command, int64_t start_unix_ns, int64_t wall_ns,
              const std::string &status) {
  trace::ProcessRecord process;
  process.wall_ns = static_cast<uint64_t>(wall_ns);
  trace::RunInfo run;
  run.command = command;
  run.recorder = "cairn " CAIRN_VERSION " gpu";
  run.timing = "none";
  run.status = status;
  run.start_unix_ns = start_unix_ns;
  run.wall_ns = process.wall_ns;
  const auto part = trace::Part::of(process);
  if (!part) return {};
  auto file = part->to_file(run);
  if (!file) return {};
  const auto trace = trace::Trace::from_bytes(*std::move(file), "the trace");
  if (!trace) return {};
  auto [gpu, warps] = launches.write();
  return trace::with_gpu(*trace, std::move(gpu), std::move(warps));
}

}  // namespace cairn::gpu
