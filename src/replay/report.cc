#include "replay/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "analyze/rank_sums.h"
#include "replay/ticks.h"
#include "spec/ids.h"
#include "timing/mode.h"

namespace cairn::replay {
namespace {

constexpr size_t kMostLines = 12;

/// Of one function, on all ranks.
struct Line {
  uint32_t function;
  uint64_t calls;
  uint64_t ns;
  uint64_t recorded_ns;
  [[nodiscard]] int64_t longer() const { return static_cast<int64_t>(ns) - static_cast<int64_t>(recorded_ns); }
};

/// Numbers that the ranks add up: those of each function, then these.
enum Sum : size_t {
  kDiffers,
  kRunNs,
  kRecordedRunNs,
  kOnDevice,
  kDeviceBytes,
  kInHost,  // for each Devices::Lack
  kSums = kInHost + Devices::kLacks
};
constexpr size_t kOfFunction = 3;  // calls, ns now, ns recorded

/// Stands apart: how long a job takes to start is not the program's.
bool begins_mpi(uint32_t function) {
  namespace id = spec::function_id;
  return function == id::Init || function == id::Init_thread;
}

std::vector<uint64_t> own_numbers(const Job &job) {
  std::vector<uint64_t> numbers(kOfFunction * job.made.size() + kSums);
  const double ns_a_tick = static_cast<double>(now_ns() - job.begin_ns) /
                           static_cast<double>(std::max<uint64_t>(ticks() - job.begin_ticks, 1));
  const analyze::RankSums sums(job.trace);
  const bool has_times = timing::keeps_times(job.trace.run().timing);
  uint64_t begin_ns = 0;
  for (uint32_t function = 0; function < job.made.size(); ++function) {
    const Made &made = job.made[function];
    uint64_t *own = &numbers[kOfFunction * function];
    own[0] = made.calls;
    own[1] = static_cast<uint64_t>(static_cast<double>(made.ticks) * ns_a_tick);
    own[2] = has_times ? made.recorded_ns : sums.of(job.rank, function).value_or(0);
    if (begins_mpi(function)) begin_ns += std::exchange(own[2], 0), own[1] = 0;
  }
  uint64_t *rest = &numbers[kOfFunction * job.made.size()];
  rest[kDiffers] = job.differs;
  const Memory::OfDevices &devices = job.memory.of_devices();
  rest[kOnDevice] = devices.on_device;
  rest[kDeviceBytes] = devices.bytes;
  std::copy(devices.in_host.begin(), devices.in_host.end(), rest + kInHost);
  rest[kRunNs] = job.mpi_begin_ns == 0 ? 0 : now_ns() - job.mpi_begin_ns;
  const uint64_t wall_ns = job.trace.rank_info(job.rank).wall_ns;
  rest[kRecordedRunNs] = wall_ns - std::min(wall_ns, begin_ns);
  return numbers;
}

std::string seconds(uint64_t ns) { return fmt::format("{:.6f} s", static_cast<double>(ns) / 1e9); }
std::string signed_seconds(int64_t ns) { return fmt::format("{:+.6f} s", static_cast<double>(ns) / 1e9); }

void print_functions(const std::vector<Line> &lines, const Line &all) {
  fmt::print("{:<28}{:>12}{:>16}{:>16}{:>16}\n", "in MPI, on all ranks", "calls", "recorded", "replayed", "longer by");
  const auto print = [](const std::string &name, const Line &line) {
    const bool known = line.recorded_ns != 0;
    fmt::print("{:<28}{:>12}{:>16}{:>16}{:>16}\n", name, line.calls, known ? seconds(line.recorded_ns) : "-",
               seconds(line.ns), known ? signed_seconds(line.longer()) : "-");
  };
  const size_t more = lines.size() > kMostLines ? lines.size() - kMostLines : 0;
  for (size_t i = 0; i < lines.size() - more; ++i) print(analyze::function_name(lines[i].function), lines[i]);
  if (more != 0) fmt::print("({} more functions)\n", more);
  print("all", all);
}

}  // namespace

void report(const Job *job) {
  std::vector<uint64_t> numbers = own_numbers(*job);
  add_up(&numbers);
  if (job->rank != 0 || job->settings.quiet) return;
  const uint64_t *rest = &numbers[kOfFunction * job->made.size()];
  std::vector<Line> lines;
  Line all{0, 0, 0, 0};
  for (uint32_t function = 0; function < job->made.size(); ++function) {
    const uint64_t *of = &numbers[kOfFunction * function];
    if (of[0] == 0) continue;
    all.calls += of[0];
    if (begins_mpi(function)) continue;
    lines.push_back({function, of[0], of[1], of[2]});
    all.ns += of[1];
    all.recorded_ns += of[2];
  }
  // Where the two part most comes first.
  std::sort(lines.begin(), lines.end(),
            [](const Line &a, const Line &b) { return std::abs(a.longer()) > std::abs(b.longer()); });
  const uint64_t ranks = std::max<uint64_t>(job->trace.rank_count(), 1);
  const bool spawned = job->settings.job != 0;  // its functions are left out: there may be many such jobs
  if (spawned) fmt::print("{}, spawned: ", job->settings.file.substr(job->settings.file.rfind('/') + 1));
  fmt::print("{} {} made {} calls in {}; recorded: {} (a rank, in the mean, after MPI_Init)\n", ranks,
             ranks == 1 ? "rank" : "ranks", all.calls, seconds(rest[kRunNs] / ranks),
             seconds(rest[kRecordedRunNs] / ranks));
  if (!spawned) print_functions(lines, all);
  for (const auto &[what, count] : job->passed_over) fmt::print("rank 0 passed over {} of {}\n", count, what);
  if (rest[kDiffers] != 0) fmt::print("{} calls failed in the recording and not in the replay\n", rest[kDiffers]);
  if (rest[kOnDevice] != 0) {
    fmt::print("{} allocations on devices were replayed there, in {} bytes\n", rest[kOnDevice], rest[kDeviceBytes]);
  }
  for (size_t lack = 0; lack < Devices::kLacks; ++lack) {
    if (rest[kInHost + lack] == 0) continue;
    fmt::print("{} allocations on devices were replayed in the host's memory: {}\n", rest[kInHost + lack],
               Devices::text_of(static_cast<Devices::Lack>(lack)));
  }
  fflush(stdout);
}

}  // namespace cairn::replay
