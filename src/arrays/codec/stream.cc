#include "arrays/codec/stream.h"

#include <zstd.h>

#include <cstring>

#ifdef CAIRN_HAVE_LZ4
#include <lz4.h>
#endif

namespace cairn::codec {

StreamWriter::StreamWriter(StreamMethod method, int level) : method_(method), level_(level) {
  if (method_ != StreamMethod::zstd) return;
  zstd_ = ZSTD_createCCtx();
  if (zstd_ == nullptr) return;
  ZSTD_CCtx_setParameter(zstd_, ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(zstd_, ZSTD_c_contentSizeFlag, 0);  // stands in front of the stream, or follows from the shape
  ZSTD_CCtx_setParameter(zstd_, ZSTD_c_checksumFlag, 0);
}

StreamWriter::~StreamWriter() { ZSTD_freeCCtx(zstd_); }

size_t StreamWriter::compress(ByteView plain) {
  if (room_size_ < plain.size()) {
    room_size_ = plain.size();
    room_ = std::make_unique_for_overwrite<uint8_t[]>(room_size_);
  }
  // The room is shorter than the plain bytes: what would be as long fails and is stored.
  const size_t room = plain.size() - 1;
  if (method_ == StreamMethod::zstd) {
    if (zstd_ == nullptr) return 0;
    const size_t size = ZSTD_compress2(zstd_, room_.get(), room, plain.data(), plain.size());
    return ZSTD_isError(size) != 0U ? 0 : size;
  }
#ifdef CAIRN_HAVE_LZ4
  if (plain.size() > LZ4_MAX_INPUT_SIZE) return 0;
  const int size =
      LZ4_compress_fast(reinterpret_cast<const char *>(plain.data()), reinterpret_cast<char *>(room_.get()),
                        static_cast<int>(plain.size()), static_cast<int>(room), level_ < 0 ? -level_ : 1);
  return size > 0 ? static_cast<size_t>(size) : 0;
#else
  return 0;
#endif
}

void StreamWriter::write_plain(ByteView plain, Bytes *out) {
  uint8_t length[kMaxVarint];
  out->insert(out->end(), length, put_varint(length, plain.size()));
  out->insert(out->end(), plain.begin(), plain.end());
}

void StreamWriter::write(ByteView plain, Bytes *out) {
  const size_t size = plain.size() < 2 ? 0 : compress(plain);
  write_plain(size == 0 ? plain : ByteView{room_.get(), size}, out);
}

StreamReader::StreamReader(StreamMethod method) : method_(method) {
  if (method_ == StreamMethod::zstd) zstd_ = ZSTD_createDCtx();
}

StreamReader::~StreamReader() { ZSTD_freeDCtx(zstd_); }

bool StreamReader::read(ByteReader &in, std::span<uint8_t> plain) {
  const ByteView stored = in.blob();
  if (in.failed() || stored.size() > plain.size()) return false;
  if (stored.size() == plain.size()) {
    if (!plain.empty()) memcpy(plain.data(), stored.data(), plain.size());
    return true;
  }
  if (method_ == StreamMethod::zstd) {
    return zstd_ != nullptr &&
           ZSTD_decompressDCtx(zstd_, plain.data(), plain.size(), stored.data(), stored.size()) == plain.size();
  }
#ifdef CAIRN_HAVE_LZ4
  if (plain.size() > LZ4_MAX_INPUT_SIZE) return false;
  const int size =
      LZ4_decompress_safe(reinterpret_cast<const char *>(stored.data()), reinterpret_cast<char *>(plain.data()),
                          static_cast<int>(stored.size()), static_cast<int>(plain.size()));
  return size >= 0 && static_cast<size_t>(size) == plain.size();
#else
  return false;
#endif
}

}  // namespace cairn::codec
