#include "gpu/file/spooled.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/spool_files.h"

namespace cairn::gpu {
namespace {

bool is_in_flight(const LaunchRecord &launch) { return launch.warps.empty() && launch.why == Untraced::killed; }

class Reader {
 public:
  /// False: the record is damaged.
  bool take(ByteView record) {
    ByteReader in(record);
    const uint64_t id = in.varint();
    const uint64_t program = in.varint();
    const size_t count = in.count();
    std::vector<uint64_t> streams(count);
    for (uint64_t &stream : streams) stream = in.varint();
    const ByteView gpu = in.blob();
    const ByteView warps = in.blob();
    if (in.failed() || !in.at_end()) return false;
    auto one = Launches::read(gpu, warps);
    if (!one || one->launches.size() != 1 || one->programs.size() != 1 || one->streams.size() != count) return false;
    if (program > programs_.size()) return false;
    size_t known = streams_.size();
    for (const uint64_t stream : streams) {
      if (stream > known) return false;
      known += stream == known ? 1 : 0;
    }
    if (program == programs_.size()) programs_.push_back(launches_.add(std::move(one->programs.front())));
    for (size_t i = 0; i < count; ++i) {
      if (streams[i] == streams_.size()) streams_.push_back(launches_.add(std::move(one->streams[i])));
    }
    LaunchRecord &launch = one->launches.front();
    launch.program = programs_[program];
    for (WarpStreams &warp : launch.warps) {
      for (uint32_t &stream : warp.streams) stream = streams_[streams[stream]];
    }
    in_flight_.erase(id);
    if (is_in_flight(launch)) {
      in_flight_.emplace(id, std::move(launch));
    } else {
      launches_.launches.push_back(std::move(launch));
    }
    return true;
  }

  /// All of them.
  void give(Spooled *to) {
    if (to->head.over) in_flight_.clear();  // they are told in the next file, or what they did found no room
    const uint64_t there = launches_.launches.size() + in_flight_.size();
    to->unwritten = std::max(to->head.made, there) - there;
    to->in_flight = in_flight_.size();
    for (auto &each : in_flight_) launches_.launches.push_back(std::move(each.second));
    launches_.count_from(static_cast<int64_t>(to->head.zero.ns));
    if (!to->head.zero.of_calls) launches_.forget_places();
    to->launches = std::move(launches_);
  }

 private:
  Launches launches_;
  std::vector<uint32_t> programs_;  ///< by their numbers in the file
  std::vector<uint32_t> streams_;   ///< likewise
  std::map<uint64_t, LaunchRecord> in_flight_;
};

}  // namespace

Bytes write_spooled_head(const SpooledHead &head) {
  ByteWriter out;
  out.raw({reinterpret_cast<const uint8_t *>(kGpuMagic.data()), kGpuMagic.size()});
  out.fixed32(head.over ? 1 : 0);
  out.fixed32(head.zero.of_calls ? 1 : 0);
  out.fixed64(head.made);
  out.fixed64(head.zero.ns);
  out.fixed64(static_cast<uint64_t>(head.start_unix_ns));
  out.fixed32(head.rank);
  out.text(head.command);
  return out.take();
}

Bytes write_spooled_launch(uint64_t id, uint64_t program, const std::vector<uint32_t> &streams, const Launches &one) {
  const auto [gpu, warps] = one.write();
  ByteWriter body(gpu.size() + warps.size() + 10 * streams.size() + 64);
  body.varint(id);
  body.varint(program);
  body.varint(streams.size());
  for (const uint32_t stream : streams) body.varint(stream);
  body.blob(gpu);
  body.blob(warps);
  ByteWriter out(body.size() + 16);
  out.fixed64(body.size());
  out.fixed64(hash64(body.view()));
  out.raw(body.view());
  return out.take();
}

Result<Spooled> read_spooled(ByteView bytes) {
  ByteReader in(bytes);
  const ByteView magic = in.raw(kGpuMagic.size());
  const bool known = !in.failed() && std::equal(magic.begin(), magic.end(), kGpuMagic.begin());
  Spooled spooled;
  const uint32_t over = in.fixed32();
  const uint32_t of_calls = in.fixed32();
  spooled.head.made = in.fixed64();
  const uint64_t zero = in.fixed64();
  spooled.head.start_unix_ns = static_cast<int64_t>(in.fixed64());
  spooled.head.rank = in.fixed32();
  spooled.head.command = in.text();
  spooled.head.over = over != 0;
  spooled.head.zero = {zero, of_calls != 0};
  constexpr uint64_t kMost = uint64_t{1} << 59;  // as of moments
  if (!known || in.failed() || over > 1 || of_calls > 1 || zero > kMost || spooled.head.made > kMost) {
    return fail(ErrorKind::unreadable, "the GPU trace of a process is damaged");
  }
  Reader reader;
  while (!in.at_end()) {
    const size_t at = in.position();
    const uint64_t size = in.fixed64();
    const uint64_t hash = in.fixed64();
    const ByteView record = in.raw(size);
    if (in.failed()) break;
    if (hash64(record) == hash && reader.take(record)) continue;
    spooled.damage = Error{ErrorKind::unreadable, "the GPU trace of a process is damaged", "", at,
                           "what stands before that is in the trace"};
    break;
  }
  reader.give(&spooled);
  return spooled;
}

}  // namespace cairn::gpu
