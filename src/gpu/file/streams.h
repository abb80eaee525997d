// A warp's stream, decoded: the events that a coder was given, in order.
//
// Any bytes may be given: what is no stream of so many events gives an error that says which event is damaged. Cost in
// proportion to the events, at most kMostEvents at a time; no state, any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cairn/gpu/guesses.h"
#include "cairn/gpu/values.h"

namespace cairn::gpu {

struct Event {
  uint16_t location = 0;
  uint64_t mask = 0;  ///< of the lanes that were there together
  ValueType type = ValueType::none;
  std::vector<uint64_t> values{};  ///< their bits, a lane of the mask each, the lowest first; empty with type none
  bool operator==(const Event &) const = default;
};

/// The numbers stand in files.
enum class CoderKind : uint8_t { raw = 0, predict = 2 };
constexpr bool is_coder(uint8_t number) { return number == 0 || number == 2; }
std::string_view name_of(CoderKind coder);
std::string_view name_of(ValueType type);

/// How a launch's streams were made.
struct StreamForm {
  CoderKind coder = CoderKind::predict;
  uint8_t location_bits = 8;  ///< or 16
  uint8_t lanes = 32;         ///< or 64: the width of masks
  Guesses guesses{};
  /// Locations whose events have values, ascending; of somebody who outlives this.
  std::span<const uint16_t> value_locations{};
};

constexpr uint64_t kMostEvents = uint64_t{1} << 40;

using EventVisitor = std::function<void(const Event &)>;
/// Shows `visit` the `events` events of a stream of a warp whose lanes `all` were alive when it began, in order. After
/// an error it has seen those in front of the damage.
Result<void> visit_stream(const StreamForm &form, std::span<const uint32_t> words, uint64_t events, uint64_t all,
                          const EventVisitor &visit);
/// The most events to hold in memory at once. Those without values take 48 bytes there, others up to 560.
constexpr uint64_t kMostAtOnce = uint64_t{1} << 25;
constexpr uint64_t kMostAtOnceWithValues = uint64_t{1} << 22;
uint64_t most_at_once(const StreamForm &form);
/// The stream that a coder makes of `events`: the inverse.
std::vector<uint32_t> encode_stream(const StreamForm &form, std::span<const Event> events, uint64_t all);

}  // namespace cairn::gpu
