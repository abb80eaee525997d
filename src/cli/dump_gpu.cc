#include "cli/dump_gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>

#include "cli/kernels.h"
#include "gpu/analyze/points.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "text/utf8.h"

namespace cairn::cli {
namespace {

/// As a number; floats that are none become null.
nlohmann::ordered_json json_of(gpu::ValueType type, uint64_t value) {
  switch (type) {
    case gpu::ValueType::i32:
      return static_cast<int32_t>(value);
    case gpu::ValueType::i64:
      return static_cast<int64_t>(value);
    case gpu::ValueType::f32:
      return std::bit_cast<float>(static_cast<uint32_t>(value));
    case gpu::ValueType::f64:
      return std::bit_cast<double>(value);
    default:
      return value;
  }
}

std::string text_of(gpu::ValueType type, uint64_t value) {
  if (type == gpu::ValueType::f32) return fmt::format("{}", std::bit_cast<float>(static_cast<uint32_t>(value)));
  if (type == gpu::ValueType::f64) return fmt::format("{}", std::bit_cast<double>(value));
  return json_of(type, value).dump();
}

/// " = 5" where all lanes say so, else " = 5 6 7 …", a lane each.
std::string values_text(const gpu::Event &event) {
  if (event.type == gpu::ValueType::none) return {};
  const bool one =
      std::adjacent_find(event.values.begin(), event.values.end(), std::not_equal_to<>()) == event.values.end();
  std::string text = " =";
  for (size_t i = 0; i < (one ? std::min<size_t>(1, event.values.size()) : event.values.size()); ++i) {
    text += " " + text_of(event.type, event.values[i]);
  }
  return text;
}

/// " = 4 bytes of global memory at 7f0010 7f0014 …", a lane each, and so on where lanes differ in more.
std::string accesses_text(const gpu::Event &event) {
  std::string text;
  std::string before;
  for (const uint64_t value : event.values) {
    const gpu::Access access = gpu::access_of(value);
    const std::string what = fmt::format("{} bytes of {} memory at", access.bytes, name_of(access.space));
    if (what != before) text += (before.empty() ? " = " : ", ") + what;
    before = what;
    text += fmt::format(" {:x}", access.address);
  }
  return text;
}

/// Prints one warp's events.
class WarpDump {
 public:
  WarpDump(Output &out, const Inspection &options, const GpuDump &what, const gpu::Launches &launches)
      : out_(out), options_(options), what_(what), launches_(launches) {}

  Result<void> warp(uint32_t number, const gpu::WarpStreams &warp) {
    const gpu::LaunchRecord &launch = launches_.launches[number];
    number_ = number;
    index_ = warp.index;
    lanes_ = launch.lanes;
    program_ = &launches_.programs[launch.program];
    if (!what_.raw5 && !options_.json && !full()) {
      out_.write(fmt::format("launch {} {}, warp {}{}\n", number, program_->kernel(launch.kernel), warp.index,
                             warp.lost == 0 ? "" : ", " + plural(warp.lost, "event") + " not kept"));
    }
    auto done = launches_.visit(launch, warp, [this](const gpu::Event &event) { take(event); });
    flush();
    return done;
  }
  [[nodiscard]] bool full() const { return options_.filter.limit && written_ >= *options_.filter.limit; }

 private:
  void take(const gpu::Event &event) {
    if (what_.join && held_ && pending_.location == event.location && (pending_.mask & event.mask) == 0 &&
        pending_.type == event.type) {
      join(event);
      return;
    }
    flush();
    pending_ = event;
    held_ = true;
  }
  /// Values stay in the order of the lanes.
  void join(const gpu::Event &event) {
    gpu::Event both{pending_.location, pending_.mask | event.mask, event.type};
    size_t own = 0;
    size_t other = 0;
    for (uint64_t rest = both.mask; event.type != gpu::ValueType::none && rest != 0; rest &= rest - 1) {
      const bool first = (pending_.mask & (rest & (~rest + 1))) != 0;
      both.values.push_back(first ? pending_.values[own++] : event.values[other++]);
    }
    pending_ = std::move(both);
  }
  void flush() {
    if (held_ && !full()) write(pending_);
    held_ = false;
  }
  void write(const gpu::Event &event) {
    ++written_;
    if (what_.raw5) {
      std::string bytes(1, static_cast<char>(event.location));
      for (int i = 0; i < 32; i += 8) bytes += static_cast<char>(event.mask >> i);
      out_.write(bytes);
      return;
    }
    const std::string mask = mask_text(event.mask, lanes_);
    const bool is_access = program_->is_access(event.location);
    if (!options_.json) {
      out_.write(fmt::format("  {} {:2}  {}{}\n", mask, std::popcount(event.mask),
                             analyze::point_text(*program_, event.location),
                             is_access ? accesses_text(event) : values_text(event)));
      return;
    }
    nlohmann::ordered_json line{{"launch", number_}, {"warp", index_}, {"location", event.location}, {"mask", mask}};
    add_place(*program_, event.location, &line);
    if (is_access) {
      line["accesses"] = nlohmann::ordered_json::array();
      for (const uint64_t value : event.values) {
        const gpu::Access access = gpu::access_of(value);
        line["accesses"].push_back(
            {{"memory", name_of(access.space)}, {"bytes", access.bytes}, {"address", access.address}});
      }
    } else if (event.type != gpu::ValueType::none) {
      line["type"] = name_of(event.type);
      line["values"] = nlohmann::ordered_json::array();
      for (const uint64_t value : event.values) line["values"].push_back(json_of(event.type, value));
    }
    out_.write(line.dump() + "\n");
  }

  Output &out_;
  const Inspection &options_;
  const GpuDump &what_;
  const gpu::Launches &launches_;
  const gpu::ProgramRecord *program_ = nullptr;
  uint32_t number_ = 0;
  uint32_t index_ = 0;
  unsigned lanes_ = 32;
  gpu::Event pending_;
  bool held_ = false;
  uint64_t written_ = 0;
};

}  // namespace

int dump_gpu(const trace::Trace &trace, const Inspection &options, const GpuDump &what) {
  const auto launches = kernels_of(trace, options.file, "", "leave out --warp and --launch");
  if (!launches) return report(launches.error());
  if (what.launch && *what.launch >= launches->launches.size()) {
    return refuse(fmt::format("there is no launch {}", *what.launch),
                  fmt::format("choose one of 0 to {}", launches->launches.size() - 1), options.file);
  }
  for (const gpu::LaunchRecord &launch : launches->launches) {
    if (!what.raw5) break;
    const bool fits = launch.location_bits == 8 && launch.lanes == 32;
    if (fits && launches->form(launch).value_locations.empty()) continue;
    return refuse(fmt::format("--raw5 has no room for {}", fits ? "values" : "these locations or lanes"), "use --jsonl",
                  options.file);
  }
  Output out;
  if (what.raw5) out.keep_lines();
  if (options.json) out.write("{\"schema\":\"cairn.dump.gpu/1\"}\n");
  WarpDump dump(out, options, what, *launches);
  bool any = false;
  for (uint32_t number = 0; number < launches->launches.size(); ++number) {
    if (what.launch && *what.launch != number) continue;
    for (const gpu::WarpStreams &warp : launches->launches[number].warps) {
      if ((what.warp && *what.warp != warp.index) || dump.full()) continue;
      any = true;
      if (const auto done = dump.warp(number, warp); !done) {
        out.finish();
        return report(done.error(), options.file);
      }
    }
  }
  if (!any && what.warp) {
    return refuse(fmt::format("no warp {} was traced", *what.warp), "cairn gpu divergence names some", options.file);
  }
  return out.finish();
}

}  // namespace cairn::cli
