#include "gpu/analyze/values.h"

#include <bit>
#include <map>
#include <tuple>

namespace cairn::analyze {
namespace {

/// The events of a stream that have the values that are asked for.
struct Told {
  uint64_t events = 0;  ///< all of the stream
  std::vector<std::pair<uint64_t, gpu::Event>> with_values;
};

}  // namespace

double GpuValues::number(size_t entry) const {
  const uint64_t value = bits[entry];
  switch (type[entry]) {
    case gpu::ValueType::i32:
      return static_cast<int32_t>(value);
    case gpu::ValueType::i64:
      return static_cast<double>(static_cast<int64_t>(value));
    case gpu::ValueType::f32:
      return std::bit_cast<float>(static_cast<uint32_t>(value));
    case gpu::ValueType::f64:
      return std::bit_cast<double>(value);
    default:
      return static_cast<double>(value);
  }
}

Result<GpuValues> gpu_values(const gpu::Launches &launches, uint32_t program, uint16_t location) {
  GpuValues out;
  // How a stream is read depends on these of its launch, within a program.
  std::map<std::tuple<gpu::CoderKind, uint8_t, uint8_t, uint32_t>, Told> known;
  for (uint32_t number = 0; number < launches.launches.size(); ++number) {
    const gpu::LaunchRecord &launch = launches.launches[number];
    if (launch.program != program) continue;
    for (const gpu::WarpStreams &warp : launch.warps) {
      uint64_t before = 0;
      for (const uint32_t stream : warp.streams) {
        const auto [at, fresh] = known.try_emplace({launch.coder, launch.location_bits, launch.lanes, stream});
        Told &told = at->second;
        if (fresh) {
          uint64_t held = 0;
          auto done = launches.visit(launch, stream, [&](const gpu::Event &event) {
            if (event.location == location && event.type != gpu::ValueType::none && held <= kMostGpuValues) {
              told.with_values.emplace_back(told.events, event);
              held += event.values.size();
            }
            ++told.events;
          });
          if (!done) {
            done.error().message += " of warp " + std::to_string(warp.index) + " in launch " + std::to_string(number);
            return tl::unexpected(done.error());
          }
        }
        for (const auto &[event_number, event] : told.with_values) {
          if (out.size() + event.values.size() > kMostGpuValues) {
            return fail(ErrorKind::unreadable, "too many values at one point to hold them at once");
          }
          auto value = event.values.begin();
          for (uint64_t rest = event.mask; rest != 0; rest &= rest - 1) {
            out.launch.push_back(number);
            out.warp.push_back(warp.index);
            out.event.push_back(before + event_number);
            out.lane.push_back(static_cast<uint8_t>(std::countr_zero(rest)));
            out.type.push_back(event.type);
            out.bits.push_back(*value++);
          }
        }
        before += told.events;
      }
    }
  }
  return out;
}

}  // namespace cairn::analyze
