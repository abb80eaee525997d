#include "gpu/file/spooled.h"

#include <unistd.h>

#include <algorithm>

#include "base/spool_files.h"

namespace cairn::gpu {
std::string spooled_path(const std::string &spool, int pid) {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return spool + "/" + host + "." + std::to_string(pid) + std::string(kGpuEnding);
}

Bytes write_spooled(const Launches &launches, uint32_t rank) {
  const auto [gpu, warps] = launches.write();
  ByteWriter out;
  out.raw({reinterpret_cast<const uint8_t *>(kGpuMagic.data()), kGpuMagic.size()});
  out.varint(rank);
  out.fixed64(hash64(gpu, hash64(warps)));
  out.blob(gpu);
  out.blob(warps);
  return out.take();
}

Result<Spooled> read_spooled(ByteView bytes) {
  ByteReader in(bytes);
  const ByteView magic = in.raw(kGpuMagic.size());
  const bool known = !in.failed() && std::equal(magic.begin(), magic.end(), kGpuMagic.begin());
  Spooled spooled;
  spooled.rank = static_cast<uint32_t>(in.varint());
  const uint64_t hash = in.fixed64();
  const ByteView gpu = in.blob();
  const ByteView warps = in.blob();
  if (!known || in.failed() || !in.at_end() || hash != hash64(gpu, hash64(warps))) {
    return fail(ErrorKind::unreadable, "the GPU trace of a process is damaged");
  }
  auto launches = Launches::read(gpu, warps);
  if (!launches) return tl::unexpected(launches.error());
  spooled.launches = *std::move(launches);
  return spooled;
}

}  // namespace cairn::gpu
