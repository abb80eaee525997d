// Traces that lie in files.
#include "trace/file/disk.h"
#include "trace/read/trace.h"

namespace cairn::trace {

Result<Trace> Trace::open(const std::string &path, const WantedBundles &wanted) {
  Result<WithoutBlocks> file = read_without_blocks(path);
  if (!file) return tl::unexpected(file.error());
  return from_bytes(std::move(file->bytes), path, file->absent, path, wanted);
}

Result<Trace> Trace::from_bytes(Bytes bytes, std::string path, uint64_t absent, const std::string &blocks,
                                const WantedBundles &wanted) {
  ReadBytes read;
  if (absent != 0) {
    Result<std::shared_ptr<const Disk>> disk = Disk::open(blocks);
    if (!disk) {
      Error error = disk.error();
      error.path = std::move(path);
      return tl::unexpected(std::move(error));
    }
    read = [disk = *std::move(disk)](uint64_t offset, uint64_t size) { return disk->read(offset, size); };
  }
  return with_blocks(std::move(bytes), std::move(path), absent, std::move(read), wanted);
}

}  // namespace cairn::trace
