#include "gpu/file/launches.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace cairn::gpu {
namespace {

/// Two 64-bit halves: equal hashes are taken as equal streams.
std::pair<uint64_t, uint64_t> key_of(const StreamRecord &stream) {
  ByteWriter out;
  out.varint(stream.events);
  out.fixed64(stream.all);
  out.raw(stream.bytes);
  const Hash128 hash = hash128(out.view());
  return {hash.low, hash.high};
}

}  // namespace

std::string_view name_of(Kind kind) {
  constexpr std::string_view kNames[kKinds] = {"point", "entry",   "then",          "else",   "loop",
                                               "label", "ternary", "short-circuit", "branch", "taken",
                                               "value", "load",    "store",         "update", "atomic"};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view name_of(Space space) {
  constexpr std::string_view kNames[] = {"global", "shared", "local", "other"};
  return kNames[static_cast<size_t>(space) % std::size(kNames)];
}

Guesses ProgramRecord::guesses() const {
  std::vector<uint16_t> pairs;
  for (const auto &[a, b] : successors) {
    pairs.push_back(a);
    pairs.push_back(b);
  }
  pairs.insert(pairs.end(), {0, 0});
  Guesses guesses{};
  add_successors(guesses, pairs.data());
  return guesses;
}

std::vector<uint16_t> ProgramRecord::value_locations() const {
  std::vector<uint16_t> all;
  for (const LocationRecord &location : locations) {
    if (has_values(location.kind)) all.push_back(location.id);
  }
  return all;
}

const LocationRecord *ProgramRecord::find(uint16_t id) const {
  const auto found = std::lower_bound(locations.begin(), locations.end(), id,
                                      [](const LocationRecord &each, uint16_t wanted) { return each.id < wanted; });
  return found == locations.end() || found->id != id ? nullptr : &*found;
}

bool ProgramRecord::is_access(uint16_t id) const {
  const LocationRecord *const found = find(id);
  return found != nullptr && gpu::is_access(found->kind);
}

bool ProgramRecord::has_accesses() const {
  return std::any_of(locations.begin(), locations.end(),
                     [](const LocationRecord &each) { return gpu::is_access(each.kind); });
}

std::string ProgramRecord::kernel(uint32_t number) const {
  return number < kernels.size() ? kernels[number] : "kernel " + std::to_string(number);
}

uint32_t LaunchRecord::warps_per_block() const {
  const uint64_t threads = uint64_t{block[0]} * block[1] * block[2];
  return static_cast<uint32_t>(std::max<uint64_t>(1, (threads + lanes - 1) / lanes));
}

uint32_t Launches::add(ProgramRecord program) {
  const auto found = std::find(programs.begin(), programs.end(), program);
  if (found != programs.end()) return static_cast<uint32_t>(found - programs.begin());
  derived_.push_back({program.guesses(), program.value_locations()});
  programs.push_back(std::move(program));
  return static_cast<uint32_t>(programs.size() - 1);
}

uint32_t Launches::add(StreamRecord stream) {
  const auto [at, fresh] = known_.emplace(key_of(stream), static_cast<uint32_t>(streams.size()));
  if (fresh) streams.push_back(std::move(stream));
  return at->second;
}

void Launches::know_streams() {
  for (uint32_t i = 0; i < streams.size(); ++i) known_.emplace(key_of(streams[i]), i);
}

void Launches::append(Launches other, uint32_t rank) {
  std::vector<uint32_t> program_numbers;
  for (ProgramRecord &program : other.programs) program_numbers.push_back(add(std::move(program)));
  std::vector<uint32_t> stream_numbers;
  for (StreamRecord &stream : other.streams) stream_numbers.push_back(add(std::move(stream)));
  for (LaunchRecord &launch : other.launches) {
    launch.rank = rank;
    launch.program = program_numbers[launch.program];
    for (WarpStreams &warp : launch.warps) {
      for (uint32_t &stream : warp.streams) stream = stream_numbers[stream];
    }
    launches.push_back(std::move(launch));
  }
}

void Launches::count_from(int64_t zero_ns) {
  for (LaunchRecord &launch : launches) {
    launch.moment.made_ns -= launch.moment.made ? zero_ns : 0;
    launch.moment.begin_ns -= launch.moment.ran ? zero_ns : 0;
  }
}

void Launches::forget_places() {
  for (LaunchRecord &launch : launches) {
    launch.moment.placed = false;
    launch.moment.thread = 0;
    launch.moment.calls = 0;
  }
}

StreamForm Launches::form(const LaunchRecord &launch) const {
  const Derived &of = derived_[launch.program];
  return {launch.coder, launch.location_bits, launch.lanes, of.guesses, of.value_locations};
}

Result<void> Launches::visit(const LaunchRecord &launch, uint32_t number, const EventVisitor &visit) const {
  const StreamRecord &stream = streams[number];
  std::vector<uint32_t> words((stream.bytes.size() + 3) / 4);
  if (!words.empty()) std::memcpy(words.data(), stream.bytes.data(), stream.bytes.size());
  return visit_stream(form(launch), words, stream.events, stream.all, visit);
}

Result<void> Launches::visit(const LaunchRecord &launch, const WarpStreams &warp, const EventVisitor &show) const {
  for (const uint32_t number : warp.streams) {
    auto done = visit(launch, number, show);
    if (done) continue;
    done.error().message +=
        " of warp " + std::to_string(warp.index) + " in launch " + std::to_string(&launch - launches.data());
    return done;
  }
  return {};
}

Result<std::vector<Event>> Launches::events(const LaunchRecord &launch, const WarpStreams &warp) const {
  std::vector<Event> all;
  uint64_t count = 0;
  for (const uint32_t number : warp.streams) count += std::min(streams[number].events, kMostAtOnce + 1);
  if (count > most_at_once(form(launch))) {
    return fail(ErrorKind::unreadable, "too many events to hold at once of warp " + std::to_string(warp.index));
  }
  auto done = visit(launch, warp, [&all](const Event &event) { all.push_back(event); });
  if (!done) return tl::unexpected(done.error());
  return all;
}

}  // namespace cairn::gpu
