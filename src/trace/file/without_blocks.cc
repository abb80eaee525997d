#include "trace/file/without_blocks.h"

#include <algorithm>

#include "trace/file/file.h"

namespace cairn::trace {
namespace {

/// How many bytes of the file lie in blocks, as far as its end can be believed. 0: read it whole.
Result<uint64_t> blocks_of(const ReadBytes &read, uint64_t size) {
  if (size < kHeaderBytes + kFooterBytes) return 0;
  const Result<Bytes> footer = read(size - kFooterBytes, kFooterBytes);
  if (!footer) return tl::unexpected(footer.error());
  const uint64_t directory = ByteReader(*footer).fixed32();
  const uint64_t most = size - kHeaderBytes - kFooterBytes;
  if (directory > most) return 0;
  constexpr uint64_t kFront = 32;  // holds a number and one entry
  const Result<Bytes> front = read(size - kFooterBytes - directory, std::min(directory, kFront));
  if (!front) return tl::unexpected(front.error());
  const uint64_t blocks = blocks_in(*front);
  return blocks <= most - directory ? blocks : 0;
}

}  // namespace

Result<WithoutBlocks> read_without_blocks(const ReadBytes &read, uint64_t size) {
  const Result<uint64_t> blocks = blocks_of(read, size);
  if (!blocks) return tl::unexpected(blocks.error());
  WithoutBlocks result;
  result.absent = *blocks;
  Result<Bytes> bytes = read(0, result.absent == 0 ? size : kHeaderBytes);
  if (!bytes) return tl::unexpected(bytes.error());
  result.bytes = *std::move(bytes);
  if (result.absent == 0) return result;
  const uint64_t behind = kHeaderBytes + result.absent;
  const Result<Bytes> rest = read(behind, size - behind);
  if (!rest) return tl::unexpected(rest.error());
  result.bytes.insert(result.bytes.end(), rest->begin(), rest->end());
  return result;
}

}  // namespace cairn::trace
