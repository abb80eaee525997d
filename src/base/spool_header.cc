#include "base/spool_header.h"

#include <algorithm>

#include "base/spool_files.h"

namespace cairn {
namespace {
constexpr uint32_t kKinds = 3;
}

Bytes write_spool_header(const SpoolHeader &header) {
  ByteWriter out;
  out.raw({reinterpret_cast<const uint8_t *>(kPartMagic.data()), kPartMagic.size()});
  out.fixed32(SpoolHeader::kVersion);
  out.fixed32(static_cast<uint32_t>(header.kind));
  out.fixed64(header.job);
  out.fixed64(header.start_unix_ns);
  out.fixed32(header.rank);
  out.fixed32(header.size);
  for (const std::string *text : {&header.host, &header.command, &header.mpi, &header.recorder, &header.timing,
                                  &header.status, &header.launcher_job, &header.spawned_by}) {
    out.text(*text);
  }
  return out.take();
}

Result<SpoolHeader> read_spool_header(ByteReader &in) {
  const ByteView magic = in.raw(kPartMagic.size());
  if (!std::equal(magic.begin(), magic.end(), kPartMagic.begin(), kPartMagic.end())) {
    return fail(ErrorKind::unreadable, "not a Cairn spool file");
  }
  const uint32_t version = in.fixed32();
  if (!in.failed() && version != SpoolHeader::kVersion) {
    return fail(
        ErrorKind::unreadable,
        "spool file of version " + std::to_string(version) + ", expected " + std::to_string(SpoolHeader::kVersion),

        "use the cairn that recorded it");
  }
  SpoolHeader header;
  const uint32_t kind = in.fixed32();
  header.kind = static_cast<SpoolHeader::Kind>(kind);
  header.job = in.fixed64();
  header.start_unix_ns = in.fixed64();
  header.rank = in.fixed32();
  header.size = in.fixed32();
  for (std::string *text : {&header.host, &header.command, &header.mpi, &header.recorder, &header.timing,
                            &header.status, &header.launcher_job, &header.spawned_by}) {
    *text = in.text();
  }
  if (in.failed() || kind >= kKinds || header.size == 0 || header.rank >= header.size) {
    auto error = fail(ErrorKind::unreadable, "spool header is cut short or invalid");
    error.value().offset = in.position();
    return error;
  }
  return header;
}

}  // namespace cairn
