// Launches: what the kernels of a run recorded, as it stands in a trace. Warps that did the same share a stream, as
// ranks that did the same share a class.
//
// Owned by whoever made it. `write` and `read` are the sections `gpu` and `warps` (docs/format.md); `read` trusts
// nothing: every number is checked before it becomes an index or an allocation. Decoding a warp costs its events.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/result.h"
#include "cairn/gpu/access.h"
#include "cairn/gpu/program.h"
#include "gpu/file/streams.h"

namespace cairn::gpu {

std::string_view name_of(Kind kind);
std::string_view name_of(Space space);

struct LocationRecord {
  uint16_t id = 0;
  Kind kind = Kind::point;
  std::string function;
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;  ///< of an access, counted from 1; 0: not told
  bool operator==(const LocationRecord &) const = default;
};

struct ProgramRecord {
  std::string file;
  uint64_t source_hash = 0;
  std::vector<std::string> kernels;
  std::vector<LocationRecord> locations;                  ///< ascending ids
  std::vector<std::pair<uint16_t, uint16_t>> successors;  ///< see guesses.h
  bool operator==(const ProgramRecord &) const = default;

  [[nodiscard]] Guesses guesses() const;
  [[nodiscard]] std::vector<uint16_t> value_locations() const;
  [[nodiscard]] const LocationRecord *find(uint16_t id) const;  ///< nullptr if it has none
  [[nodiscard]] bool is_access(uint16_t id) const;              ///< a location at which memory is touched
  [[nodiscard]] bool has_accesses() const;
  [[nodiscard]] std::string kernel(uint32_t number) const;
};

/// A warp's stream, or in a ring one chunk of it.
struct StreamRecord {
  uint64_t events = 0;
  uint64_t all = 0;  ///< lanes that were alive when the kernel began
  Bytes bytes;       ///< words, little-endian, without zeros at the end of the last
  bool operator==(const StreamRecord &) const = default;
};

struct WarpStreams {
  uint32_t index = 0;  ///< in the grid
  uint64_t lost = 0;   ///< events that were not kept: of the end, or in a ring of the beginning
  std::vector<uint32_t> streams;
};

/// When a launch was made and its kernel ran, and where it stands among its rank's MPI calls, as far as that is known.
/// Times are in nanoseconds since the rank's begin, as those of its calls (trace/read/axis.h); where there is
/// no MPI, since the first traced launch. Negative: before.
struct LaunchMoment {
  bool made = false;    ///< `made_ns` is known
  bool placed = false;  ///< `thread` and `calls` are
  bool ran = false;     ///< `begin_ns` and `duration_ns` are; never without `made`
  int64_t made_ns = 0;
  uint32_t thread = 0;       ///< that made it, as the MPI calls' (trace::Event); kNoThread: it had made none
  uint64_t calls = 0;        ///< of that thread, kept in the trace by then
  int64_t begin_ns = 0;      ///< of the kernel, on the device
  uint64_t duration_ns = 0;  ///< likewise
  static constexpr uint32_t kNoThread = UINT32_MAX;
  bool operator==(const LaunchMoment &) const = default;
};

/// When and where a warp ran, in cycles of the clock of its multiprocessor, which says nothing of another's.
struct WarpClock {
  uint32_t processor = 0;  ///< as the hardware numbers it
  bool ended = false;      ///< `cycles` is known
  uint64_t begin = 0;      ///< since the least number that any clock showed as a warp of the launch began
  uint64_t cycles = 0;
  static constexpr uint64_t kMost = uint64_t{1} << 62;  ///< so that sums are numbers yet
  bool operator==(const WarpClock &) const = default;
};

/// Why no warp of a launch is there: the numbers of collect.h.
enum class Untraced : uint8_t {
  not_told = CAIRN_GPU_NOT_TOLD,
  memory = CAIRN_GPU_MEMORY,
  graph = CAIRN_GPU_GRAPH,
  failed = CAIRN_GPU_FAILED,
  killed = CAIRN_GPU_KILLED
};
constexpr uint8_t kUntraced = 5;
/// A number that is not known is not told.
constexpr Untraced untraced_of(uint64_t number) {
  return number < kUntraced ? static_cast<Untraced>(number) : Untraced::not_told;
}

struct LaunchRecord {
  uint32_t rank = 0;
  uint32_t program = 0;
  uint32_t kernel = 0;
  uint32_t device = 0;
  uint32_t stream = 0;
  std::array<uint32_t, 3> grid{1, 1, 1};
  std::array<uint32_t, 3> block{1, 1, 1};
  CoderKind coder = CoderKind::predict;
  uint8_t location_bits = 8;
  uint8_t lanes = 32;
  bool ring = false;
  uint32_t first_block = 0;
  uint32_t end_block = 0;
  uint32_t one_in = 1;
  LaunchMoment moment;
  Untraced why = Untraced::not_told;  ///< if there are no warps
  std::vector<WarpStreams> warps;     ///< those that were traced, ascending
  std::vector<WarpClock> clocks;      ///< of these; or none, if it was traced without
  uint32_t processors = 0;            ///< of the device, in launches with clocks; 0: not known

  /// At least 1.
  [[nodiscard]] uint32_t warps_per_block() const;
};

class Launches {
 public:
  std::vector<ProgramRecord> programs;  ///< through `add` only
  std::vector<LaunchRecord> launches;
  std::vector<StreamRecord> streams;

  /// The number of an equal program or stream, which is added if there is none yet.
  uint32_t add(ProgramRecord program);
  uint32_t add(StreamRecord stream);
  /// Times that were told by some other zero.
  void count_from(int64_t zero_ns);
  /// There are no MPI calls to have a place among.
  void forget_places();
  /// All launches of another process. `rank` is what they get.
  void append(Launches other, uint32_t rank);

  /// How the streams of `launch`, one of `launches`, were made. Valid until a program is added.
  [[nodiscard]] StreamForm form(const LaunchRecord &launch) const;
  /// Shows the events of a warp in order, or of stream `number` of `launch`'s form.
  [[nodiscard]] Result<void> visit(const LaunchRecord &launch, const WarpStreams &warp,
                                   const EventVisitor &visit) const;
  [[nodiscard]] Result<void> visit(const LaunchRecord &launch, uint32_t number, const EventVisitor &visit) const;
  [[nodiscard]] Result<std::vector<Event>> events(const LaunchRecord &launch, const WarpStreams &warp) const;

  /// Sections `gpu` and `warps`.
  [[nodiscard]] std::pair<Bytes, Bytes> write() const;
  /// Memory is taken from `allowance`; nullptr: whoever wrote the bytes is trusted.
  static Result<Launches> read(ByteView gpu, ByteView warps, Allowance *allowance = nullptr);

 private:
  /// What `form` takes of a program.
  struct Derived {
    Guesses guesses;
    std::vector<uint16_t> value_locations;
  };
  void know_streams();
  std::vector<Derived> derived_;                             ///< by program
  std::map<std::pair<uint64_t, uint64_t>, uint32_t> known_;  ///< streams by hash
};

}  // namespace cairn::gpu
