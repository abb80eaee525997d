// Streams of bytes inside the bytes of array codecs: planes and blocks, each coded by a general compressor with its
// length in front, or as it is where that is no longer.
//
// As bytes: a varint with the number of bytes that follow, then those. If it equals the size of the plain bytes, which
// both sides know, they are the plain bytes.
// One writer or reader for all streams of one call, for the tables that the compressors need; not for two threads. A
// thread keeps the tables of one of each until it ends: a megabyte or two. Nothing throws or prints.
#pragma once

#include <cstdint>
#include <span>

#include "arrays/codec/reused.h"
#include "base/bytes.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace cairn::codec {

enum class StreamMethod : uint8_t { lz4, zstd };

class StreamWriter {
 public:
  /// `level`: of zstd; for LZ4 its acceleration when it is negative.
  StreamWriter(StreamMethod method, int level);
  ~StreamWriter();
  StreamWriter(const StreamWriter &) = delete;
  StreamWriter &operator=(const StreamWriter &) = delete;

  /// Appends the stream.
  void write(ByteView plain, Bytes *out);
  /// Appends it as it is.
  static void write_plain(ByteView plain, Bytes *out);

 private:
  bool prepare();                   ///< false if there is no memory
  size_t compress(ByteView plain);  ///< into room_; 0: it does not get shorter

  StreamMethod method_;
  int level_;
  ZSTD_CCtx_s *zstd_ = nullptr;
  Reused<uint8_t> room_;
  size_t room_size_ = 0;
};

class StreamReader {
 public:
  explicit StreamReader(StreamMethod method);
  ~StreamReader();
  StreamReader(const StreamReader &) = delete;
  StreamReader &operator=(const StreamReader &) = delete;

  /// Writes exactly `plain`, or gives false.
  bool read(ByteReader &in, std::span<uint8_t> plain);

 private:
  StreamMethod method_;
  ZSTD_DCtx_s *zstd_ = nullptr;
};

}  // namespace cairn::codec
