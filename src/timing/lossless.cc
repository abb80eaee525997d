#include "timing/lossless.h"

#define ZSTD_STATIC_LINKING_ONLY  // for contexts in memory that we bring along
#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "codec/codec.h"

namespace cairn::timing {
namespace {

// Those of the level for a full chunk: the workspace must be known before the chunk's size is.
ZSTD_compressionParameters parameters() {
  return ZSTD_getCParams(LosslessWriter::kLevel, LosslessWriter::kMaxChunk, 0);
}

}  // namespace

LosslessWriter::LosslessWriter(uint8_t *pending, size_t capacity)
    : pending_(pending), capacity_(std::min(capacity, kMaxChunk)) {}

size_t LosslessWriter::workspace_size() { return ZSTD_estimateCCtxSize_usingCParams(parameters()); }

size_t LosslessWriter::flush(uint8_t *out, size_t capacity, void *workspace, size_t workspace_bytes) {
  if (calls_ == 0 || capacity < flush_bound()) return 0;
  uint8_t head[3 * kMaxVarint];
  uint8_t *end = put_varint(head, calls_);
  end = put_varint(end, used_);
  size_t stored = 0;
  if (workspace != nullptr) {
    ZSTD_CCtx *context = ZSTD_initStaticCCtx(workspace, workspace_bytes);
    if (context != nullptr) {
      const ZSTD_compressionParameters fixed = parameters();
      ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, static_cast<int>(fixed.windowLog));
      ZSTD_CCtx_setParameter(context, ZSTD_c_hashLog, static_cast<int>(fixed.hashLog));
      ZSTD_CCtx_setParameter(context, ZSTD_c_chainLog, static_cast<int>(fixed.chainLog));
      ZSTD_CCtx_setParameter(context, ZSTD_c_searchLog, static_cast<int>(fixed.searchLog));
      ZSTD_CCtx_setParameter(context, ZSTD_c_minMatch, static_cast<int>(fixed.minMatch));
      ZSTD_CCtx_setParameter(context, ZSTD_c_targetLength, static_cast<int>(fixed.targetLength));
      ZSTD_CCtx_setParameter(context, ZSTD_c_strategy, static_cast<int>(fixed.strategy));
      ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
      // The header is written in front once the size is known; leave it room.
      const size_t result = ZSTD_compress2(context, out + sizeof head, capacity - sizeof head, pending_, used_);
      if (ZSTD_isError(result) == 0U && result < used_) stored = result - codec::kFrameMagic;
    }
  }
  const bool compressed = stored != 0;
  if (!compressed) stored = used_;
  end = put_varint(end, stored);
  const auto head_size = static_cast<size_t>(end - head);
  if (compressed) {
    std::memmove(out + head_size, out + sizeof head + codec::kFrameMagic, stored);
  } else {
    std::memcpy(out + head_size, pending_, used_);
  }
  std::memcpy(out, head, head_size);
  used_ = 0;
  calls_ = 0;
  return head_size + stored;
}

bool read_lossless(ByteView stream, uint64_t calls, std::vector<CallTime> *out, size_t *bad_byte) {
  ByteReader in(stream);
  Bytes plain;
  while (!in.at_end()) {
    *bad_byte = in.position();
    const uint64_t count = in.varint();
    const uint64_t size = in.varint();
    const ByteView stored = in.blob();
    if (in.failed() || size > LosslessWriter::kMaxChunk || count > size / 2 || count > calls - out->size())
      return false;
    plain.clear();
    if (!codec::decode(stored.size() == size ? codec::kRaw : codec::kZstd, stored, size, &plain)) return false;
    ByteReader pairs(plain);
    for (uint64_t i = 0; i < count; ++i) {
      CallTime pair;
      pair.gap = pairs.varint();
      pair.duration = pairs.varint();
      out->push_back(pair);
    }
    if (pairs.failed() || !pairs.at_end()) return false;
  }
  return true;
}

}  // namespace cairn::timing
