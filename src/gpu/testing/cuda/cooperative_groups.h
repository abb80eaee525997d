// Cooperative groups for the emulator: blocks, tiles of a warp, the lanes that are together, and grids of cooperative
// launches. What CUDA's programming guide says of each; tiles of more than a warp, clusters and copies are not there.
#pragma once

#include "cuda_runtime.h"

namespace cooperative_groups {

class thread_block;

/// Some lanes of a warp, by mask; ranks go by lane.
class cairn_lanes {
 public:
  explicit cairn_lanes(unsigned mask) : mask_(mask) {}
  void sync() const { __syncwarp(mask_); }
  unsigned thread_rank() const { return rank_of(cairn::emulator::lane_index()); }
  unsigned size() const { return static_cast<unsigned>(__popc(mask_)); }
  unsigned num_threads() const { return size(); }
  template <typename T>
  T shfl(T value, unsigned rank) const {
    return cairn_exchanged(mask_, value, lane_of(rank % size()));
  }
  template <typename T>
  T shfl_down(T value, unsigned by) const {
    const unsigned rank = thread_rank();
    return cairn_exchanged(mask_, value, lane_of(rank + by < size() ? rank + by : rank));
  }
  template <typename T>
  T shfl_up(T value, unsigned by) const {
    const unsigned rank = thread_rank();
    return cairn_exchanged(mask_, value, lane_of(rank >= by ? rank - by : rank));
  }
  int any(int predicate) const { return __any_sync(mask_, predicate); }
  int all(int predicate) const { return __all_sync(mask_, predicate); }
  unsigned ballot(int predicate) const { return ranks_of(__ballot_sync(mask_, predicate)); }
  template <typename T>
  unsigned match_any(T value) const {
    return ranks_of(__match_any_sync(mask_, value));
  }
  unsigned cairn_mask() const { return mask_; }

 protected:
  unsigned rank_of(unsigned lane) const { return static_cast<unsigned>(__popc(mask_ & ((1u << lane) - 1))); }
  unsigned lane_of(unsigned rank) const {
    unsigned rest = mask_;
    for (; rank != 0 && rest != 0; --rank) rest &= rest - 1;
    return rest == 0 ? cairn::emulator::lane_index() : static_cast<unsigned>(__builtin_ctz(rest));
  }
  unsigned ranks_of(unsigned lanes) const {
    unsigned ranks = 0;
    for (unsigned rest = lanes & mask_; rest != 0; rest &= rest - 1) {
      ranks |= 1u << rank_of(static_cast<unsigned>(__builtin_ctz(rest)));
    }
    return ranks;
  }

 private:
  unsigned mask_;
};

class coalesced_group : public cairn_lanes {
 public:
  explicit coalesced_group(unsigned mask) : cairn_lanes(mask) {}
  unsigned meta_group_size() const { return 1; }
  unsigned meta_group_rank() const { return 0; }
};
inline coalesced_group coalesced_threads(unsigned line = __builtin_LINE()) {
  return coalesced_group(__activemask(line));
}

class grid_group {
 public:
  void sync() const { cairn::emulator::synchronise_grid(); }
  bool is_valid() const { return true; }
  unsigned long long num_blocks() const { return 1ull * gridDim.x * gridDim.y * gridDim.z; }
  unsigned long long block_rank() const {
    return blockIdx.x + 1ull * gridDim.x * (blockIdx.y + 1ull * gridDim.y * blockIdx.z);
  }
  unsigned long long num_threads() const { return num_blocks() * blockDim.x * blockDim.y * blockDim.z; }
  unsigned long long size() const { return num_threads(); }
  unsigned long long thread_rank() const {
    return block_rank() * (1ull * blockDim.x * blockDim.y * blockDim.z) + threadIdx.x +
           1ull * blockDim.x * (threadIdx.y + 1ull * blockDim.y * threadIdx.z);
  }
  dim3 group_dim() const { return dim3(gridDim.x, gridDim.y, gridDim.z); }
};
inline grid_group this_grid() { return {}; }

class thread_block {
 public:
  void sync() const { __syncthreads(); }
  unsigned thread_rank() const { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
  unsigned size() const { return blockDim.x * blockDim.y * blockDim.z; }
  unsigned num_threads() const { return size(); }
  dim3 group_index() const { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  dim3 thread_index() const { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  dim3 group_dim() const { return dim_threads(); }
  dim3 dim_threads() const { return dim3(blockDim.x, blockDim.y, blockDim.z); }
};
inline thread_block this_thread_block() { return {}; }

template <unsigned N, typename Parent = void>
class thread_block_tile : public cairn_lanes {
  static_assert(N != 0 && N <= 32 && (N & (N - 1)) == 0, "a tile is 1, 2, 4, 8, 16 or 32 threads here");

 public:
  explicit thread_block_tile(unsigned rank_in_parent, unsigned parent_size)
      : cairn_lanes(tile_mask()), rank_(rank_in_parent / N), count_((parent_size + N - 1) / N) {}
  template <typename Other>
  thread_block_tile(const thread_block_tile<N, Other> &other)
      : cairn_lanes(other), rank_(other.meta_group_rank()), count_(other.meta_group_size()) {}
  static constexpr unsigned size() { return N; }
  static constexpr unsigned num_threads() { return N; }
  unsigned thread_rank() const { return cairn::emulator::lane_index() % N; }
  template <typename T>
  T shfl_xor(T value, unsigned with) const {
    return cairn_exchanged(cairn_mask(), value, cairn::emulator::lane_index() ^ with);
  }
  unsigned meta_group_rank() const { return rank_; }
  unsigned meta_group_size() const { return count_; }

 private:
  static unsigned tile_mask() {
    constexpr unsigned kOnes = N == 32 ? ~0u : (1u << N % 32) - 1;
    return kOnes << cairn::emulator::lane_index() / N * N;
  }
  unsigned rank_;
  unsigned count_;
};

template <unsigned N, typename Group>
thread_block_tile<N, Group> tiled_partition(const Group &group) {
  return thread_block_tile<N, Group>(group.thread_rank(), group.size());
}

template <typename Group>
void sync(const Group &group) {
  group.sync();
}

// cooperative_groups/reduce.h
template <typename T>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
template <typename T>
struct less {
  T operator()(T a, T b) const { return b < a ? b : a; }
};
template <typename T>
struct greater {
  T operator()(T a, T b) const { return a < b ? b : a; }
};
template <typename Group, typename T, typename F>
T reduce(const Group &group, T value, F join) {
  return cairn_reduced(group.cairn_mask(), value, join);
}

}  // namespace cooperative_groups
