#include "arrays/codec/reused.h"

#include <algorithm>
#include <new>
#include <vector>

namespace cairn::codec {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr size_t kMostKept = 0;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr size_t kMostKept = 0;
#else
constexpr size_t kMostKept = size_t{16} << 20;
#endif
#else
constexpr size_t kMostKept = size_t{16} << 20;
#endif
constexpr size_t kMostPieces = 64;
constexpr size_t kGrain = 4096;

struct Kept {
  std::vector<ReusedMemory> pieces;  ///< the last used last
  size_t bytes = 0;

  Kept() { pieces.reserve(kMostPieces + 1); }
  Kept(const Kept &) = delete;
  Kept &operator=(const Kept &) = delete;
  ~Kept() {
    for (const ReusedMemory &piece : pieces) ::operator delete(piece.at);
  }
};

Kept &kept() {
  thread_local Kept of_this_thread;
  return of_this_thread;
}

}  // namespace

ReusedMemory take_reused(size_t bytes) {
  // One that is much too large may be what another call needs.
  Kept &own = kept();
  for (size_t i = own.pieces.size(); i-- > 0;) {
    const ReusedMemory piece = own.pieces[i];
    if (piece.size < bytes || piece.size / 2 > std::max(bytes, kGrain)) continue;
    own.pieces.erase(own.pieces.begin() + static_cast<ptrdiff_t>(i));
    own.bytes -= piece.size;
    return piece;
  }
  const size_t size = kMostKept == 0 ? std::max<size_t>(bytes, 1) : (bytes + kGrain) / kGrain * kGrain;
  return {static_cast<uint8_t *>(::operator new(size)), size};
}

void keep_reused(ReusedMemory memory) noexcept {
  if (memory.size > kMostKept) return ::operator delete(memory.at);
  Kept &own = kept();
  own.pieces.push_back(memory);
  own.bytes += memory.size;
  size_t gone = 0;
  for (; own.bytes > kMostKept || own.pieces.size() - gone > kMostPieces; ++gone) {
    own.bytes -= own.pieces[gone].size;
    ::operator delete(own.pieces[gone].at);
  }
  own.pieces.erase(own.pieces.begin(), own.pieces.begin() + static_cast<ptrdiff_t>(gone));
}

}  // namespace cairn::codec
