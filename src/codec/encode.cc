#include <zstd.h>

#include <algorithm>

#include "codec/codec.h"
#include "codec/frame.h"

namespace cairn::codec {
namespace {

// `smallest` tries all codecs at this level first where there are so many bytes.
constexpr int kTrialLevel = 3;
constexpr size_t kTrialBytes = 4096;

// A recorder's memory is bounded: for so many bytes level 9 would take 16 MiB of tables, where these take 4.
constexpr size_t kManyBytes = size_t{256} << 10;
constexpr int kMostTableLog = 19;

bool encode_zstd(ByteView plain, int level, Bytes *out) {
  const size_t before = out->size();
  out->resize(before + ZSTD_compressBound(plain.size()));
  ZSTD_CCtx *context = ZSTD_createCCtx();
  if (context == nullptr) {
    out->resize(before);
    return false;
  }
  // Content size, checksum and dictionary id stand in our own headers or nowhere: six bytes less a frame.
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 0);
  if (plain.size() > kManyBytes && level > kTrialLevel) {
    ZSTD_CCtx_setParameter(context, ZSTD_c_hashLog, kMostTableLog);
    ZSTD_CCtx_setParameter(context, ZSTD_c_chainLog, kMostTableLog);
  }
  const size_t size = ZSTD_compress2(context, out->data() + before, out->size() - before, plain.data(), plain.size());
  ZSTD_freeCCtx(context);
  const auto frame = out->begin() + static_cast<ptrdiff_t>(before);
  if (ZSTD_isError(size) != 0U || size < kMagic.size() || !std::equal(kMagic.begin(), kMagic.end(), frame)) {
    out->resize(before);
    return false;
  }
  out->resize(before + size);
  out->erase(frame, frame + kMagic.size());
  return true;
}

/// Only for bytes that are varints from the first to the last, each in its shortest form: others would not come back
/// byte for byte.
bool encode_numbers(ByteView plain, int level, Bytes *out) {
  ByteReader in(plain);
  ByteWriter differences;
  uint64_t previous = 0;
  while (!in.at_end()) {
    const size_t start = in.position();
    const uint64_t value = in.varint();
    uint8_t shortest[kMaxVarint];
    if (in.failed() || put_varint(shortest, value) - shortest != static_cast<ptrdiff_t>(in.position() - start)) {
      return false;
    }
    differences.signed_varint(static_cast<int64_t>(value - previous));
    previous = value;
  }
  ByteWriter head;
  head.varint(differences.size());
  const size_t before = out->size();
  out->insert(out->end(), head.view().begin(), head.view().end());
  if (encode_zstd(differences.view(), level, out)) return true;
  out->resize(before);
  return false;
}

}  // namespace

bool encode(uint8_t id, ByteView plain, int level, Bytes *out) {
  switch (id) {
    case kRaw:
      out->insert(out->end(), plain.begin(), plain.end());
      return true;
    case kZstd:
      return encode_zstd(plain, level, out);
    case kNumbers:
      return encode_numbers(plain, level, out);
    default:
      return false;
  }
}

Encoded smallest(ByteView plain, std::span<const uint8_t> codecs, int level) {
  Encoded best{kRaw, {plain.begin(), plain.end()}};
  const auto try_one = [&](uint8_t id, int at_level) {
    Bytes bytes;
    if (!encode(id, plain, at_level, &bytes)) return;
    if (bytes.size() < best.bytes.size() && plain.size() <= decoded_bound(bytes.size())) {
      best = {id, std::move(bytes)};
    }
  };
  // What takes least at a level that takes no time takes least, or nearly so, at one that does.
  const bool twice = plain.size() >= kTrialBytes && level > kTrialLevel && codecs.size() > 1;
  for (const uint8_t id : codecs) try_one(id, twice ? kTrialLevel : level);
  if (twice && best.codec != kRaw) try_one(best.codec, level);
  return best;
}

}  // namespace cairn::codec
