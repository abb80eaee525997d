#include "arrays/codec/stream.h"

#include <zstd.h>

#include <cstring>
#include <memory>
#include <utility>

#ifdef CAIRN_HAVE_LZ4
#include <lz4.h>
#endif

namespace cairn::codec {

namespace {

/// Tables of the compressor, for the next stream of this thread: making them takes longer than a short stream does.
template <typename Tables, size_t (*free_tables)(Tables *)>
class KeptTables {
 public:
  KeptTables() = default;
  KeptTables(const KeptTables &) = delete;
  KeptTables &operator=(const KeptTables &) = delete;
  ~KeptTables() { free_tables(tables_); }
  Tables *take() { return std::exchange(tables_, nullptr); }
  void keep(Tables *tables, size_t size) {
    constexpr size_t kMost = size_t{4} << 20;  // of high levels far more
    if (size > kMost) {
      free_tables(tables);
    } else {
      free_tables(std::exchange(tables_, tables));
    }
  }

 private:
  Tables *tables_ = nullptr;
};

auto &kept_writer() {
  thread_local KeptTables<ZSTD_CCtx, ZSTD_freeCCtx> of_this_thread;
  return of_this_thread;
}
auto &kept_reader() {
  thread_local KeptTables<ZSTD_DCtx, ZSTD_freeDCtx> of_this_thread;
  return of_this_thread;
}

}  // namespace

StreamWriter::StreamWriter(StreamMethod method, int level) : method_(method), level_(level) {}

StreamWriter::~StreamWriter() {
  if (zstd_ != nullptr) kept_writer().keep(zstd_, ZSTD_sizeof_CCtx(zstd_));
}

bool StreamWriter::prepare() {
  if (zstd_ != nullptr) return true;
  zstd_ = kept_writer().take();
  if (zstd_ == nullptr) zstd_ = ZSTD_createCCtx();
  if (zstd_ == nullptr) return false;
  ZSTD_CCtx_reset(zstd_, ZSTD_reset_session_and_parameters);
  ZSTD_CCtx_setParameter(zstd_, ZSTD_c_compressionLevel, level_);
  ZSTD_CCtx_setParameter(zstd_, ZSTD_c_contentSizeFlag, 0);  // stands in front of the stream, or follows from the shape
  ZSTD_CCtx_setParameter(zstd_, ZSTD_c_checksumFlag, 0);
  return true;
}

size_t StreamWriter::compress(ByteView plain) {
  if (room_size_ < plain.size()) {
    room_size_ = plain.size();
    room_ = Reused<uint8_t>(room_size_);
  }
  // The room is shorter than the plain bytes: what would be as long fails and is stored.
  const size_t room = plain.size() - 1;
  if (method_ == StreamMethod::zstd) {
    if (!prepare()) return 0;
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

StreamReader::StreamReader(StreamMethod method) : method_(method) {}

StreamReader::~StreamReader() {
  if (zstd_ != nullptr) kept_reader().keep(zstd_, ZSTD_sizeof_DCtx(zstd_));
}

bool StreamReader::read(ByteReader &in, std::span<uint8_t> plain) {
  const ByteView stored = in.blob();
  if (in.failed() || stored.size() > plain.size()) return false;
  if (stored.size() == plain.size()) {
    if (!plain.empty()) memcpy(plain.data(), stored.data(), plain.size());
    return true;
  }
  if (method_ == StreamMethod::zstd) {
    if (zstd_ == nullptr) zstd_ = kept_reader().take();
    if (zstd_ == nullptr) zstd_ = ZSTD_createDCtx();
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
