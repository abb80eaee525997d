#include "timing/zfp_library.h"

#ifndef __wasm__
#include <dlfcn.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstring>

namespace cairn::timing {

#ifdef __wasm__  // has no libraries to load
const char *zfp_missing() { return "of zfp, and there is no libzfp here"; }
bool zfp_decompress(ByteView /*bytes*/, double /*tolerance*/, std::span<double> /*values*/) { return false; }
bool zfp_compress_within(std::span<const double> /*values*/, double /*tolerance*/, Bytes * /*out*/) { return false; }
#else
namespace {

struct Bitstream;
struct Stream;
struct Field;
constexpr int kDouble = 4;  // zfp_type_double

struct Library {
  Bitstream *(*stream_open)(void *, size_t) = nullptr;
  void (*stream_close)(Bitstream *) = nullptr;
  Stream *(*zfp_stream_open)(Bitstream *) = nullptr;
  void (*zfp_stream_close)(Stream *) = nullptr;
  double (*zfp_stream_set_accuracy)(Stream *, double) = nullptr;
  void (*zfp_stream_rewind)(Stream *) = nullptr;
  Field *(*zfp_field_1d)(void *, int, size_t) = nullptr;
  void (*zfp_field_free)(Field *) = nullptr;
  size_t (*zfp_compress)(Stream *, const Field *) = nullptr;
  size_t (*zfp_decompress)(Stream *, Field *) = nullptr;
  bool whole = false;

  Library() {
    void *library = dlopen("libzfp.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    whole = find(library, "stream_open", &stream_open) && find(library, "stream_close", &stream_close) &&
            find(library, "zfp_stream_open", &zfp_stream_open) &&
            find(library, "zfp_stream_close", &zfp_stream_close) &&
            find(library, "zfp_stream_set_accuracy", &zfp_stream_set_accuracy) &&
            find(library, "zfp_stream_rewind", &zfp_stream_rewind) && find(library, "zfp_field_1d", &zfp_field_1d) &&
            find(library, "zfp_field_free", &zfp_field_free) && find(library, "zfp_compress", &zfp_compress) &&
            find(library, "zfp_decompress", &zfp_decompress);
  }

 private:
  template <typename Function>
  static bool find(void *library, const char *name, Function *function) {
    *function = reinterpret_cast<Function>(dlsym(library, name));
    return *function != nullptr;
  }
};

const Library &library() {
  static const Library one;
  return one;
}

/// A compressor over one piece of memory, closed in any case.
class Zfp {
 public:
  Zfp(double *values, size_t count, std::span<uint8_t> bytes, double tolerance)
      : bits_(library().stream_open(bytes.data(), bytes.size())),
        stream_(library().zfp_stream_open(bits_)),
        field_(library().zfp_field_1d(values, kDouble, count)) {
    library().zfp_stream_rewind(stream_);
    library().zfp_stream_set_accuracy(stream_, tolerance);
  }
  ~Zfp() {
    library().zfp_field_free(field_);
    library().zfp_stream_close(stream_);
    library().stream_close(bits_);
  }
  Zfp(const Zfp &) = delete;
  Zfp &operator=(const Zfp &) = delete;
  [[nodiscard]] size_t compress() const { return library().zfp_compress(stream_, field_); }
  [[nodiscard]] bool decompress() const { return library().zfp_decompress(stream_, field_) != 0; }

 private:
  Bitstream *bits_;
  Stream *stream_;
  Field *field_;
};

/// More than a decoder takes of its input, whatever that is: zfp cannot be told where it ends. Every bit plane of every
/// block of four in full, with all its group tests, and what stands in front of a block.
size_t most_bytes(size_t count) { return 2 * (count + 3) / 4 * 4 * sizeof(double) + 16 * ((count + 3) / 4) + 64; }

}  // namespace

const char *zfp_missing() {
  return library().whole ? nullptr : "of zfp, and there is no libzfp.so.1 here (Debian: libzfp1)";
}

bool zfp_decompress(ByteView bytes, double tolerance, std::span<double> values) {
  if (!library().whole || bytes.empty()) return false;
  if (values.empty()) return true;
  Bytes room(std::max(most_bytes(values.size()), bytes.size()));
  memcpy(room.data(), bytes.data(), bytes.size());
  return Zfp(values.data(), values.size(), room, tolerance).decompress();
}

bool zfp_compress_within(std::span<const double> values, double tolerance, Bytes *out) {
  if (!library().whole || values.empty()) return false;
  std::vector<double> copy(values.begin(), values.end());
  Bytes room(most_bytes(values.size()));
  const size_t size = Zfp(copy.data(), copy.size(), room, tolerance).compress();
  if (size == 0 || size > room.size()) return false;
  room.resize(size);
  if (!zfp_decompress(room, tolerance, copy)) return false;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!(std::abs(copy[i] - values[i]) <= tolerance)) return false;
  }
  out->insert(out->end(), room.begin(), room.end());
  return true;
}
#endif

}  // namespace cairn::timing
