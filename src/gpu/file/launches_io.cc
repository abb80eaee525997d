// The sections `gpu` and `warps`. Numbers of one meaning stand together, so that the file's codecs find them alike.
#include <algorithm>
#include <cassert>

#include "gpu/file/launches.h"

namespace cairn::gpu {
namespace {

constexpr uint32_t kMostLaunches = 1u << 24;
constexpr uint64_t kMostWarps = uint64_t{1} << 28;

tl::unexpected<Error> broken(const char *section, const char *what, size_t at) {
  return fail(ErrorKind::unreadable,
              std::string("section '") + section + "' is damaged at byte " + std::to_string(at) + ": " + what,
              "record the run again");
}

void write_program(const ProgramRecord &program, ByteWriter *out) {
  out->text(program.file);
  out->fixed64(program.source_hash);
  out->varint(program.kernels.size());
  for (const std::string &kernel : program.kernels) out->text(kernel);
  out->varint(program.locations.size());
  for (const LocationRecord &location : program.locations) {
    out->varint(location.id);
    out->byte(static_cast<uint8_t>(location.kind));
    out->text(location.function);
    out->text(location.file);
    out->varint(location.line);
    if (is_access(location.kind)) out->varint(location.column);
  }
  out->varint(program.successors.size());
  for (const auto &[a, b] : program.successors) {
    out->varint(a);
    out->varint(b);
  }
}

ProgramRecord read_program(ByteReader &in) {
  ProgramRecord program;
  program.file = in.text();
  program.source_hash = in.fixed64();
  const size_t kernels = in.count();
  if (!in.take(kernels, sizeof(std::string))) return program;
  program.kernels.resize(kernels);
  for (std::string &kernel : program.kernels) kernel = in.text();
  const size_t locations = in.count(5);
  if (!in.take(locations, sizeof(LocationRecord) + 2 * sizeof(uint16_t))) return program;
  program.locations.resize(locations);
  uint32_t least = 1;
  for (LocationRecord &location : program.locations) {
    const uint64_t id = in.varint();
    const uint8_t kind = in.byte();
    if (id < least || id > UINT16_MAX || kind >= kKinds) in.fail();
    least = static_cast<uint32_t>(id) + 1;
    location.id = static_cast<uint16_t>(id);
    location.kind = static_cast<Kind>(kind < kKinds ? kind : 0);
    location.function = in.text();
    location.file = in.text();
    location.line = static_cast<uint32_t>(in.varint());
    if (is_access(location.kind)) location.column = static_cast<uint32_t>(in.varint());
  }
  const size_t successors = in.count(2);
  if (!in.take(successors, 2 * sizeof program.successors[0])) return program;
  program.successors.resize(successors);
  for (auto &[a, b] : program.successors) {
    const uint64_t from = in.varint();
    const uint64_t to = in.varint();
    if (from > UINT16_MAX || to > UINT16_MAX || to == 0) in.fail();
    a = static_cast<uint16_t>(from);
    b = static_cast<uint16_t>(to);
  }
  return program;
}

void write_head(const LaunchRecord &launch, ByteWriter *out) {
  out->varint(launch.rank);
  out->varint(launch.program);
  out->varint(launch.kernel);
  out->varint(launch.device);
  out->varint(launch.stream);
  for (const uint32_t size : launch.grid) out->varint(size);
  for (const uint32_t size : launch.block) out->varint(size);
  out->byte(static_cast<uint8_t>(launch.coder));
  out->byte(launch.location_bits);
  out->byte(launch.lanes);
  out->byte(launch.ring ? 1 : 0);
  out->varint(launch.first_block);
  out->varint(launch.end_block);
  out->varint(launch.one_in);
  out->varint(launch.warps.size());
}

/// Gives the number of warps.
uint64_t read_head(ByteReader &in, size_t programs, LaunchRecord *launch) {
  const auto number = [&in](uint32_t least, uint64_t most) {
    const uint64_t value = in.varint();
    if (value < least || value > most) in.fail();
    return static_cast<uint32_t>(value);
  };
  launch->rank = number(0, UINT32_MAX);
  launch->program = number(0, programs == 0 ? 0 : programs - 1);
  if (programs == 0) in.fail();
  launch->kernel = number(0, UINT32_MAX);
  launch->device = number(0, UINT32_MAX);
  launch->stream = number(0, UINT32_MAX);
  for (uint32_t &size : launch->grid) size = number(1, INT32_MAX);
  for (uint32_t &size : launch->block) size = number(1, 1024);
  const uint8_t coder = in.byte();
  launch->location_bits = in.byte();
  launch->lanes = in.byte();
  const uint8_t ring = in.byte();
  if (!is_coder(coder) || (launch->location_bits != 8 && launch->location_bits != 16) ||
      (launch->lanes != 32 && launch->lanes != 64) || ring > 1) {
    in.fail();
  }
  launch->coder = static_cast<CoderKind>(coder);
  launch->ring = ring != 0;
  launch->first_block = number(0, UINT32_MAX);
  launch->end_block = number(0, UINT32_MAX);
  launch->one_in = number(1, UINT32_MAX);
  return in.varint();
}

/// Equal numbers that follow each other are one.
class Runs {
 public:
  explicit Runs(ByteWriter *out) : out_(out) {}
  Runs(const Runs &) = delete;
  Runs &operator=(const Runs &) = delete;
  ~Runs() { flush(); }
  void add(uint64_t value) {
    if (count_ != 0 && value != value_) flush();
    value_ = value;
    ++count_;
  }

 private:
  void flush() {
    if (count_ == 0) return;
    out_->varint(count_);
    out_->varint(value_);
    count_ = 0;
  }
  ByteWriter *out_;
  uint64_t value_ = 0;
  uint64_t count_ = 0;
};

class RunReader {
 public:
  explicit RunReader(ByteReader &in) : in_(in) {}
  uint64_t next() {
    if (left_ == 0) {
      left_ = in_.varint();
      value_ = in_.varint();
      if (left_ == 0) in_.fail();
    }
    if (in_.failed()) return 0;
    --left_;
    return value_;
  }
  /// All runs were used up.
  [[nodiscard]] bool at_end() const { return left_ == 0; }

 private:
  ByteReader &in_;
  uint64_t left_ = 0;
  uint64_t value_ = 0;
};

constexpr uint8_t kMade = 1;
constexpr uint8_t kPlaced = 2;
constexpr uint8_t kRan = 4;

uint8_t known_of(const LaunchMoment &moment) {
  return static_cast<uint8_t>((moment.made ? kMade : 0) | (moment.placed ? kPlaced : 0) | (moment.ran ? kRan : 0));
}

/// Calls `with` with the moments of launches of which `what` is known.
template <typename All, typename With>
void each_of(uint8_t what, All &launches, const With &with) {
  for (auto &launch : launches) {
    if ((known_of(launch.moment) & what) != 0) with(launch.moment);
  }
}

bool has_clocks(const LaunchRecord &launch) { return !launch.clocks.empty(); }
bool tells_why(const LaunchRecord &launch) { return launch.why != Untraced::not_told; }

/// Nothing where nothing is known and nothing follows: so it was before there were moments.
void write_moments(const std::vector<LaunchRecord> &launches, ByteWriter *out) {
  const auto unknown = [](const LaunchRecord &launch) {
    return known_of(launch.moment) == 0 && !has_clocks(launch) && !tells_why(launch);
  };
  if (std::all_of(launches.begin(), launches.end(), unknown)) return;
  {
    Runs known(out);
    for (const LaunchRecord &launch : launches) known.add(known_of(launch.moment));
  }
  int64_t made = 0;
  each_of(kMade, launches, [&](const LaunchMoment &moment) {
    out->signed_varint(moment.made_ns - made);
    made = moment.made_ns;
  });
  {
    Runs threads(out);
    each_of(kPlaced, launches, [&](const LaunchMoment &moment) { threads.add(moment.thread); });
  }
  uint64_t calls = 0;
  each_of(kPlaced, launches, [&](const LaunchMoment &moment) {
    out->signed_varint(static_cast<int64_t>(moment.calls - calls));
    calls = moment.calls;
  });
  each_of(kRan, launches, [&](const LaunchMoment &moment) { out->signed_varint(moment.begin_ns - moment.made_ns); });
  each_of(kRan, launches, [&](const LaunchMoment &moment) { out->varint(moment.duration_ns); });
}

void read_moments(ByteReader &in, std::vector<LaunchRecord> *launches) {
  constexpr int64_t kMost = int64_t{1} << 60;  // sums of some of them are numbers yet
  const auto bounded = [&in](int64_t value) {
    if (value < -kMost || value > kMost) in.fail();
    return in.failed() ? 0 : value;
  };
  RunReader known(in);
  for (LaunchRecord &launch : *launches) {
    const uint64_t what = known.next();
    if (what > (kMade | kPlaced | kRan) || ((what & kRan) != 0 && (what & kMade) == 0)) in.fail();
    launch.moment.made = (what & kMade) != 0;
    launch.moment.placed = (what & kPlaced) != 0;
    launch.moment.ran = (what & kRan) != 0;
  }
  if (!known.at_end()) in.fail();
  int64_t made = 0;
  each_of(kMade, *launches, [&](LaunchMoment &moment) {
    made = bounded(made + bounded(in.signed_varint()));
    moment.made_ns = made;
  });
  RunReader threads(in);
  each_of(kPlaced, *launches, [&](LaunchMoment &moment) {
    const uint64_t thread = threads.next();
    if (thread > UINT32_MAX) in.fail();
    moment.thread = static_cast<uint32_t>(thread);
  });
  if (!threads.at_end()) in.fail();
  int64_t calls = 0;
  each_of(kPlaced, *launches, [&](LaunchMoment &moment) {
    calls = bounded(calls + bounded(in.signed_varint()));
    if (calls < 0) in.fail();
    moment.calls = static_cast<uint64_t>(calls);
  });
  each_of(kRan, *launches,
          [&](LaunchMoment &moment) { moment.begin_ns = moment.made_ns + bounded(in.signed_varint()); });
  each_of(kRan, *launches, [&](LaunchMoment &moment) {
    moment.duration_ns = in.varint();
    if (moment.duration_ns > uint64_t{kMost}) in.fail();
  });
}

/// Nothing where there are none and nothing follows.
void write_clocks(const std::vector<LaunchRecord> &launches, ByteWriter *out) {
  if (std::none_of(launches.begin(), launches.end(),
                   [](const LaunchRecord &launch) { return has_clocks(launch) || tells_why(launch); })) {
    return;
  }
  {
    Runs has(out);
    for (const LaunchRecord &launch : launches) has.add(has_clocks(launch) ? uint64_t{launch.processors} + 1 : 0);
  }
  const auto each = [&](const auto &with) {
    for (const LaunchRecord &launch : launches) {
      assert(!has_clocks(launch) || launch.clocks.size() == launch.warps.size());
      for (size_t i = 0; i < launch.clocks.size(); ++i)
        with(launch.clocks[i], i == 0 ? WarpClock() : launch.clocks[i - 1]);
    }
  };
  {
    Runs ended(out);
    each([&](const WarpClock &clock, const WarpClock &) { ended.add(clock.ended ? 1 : 0); });
  }
  each([&](const WarpClock &clock, const WarpClock &before) {
    out->signed_varint(int64_t{clock.processor} - int64_t{before.processor});
  });
  each([&](const WarpClock &clock, const WarpClock &before) {
    out->signed_varint(static_cast<int64_t>(clock.begin - before.begin));
  });
  each([&](const WarpClock &clock, const WarpClock &) {
    if (clock.ended) out->varint(clock.cycles);
  });
}

void read_clocks(ByteReader &in, std::vector<LaunchRecord> *launches) {
  RunReader has(in);
  for (LaunchRecord &launch : *launches) {
    const uint64_t told = has.next();
    if (told > uint64_t{UINT32_MAX} + 1) in.fail();
    if (in.failed() || told == 0) continue;
    launch.processors = static_cast<uint32_t>(told - 1);
    // Each has a byte for its processor.
    if (launch.warps.empty() || launch.warps.size() > in.remaining()) in.fail();
    if (!in.take(launch.warps.size(), sizeof(WarpClock))) return;
    launch.clocks.resize(launch.warps.size());
  }
  if (!has.at_end()) in.fail();
  const auto each = [&](const auto &with) {
    for (LaunchRecord &launch : *launches) {
      WarpClock before;
      for (WarpClock &clock : launch.clocks) {
        if (in.failed()) return;
        with(clock, before);
        before = clock;
      }
    }
  };
  RunReader ended(in);
  each([&](WarpClock &clock, const WarpClock &) {
    const uint64_t told = ended.next();
    if (told > 1) in.fail();
    clock.ended = told == 1;
  });
  if (!ended.at_end()) in.fail();
  each([&](WarpClock &clock, const WarpClock &before) {
    int64_t number = 0;
    if (__builtin_add_overflow(int64_t{before.processor}, in.signed_varint(), &number)) in.fail();
    if (number < 0 || number > int64_t{UINT32_MAX}) in.fail();
    clock.processor = static_cast<uint32_t>(number);
  });
  each([&](WarpClock &clock, const WarpClock &before) {
    clock.begin = before.begin + static_cast<uint64_t>(in.signed_varint());
    if (clock.begin >= WarpClock::kMost) in.fail();
  });
  each([&](WarpClock &clock, const WarpClock &) {
    if (clock.ended) clock.cycles = in.varint();
    if (clock.cycles >= WarpClock::kMost) in.fail();
  });
}

/// Nothing where nobody knows.
void write_reasons(const std::vector<LaunchRecord> &launches, ByteWriter *out) {
  if (std::none_of(launches.begin(), launches.end(), tells_why)) return;
  Runs reasons(out);
  for (const LaunchRecord &launch : launches) {
    if (launch.warps.empty()) reasons.add(static_cast<uint64_t>(launch.why));
  }
}

void read_reasons(ByteReader &in, std::vector<LaunchRecord> *launches) {
  RunReader reasons(in);
  for (LaunchRecord &launch : *launches) {
    if (launch.warps.empty()) launch.why = untraced_of(reasons.next());
  }
  if (!reasons.at_end()) in.fail();
}

}  // namespace

std::pair<Bytes, Bytes> Launches::write() const {
  ByteWriter gpu;
  gpu.varint(programs.size());
  for (const ProgramRecord &program : programs) write_program(program, &gpu);
  gpu.varint(launches.size());
  for (const LaunchRecord &launch : launches) write_head(launch, &gpu);
  {
    Runs steps(&gpu);
    for (const LaunchRecord &launch : launches) {
      uint32_t expected = 0;
      for (const WarpStreams &warp : launch.warps) {
        steps.add(warp.index - expected);
        expected = warp.index + 1;
      }
    }
  }
  {
    Runs lost(&gpu);
    for (const LaunchRecord &launch : launches) {
      for (const WarpStreams &warp : launch.warps) lost.add(warp.lost);
    }
  }
  {
    Runs counts(&gpu);
    for (const LaunchRecord &launch : launches) {
      for (const WarpStreams &warp : launch.warps) counts.add(warp.streams.size());
    }
  }
  // A stream that was not seen before is 0, so most numbers are small.
  uint32_t fresh = 0;
  for (const LaunchRecord &launch : launches) {
    for (const WarpStreams &warp : launch.warps) {
      if (warp.streams.empty()) gpu.byte(0);  // every warp has a byte, so that sizes bound counts
      for (const uint32_t stream : warp.streams) {
        gpu.varint(stream == fresh ? 0 : uint64_t{stream} + 1);
        fresh += stream == fresh ? 1 : 0;
      }
    }
  }
  write_moments(launches, &gpu);
  write_clocks(launches, &gpu);
  write_reasons(launches, &gpu);
  ByteWriter data;
  data.varint(streams.size());
  {
    Runs all(&data);
    for (const StreamRecord &stream : streams) all.add(stream.all);
  }
  for (const StreamRecord &stream : streams) data.varint(stream.events);
  for (const StreamRecord &stream : streams) data.varint(stream.bytes.size());
  for (const StreamRecord &stream : streams) data.raw(stream.bytes);
  return {gpu.take(), data.take()};
}

Result<Launches> Launches::read(ByteView gpu, ByteView warps, Allowance *allowance) {
  constexpr uint64_t kNode = 96;                                          // of a map, or around a block of memory
  constexpr uint64_t kWarp = 2 * sizeof(WarpStreams) + sizeof(uint64_t);  // in a vector that grows
  const auto wrong = [allowance](const char *section, const char *what, size_t at) {
    const bool spent = allowance != nullptr && allowance->spent();
    return broken(section, spent ? "it stands for more than a file of so few bytes may" : what, at);
  };
  Launches out;
  ByteReader data(warps, allowance);
  const size_t stream_count = data.count(2);
  if (!data.take(stream_count, sizeof(StreamRecord) + sizeof(size_t) * 2 + kNode) || !data.take(warps.size())) {
    return wrong("warps", "not so many streams", data.position());
  }
  out.streams.resize(stream_count);
  RunReader all(data);
  for (StreamRecord &stream : out.streams) stream.all = all.next();
  if (!all.at_end()) data.fail();
  for (StreamRecord &stream : out.streams) {
    stream.events = data.varint();
    if (stream.events > kMostEvents) data.fail();
  }
  std::vector<size_t> sizes;
  for (size_t i = 0; i < out.streams.size(); ++i) sizes.push_back(data.varint());
  for (size_t i = 0; i < out.streams.size(); ++i) {
    const ByteView bytes = data.raw(sizes[i]);
    out.streams[i].bytes.assign(bytes.begin(), bytes.end());
  }
  if (data.failed() || !data.at_end()) return wrong("warps", "not so many streams", data.position());

  ByteReader in(gpu, allowance);
  const size_t program_count = in.count(12);
  if (!in.take(program_count, sizeof(ProgramRecord) + 2 * sizeof(Derived)))
    return wrong("gpu", "a launch that cannot be", in.position());
  out.programs.resize(program_count);
  for (ProgramRecord &program : out.programs) {
    program = read_program(in);
    out.derived_.push_back({program.guesses(), program.value_locations()});
  }
  const size_t launch_count = in.count(16);
  if (!in.take(launch_count, sizeof(LaunchRecord) + 2 * sizeof(uint64_t)))
    return wrong("gpu", "a launch that cannot be", in.position());
  out.launches.resize(launch_count);
  uint64_t warp_count = 0;
  std::vector<uint64_t> counts;
  for (LaunchRecord &launch : out.launches) {
    counts.push_back(read_head(in, out.programs.size(), &launch));
    const uint64_t blocks = uint64_t{launch.grid[0]} * launch.grid[1];
    const uint64_t threads = uint64_t{launch.block[0]} * launch.block[1] * launch.block[2];
    if (blocks > UINT32_MAX || threads > 1024 || counts.back() > kMostWarps) in.fail();
    warp_count += counts.back();
  }
  if (in.failed() || out.launches.size() > kMostLaunches || warp_count > in.remaining()) {
    return wrong("gpu", "a launch that cannot be", in.position());
  }
  if (!in.take(warp_count, kWarp)) return wrong("gpu", "a launch that cannot be", in.position());
  RunReader steps(in);
  for (size_t i = 0; i < out.launches.size(); ++i) {
    uint64_t expected = 0;
    for (uint64_t w = 0; w < counts[i] && !in.failed(); ++w) {
      const uint64_t index = expected + steps.next();
      if (index > UINT32_MAX) in.fail();
      out.launches[i].warps.push_back({static_cast<uint32_t>(index), 0, {}});
      expected = index + 1;
    }
  }
  if (!steps.at_end()) in.fail();
  RunReader lost(in);
  for (LaunchRecord &launch : out.launches) {
    for (WarpStreams &warp : launch.warps) warp.lost = lost.next();
  }
  if (!lost.at_end()) in.fail();
  if (in.failed()) return wrong("gpu", "warps that cannot be", in.position());
  RunReader streams(in);
  std::vector<uint64_t> stream_counts;
  for (uint64_t w = 0; w < warp_count; ++w) stream_counts.push_back(streams.next());
  if (!streams.at_end() || in.failed()) return wrong("gpu", "warps that cannot be", in.position());
  uint32_t fresh = 0;
  size_t at = 0;
  for (LaunchRecord &launch : out.launches) {
    for (WarpStreams &warp : launch.warps) {
      if (stream_counts[at] == 0 && in.byte() != 0) in.fail();
      for (uint64_t n = stream_counts[at++]; n != 0 && !in.failed(); --n) {
        const uint64_t number = in.varint();
        const uint64_t stream = number == 0 ? fresh++ : number - 1;
        if (stream >= out.streams.size()) return wrong("gpu", "a warp with no stream", in.position());
        in.take(warp.streams.empty() ? kNode : 2 * sizeof(uint32_t));
        warp.streams.push_back(static_cast<uint32_t>(stream));
      }
    }
  }
  if (in.failed()) return wrong("gpu", "not so many warps", in.position());
  if (!in.at_end()) read_moments(in, &out.launches);  // there were none at first
  if (!in.failed() && !in.at_end()) read_clocks(in, &out.launches);
  if (!in.failed() && !in.at_end()) read_reasons(in, &out.launches);
  if (in.failed() || !in.at_end()) return wrong("gpu", "launches at times that cannot be", in.position());
  out.know_streams();
  return out;
}

}  // namespace cairn::gpu
