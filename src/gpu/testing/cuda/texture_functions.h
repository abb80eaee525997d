// Textures that kernels read, for the emulator: texture objects on arrays, pitched and linear memory; points or linear
// filtering with weights of 8 bits as CUDA's programming guide has it; coordinates as they are or normalized; the four
// ways to address what is outside. No mipmaps, cube maps, layers, surfaces or sRGB.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "cuda_memory.h"

enum cudaChannelFormatKind {
  cudaChannelFormatKindSigned,
  cudaChannelFormatKindUnsigned,
  cudaChannelFormatKindFloat,
  cudaChannelFormatKindNone
};
struct cudaChannelFormatDesc {
  int x, y, z, w;
  cudaChannelFormatKind f;
};
inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind f) {
  return {x, y, z, w, f};
}

namespace cairn::emulator {

/// A number, or the first member of a vector; how many there are.
template <typename T>
struct TexelOf {
  using Element = T;
};
template <typename T>
requires std::is_class_v<T>
struct TexelOf<T> {
  using Element = decltype(T::x);
};
template <typename T>
using Element = typename TexelOf<T>::Element;
template <typename T>
constexpr int kElements = static_cast<int>(sizeof(T) / sizeof(Element<T>));

}  // namespace cairn::emulator

template <typename T>
cudaChannelFormatDesc cudaCreateChannelDesc() {
  using cairn::emulator::Element;
  constexpr int kBits = sizeof(Element<T>) * 8;
  constexpr int kCount = cairn::emulator::kElements<T>;
  return {kBits, kCount > 1 ? kBits : 0, kCount > 2 ? kBits : 0, kCount > 3 ? kBits : 0,
          std::is_floating_point_v<Element<T>> ? cudaChannelFormatKindFloat
          : std::is_signed_v<Element<T>>       ? cudaChannelFormatKindSigned
                                               : cudaChannelFormatKindUnsigned};
}

/// `height` and `depth` are 0 where there is no such dimension.
struct cudaArray {
  cudaChannelFormatDesc format;
  cudaExtent extent;
  char *bytes;
  size_t texel() const { return static_cast<size_t>(format.x + format.y + format.z + format.w) / 8; }
  size_t row() const { return extent.width * texel(); }
  size_t rows() const { return std::max<size_t>(1, extent.height) * std::max<size_t>(1, extent.depth); }
};
using cudaArray_t = cudaArray *;
using cudaArray_const_t = const cudaArray *;
constexpr unsigned cudaArrayDefault = 0;

inline cudaError_t cudaMalloc3DArray(cudaArray_t *array, const cudaChannelFormatDesc *format, cudaExtent extent,
                                     unsigned flags = 0) {
  if (flags != 0) return cudaErrorNotSupported;
  auto *const made = new cudaArray{*format, extent, nullptr};
  const cudaError_t error = cudaMalloc(&made->bytes, made->row() * made->rows());
  *array = error == cudaSuccess ? made : nullptr;
  if (error != cudaSuccess) delete made;
  return error;
}
inline cudaError_t cudaMallocArray(cudaArray_t *array, const cudaChannelFormatDesc *format, size_t width,
                                   size_t height = 0, unsigned flags = 0) {
  return cudaMalloc3DArray(array, format, {width, height, 0}, flags);
}
inline cudaError_t cudaFreeArray(cudaArray_t array) {
  if (array != nullptr) (void)cudaFree(array->bytes);
  delete array;
  return cudaSuccess;
}
inline cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                       size_t height, cudaMemcpyKind kind) {
  return cudaMemcpy2D(to->bytes + y * to->row() + x, to->row(), from, pitch, width, height, kind);
}
inline cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t size,
                                     cudaMemcpyKind kind) {
  return cudaMemcpy(to->bytes + y * to->row() + x, from, size, kind);
}
struct cudaMemcpy3DParms {
  cudaArray_t srcArray;
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  cudaArray_t dstArray;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  cudaExtent extent;
  cudaMemcpyKind kind;
};
/// Widths are texels where an array takes part, otherwise bytes.
inline cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *what) {
  const size_t unit = what->dstArray != nullptr   ? what->dstArray->texel()
                      : what->srcArray != nullptr ? what->srcArray->texel()
                                                  : 1;
  const auto place = [unit](cudaArray_t array, const cudaPitchedPtr &at, cudaPos pos, size_t z, size_t y) {
    const size_t rows = array != nullptr ? std::max<size_t>(1, array->extent.height) : at.ysize;
    const size_t pitch = array != nullptr ? array->row() : at.pitch;
    char *begin = array != nullptr ? array->bytes : static_cast<char *>(at.ptr);
    return begin + ((pos.z + z) * rows + pos.y + y) * pitch + pos.x * (array != nullptr ? unit : 1);
  };
  for (size_t z = 0; z < what->extent.depth; ++z) {
    for (size_t y = 0; y < what->extent.height; ++y) {
      std::memmove(place(what->dstArray, what->dstPtr, what->dstPos, z, y),
                   place(what->srcArray, what->srcPtr, what->srcPos, z, y), what->extent.width * unit);
    }
  }
  return cudaSuccess;
}

enum cudaResourceType {
  cudaResourceTypeArray,
  cudaResourceTypeMipmappedArray,
  cudaResourceTypeLinear,
  cudaResourceTypePitch2D
};
enum cudaTextureAddressMode { cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder };
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
struct cudaResourceDesc {
  cudaResourceType resType;
  struct {
    struct {
      cudaArray_t array;
    } array;
    struct {
      void *devPtr;
      cudaChannelFormatDesc desc;
      size_t sizeInBytes;
    } linear;
    struct {
      void *devPtr;
      cudaChannelFormatDesc desc;
      size_t width, height, pitchInBytes;
    } pitch2D;
  } res;
};
struct cudaTextureDesc {
  cudaTextureAddressMode addressMode[3];
  cudaTextureFilterMode filterMode;
  cudaTextureReadMode readMode;
  int sRGB;
  float borderColor[4];
  int normalizedCoords;
};
struct cudaResourceViewDesc;
using cudaTextureObject_t = unsigned long long;

namespace cairn::emulator {

struct Texture {
  cudaTextureDesc how;
  cudaChannelFormatDesc format;
  const char *bytes;
  long size[3];  ///< texels of each dimension, at least 1
  size_t row, texel;

  static long place(long at, long size, cudaTextureAddressMode mode) {
    if (mode == cudaAddressModeWrap) return (at % size + size) % size;
    if (mode == cudaAddressModeMirror) {
      const long turn = (at % (2 * size) + 2 * size) % (2 * size);
      return turn < size ? turn : 2 * size - 1 - turn;
    }
    return std::clamp(at, 0L, size - 1);
  }

  /// Element `number` of a texel, as it is stored.
  template <typename Stored>
  Stored stored(long x, long y, long z, int number) const {
    const long at[3] = {x, y, z};
    long in[3];
    for (int i = 0; i < 3; ++i) {
      // Only normalized coordinates wrap or are mirrored.
      const cudaTextureAddressMode mode = how.addressMode[i];
      const bool turns = how.normalizedCoords != 0 || mode == cudaAddressModeBorder;
      if (mode == cudaAddressModeBorder && (at[i] < 0 || at[i] >= size[i])) {
        return static_cast<Stored>(how.borderColor[number]);
      }
      in[i] = place(at[i], size[i], turns ? mode : cudaAddressModeClamp);
    }
    Stored value;
    std::memcpy(&value, bytes + (in[2] * size[1] + in[1]) * row + in[0] * texel + number * sizeof value, sizeof value);
    return value;
  }
  template <typename To, typename Stored>
  To element(long x, long y, long z, int number) const {
    const Stored value = stored<Stored>(x, y, z, number);
    if (how.readMode == cudaReadModeElementType || std::is_floating_point_v<Stored>) return static_cast<To>(value);
    return static_cast<To>(
        std::max(-1.0f, static_cast<float>(value) / static_cast<float>(std::numeric_limits<Stored>::max())));
  }
  template <typename To, typename Stored>
  To filtered(float x, float y, float z, int number) const {
    float at[3] = {x, y, z};
    for (int i = 0; i < 3; ++i) {
      if (how.normalizedCoords != 0) at[i] *= static_cast<float>(size[i]);
    }
    if (how.filterMode == cudaFilterModePoint) {
      return element<To, Stored>(std::lround(std::floor(at[0])), std::lround(std::floor(at[1])),
                                 std::lround(std::floor(at[2])), number);
    }
    long low[3];
    float part[3];
    for (int i = 0; i < 3; ++i) {
      const float shifted = size[i] == 1 && i > 0 ? 0.0f : at[i] - 0.5f;
      low[i] = std::lround(std::floor(shifted));
      part[i] = std::nearbyint((shifted - static_cast<float>(low[i])) * 256) / 256;
    }
    float sum = 0;
    for (int corner = 0; corner < 8; ++corner) {
      float weight = 1;
      long here[3];
      for (int i = 0; i < 3; ++i) {
        const bool high = (corner >> i & 1) != 0;
        weight *= high ? part[i] : 1 - part[i];
        here[i] = low[i] + (high ? 1 : 0);
      }
      if (weight != 0) sum += weight * static_cast<float>(element<float, Stored>(here[0], here[1], here[2], number));
    }
    return static_cast<To>(sum);
  }

  /// `use` gets a value of the type that is stored.
  template <typename F>
  void with_stored(F use) const {
    const bool is_signed = format.f == cudaChannelFormatKindSigned;
    if (format.f == cudaChannelFormatKindFloat) return use(float{});
    if (format.x == 8) return is_signed ? use(int8_t{}) : use(uint8_t{});
    if (format.x == 16) return is_signed ? use(int16_t{}) : use(uint16_t{});
    return is_signed ? use(int32_t{}) : use(uint32_t{});
  }
  template <typename T>
  T read(float x, float y, float z) const {
    using To = Element<T>;
    To all[kElements<T>];
    with_stored([&](auto stored) {
      for (int i = 0; i < kElements<T>; ++i) all[i] = filtered<To, decltype(stored)>(x, y, z, i);
    });
    T out;
    std::memcpy(&out, all, sizeof out);
    return out;
  }
};
inline const Texture &texture(cudaTextureObject_t object) {
  return *reinterpret_cast<const Texture *>(object);  // NOLINT(performance-no-int-to-ptr): CUDA's handle is a number
}

}  // namespace cairn::emulator

inline cudaError_t cudaCreateTextureObject(cudaTextureObject_t *object, const cudaResourceDesc *what,
                                           const cudaTextureDesc *how, const cudaResourceViewDesc *) {
  auto *made = new cairn::emulator::Texture{};
  made->how = *how;
  const auto at_least_one = [](size_t size) { return static_cast<long>(std::max<size_t>(1, size)); };
  if (what->resType == cudaResourceTypeArray) {
    const cudaArray &array = *what->res.array.array;
    made->format = array.format;
    made->bytes = array.bytes;
    const long size[] = {at_least_one(array.extent.width), at_least_one(array.extent.height),
                         at_least_one(array.extent.depth)};
    std::copy(size, size + 3, made->size);
    made->texel = array.texel();
    made->row = array.row();
  } else if (what->resType == cudaResourceTypePitch2D || what->resType == cudaResourceTypeLinear) {
    const bool is_linear = what->resType == cudaResourceTypeLinear;
    made->format = is_linear ? what->res.linear.desc : what->res.pitch2D.desc;
    made->bytes = static_cast<const char *>(is_linear ? what->res.linear.devPtr : what->res.pitch2D.devPtr);
    made->texel = static_cast<size_t>(made->format.x + made->format.y + made->format.z + made->format.w) / 8;
    made->size[0] = at_least_one(is_linear ? what->res.linear.sizeInBytes / made->texel : what->res.pitch2D.width);
    made->size[1] = is_linear ? 1 : at_least_one(what->res.pitch2D.height);
    made->size[2] = 1;
    made->row = is_linear ? what->res.linear.sizeInBytes : what->res.pitch2D.pitchInBytes;
  } else {
    delete made;
    return cudaErrorNotSupported;
  }
  *object = reinterpret_cast<cudaTextureObject_t>(made);
  return cudaSuccess;
}
inline cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
  delete &cairn::emulator::texture(object);
  return cudaSuccess;
}

/// A float would not tell texels apart in large memory: the first texel of what begins at x.
template <typename T>
T tex1Dfetch(cudaTextureObject_t object, int x) {
  cairn::emulator::Texture from = cairn::emulator::texture(object);
  if (x < 0 || x >= from.size[0]) return {};
  from.how.normalizedCoords = 0;
  from.how.filterMode = cudaFilterModePoint;
  from.bytes += static_cast<size_t>(x) * from.texel;
  return from.read<T>(0, 0, 0);
}
template <typename T>
T tex1D(cudaTextureObject_t object, float x) {
  return cairn::emulator::texture(object).read<T>(x, 0, 0);
}
template <typename T>
T tex2D(cudaTextureObject_t object, float x, float y) {
  return cairn::emulator::texture(object).read<T>(x, y, 0);
}
template <typename T>
T tex3D(cudaTextureObject_t object, float x, float y, float z) {
  return cairn::emulator::texture(object).read<T>(x, y, z);
}
