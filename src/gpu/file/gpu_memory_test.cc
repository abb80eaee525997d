// What reading kernels takes of memory is bounded by the bytes of the file: sections of which few bytes stand for as
// much as can be, compressed as far as they may be. All that operator new gives is counted.
#include <gtest/gtest.h>

#include "base/counted_memory.h"
#include "codec/codec.h"
#include "gpu/file/launches.h"
#include "trace/values/bounds.h"

namespace cairn::gpu {
namespace {

constexpr size_t kBytes = size_t{16} << 20;

Bytes again_and_again(Bytes front, const Bytes &piece) {
  const size_t times = kBytes / piece.size();
  ByteWriter out;
  out.raw(front);
  out.varint(times);
  for (size_t i = 0; i < times; ++i) out.raw(piece);
  for (size_t i = 0; i < 64; ++i) out.byte(0);
  return out.take();
}

TEST(GpuMemory, FewBytesDoNotStandForMuch) {
  const Bytes none = {0};
  const Bytes program = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  const Bytes launch = {0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 8, 32, 0, 0, 0, 1, 0};
  Bytes one_program = {1};
  one_program.insert(one_program.end(), program.begin(), program.end());
  struct Bomb {
    const char *what;
    Bytes gpu;
    Bytes warps;
  };
  const Bomb bombs[] = {
      {"streams", none, again_and_again({}, {0, 0})},
      {"programs", again_and_again({}, program), none},
      {"kernels", again_and_again({1, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {0}), none},
      {"locations", again_and_again({1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {1, 0, 0, 0, 0}), none},
      {"launches", again_and_again(one_program, launch), none},
  };
  for (const Bomb &bomb : bombs) {
    const uint64_t most = trace::memory_for((bomb.gpu.size() + bomb.warps.size()) / 128);
    bool good = false;
    const size_t taken = memory_taken(2 * most, [&] {
      Allowance allowance(most);
      good = Launches::read(bomb.gpu, bomb.warps, &allowance).has_value();
    });
    EXPECT_LE(taken, most) << bomb.what;
    EXPECT_FALSE(good) << bomb.what;
  }
}

}  // namespace
}  // namespace cairn::gpu
