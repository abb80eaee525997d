// Cooperative groups for the emulator: blocks, tiles of a warp or more, the lanes that are together, and grids of
// cooperative launches. What CUDA's programming guide says of each; clusters are not there.
#pragma once

#include "cuda_runtime.h"

namespace cooperative_groups {

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
  template <typename T>
  unsigned match_all(T value, int &all) const {
    return ranks_of(__match_all_sync(mask_, value, &all));
  }
  bool is_valid() const { return true; }
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
  explicit coalesced_group(unsigned mask, unsigned rank = 0, unsigned count = 1)
      : cairn_lanes(mask), rank_(rank), count_(count) {}
  unsigned meta_group_size() const { return count_; }
  unsigned meta_group_rank() const { return rank_; }

 private:
  unsigned rank_;
  unsigned count_;
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
  dim3 group_dim() const { return gridDim; }
  dim3 dim_blocks() const { return gridDim; }
  dim3 block_index() const { return blockIdx; }
};
inline grid_group this_grid() { return {}; }

/// What tiles of more than a warp meet at. To lie in shared memory.
struct cairn_meeting {
  unsigned come[32], turn[32];  ///< of each tile
};
template <unsigned Most = 1024>
struct block_tile_memory {
  cairn_meeting meeting;
  uint64_t words[2 * Most];  ///< what threads give to the others, by their rank in the block
};

class thread_block {
 public:
  thread_block() = default;
  template <unsigned Most>
  explicit thread_block(block_tile_memory<Most> &memory) : meeting_(&memory.meeting), words_(memory.words) {}
  void sync() const { __syncthreads(); }
  static unsigned thread_rank() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
  static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned num_threads() { return size(); }
  dim3 group_index() const { return blockIdx; }
  dim3 thread_index() const { return threadIdx; }
  dim3 group_dim() const { return blockDim; }
  dim3 dim_threads() const { return blockDim; }
  bool is_valid() const { return true; }
  cairn_meeting *meeting() const { return meeting_; }
  uint64_t *words() const { return words_; }

 private:
  cairn_meeting *meeting_ = nullptr;
  uint64_t *words_ = nullptr;
};
inline thread_block this_thread_block() { return {}; }
/// All threads of the block with the same memory.
template <unsigned Most>
thread_block this_thread_block(block_tile_memory<Most> &memory) {
  __syncthreads();
  for (unsigned i = thread_block::thread_rank(); i < 32; i += thread_block::size()) {
    memory.meeting.come[i] = memory.meeting.turn[i] = 0;
  }
  __syncthreads();
  return thread_block(memory);
}

/// Any of them, known only when the kernel runs.
class thread_group {
 public:
  thread_group(const thread_block &) : mask_(0) {}                       // NOLINT(google-explicit-constructor)
  thread_group(const cairn_lanes &lanes) : mask_(lanes.cairn_mask()) {}  // NOLINT(google-explicit-constructor)
  void sync() const { mask_ == 0 ? __syncthreads() : __syncwarp(mask_); }
  unsigned size() const { return mask_ == 0 ? thread_block::size() : static_cast<unsigned>(__popc(mask_)); }
  unsigned num_threads() const { return size(); }
  unsigned thread_rank() const { return mask_ == 0 ? thread_block::thread_rank() : cairn_lanes(mask_).thread_rank(); }
  bool is_valid() const { return true; }
  unsigned cairn_mask() const { return mask_; }

 private:
  unsigned mask_;  ///< 0: the block
};

constexpr unsigned cairn_tile_mask(unsigned size, unsigned lane) {
  return (size == 32 ? ~0u : (1u << size % 32) - 1) << lane / size * size;
}

template <unsigned N, typename Parent = void, bool = (N <= 32)>
class thread_block_tile : public cairn_lanes {
  static_assert(N != 0 && (N & (N - 1)) == 0, "the size of a tile is a power of two");

 public:
  template <typename Group>
  explicit thread_block_tile(const Group &, unsigned rank_in_parent, unsigned parent_size)
      : cairn_lanes(cairn_tile_mask(N, cairn::emulator::lane_index())),
        rank_(rank_in_parent / N),
        count_((parent_size + N - 1) / N) {}
  template <typename Other>
  thread_block_tile(const thread_block_tile<N, Other> &other)  // NOLINT(google-explicit-constructor)
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
  unsigned rank_;
  unsigned count_;
};

/// Of several warps: they meet in the memory that the block was given.
template <unsigned N, typename Parent>
class thread_block_tile<N, Parent, false> {
 public:
  explicit thread_block_tile(const thread_block &block, unsigned rank_in_parent, unsigned parent_size)
      : meeting_(block.meeting()), words_(block.words()), rank_(rank_in_parent / N), count_((parent_size + N - 1) / N) {
    static_assert(N <= 1024, "a tile has 1024 threads at most");
    assert(meeting_ != nullptr && "tiles of more than a warp need this_thread_block(block_tile_memory)");
  }
  static constexpr unsigned size() { return N; }
  static constexpr unsigned num_threads() { return N; }
  unsigned thread_rank() const { return thread_block::thread_rank() % N; }
  unsigned meta_group_rank() const { return rank_; }
  unsigned meta_group_size() const { return count_; }
  bool is_valid() const { return true; }
  void sync() const {
    const unsigned turn = meeting_->turn[rank_];
    if (++meeting_->come[rank_] == N) {
      meeting_->come[rank_] = 0;
      ++meeting_->turn[rank_];
    }
    while (*const_cast<volatile unsigned *>(&meeting_->turn[rank_]) == turn) cairn::emulator::pause();
  }
  /// `use` gets what each thread of the tile gave, by rank.
  template <typename T, typename F>
  void gathered(const T &value, F use) const {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 2 * sizeof(uint64_t));
    std::memcpy(words_ + 2 * size_t{thread_block::thread_rank()}, &value, sizeof value);
    sync();
    for (unsigned rank = 0; rank < N; ++rank) {
      T other = value;
      std::memcpy(&other, words_ + 2 * (size_t{rank_} * N + rank), sizeof other);
      use(rank, other);
    }
    sync();
  }

 private:
  cairn_meeting *meeting_;
  uint64_t *words_;
  unsigned rank_;
  unsigned count_;
};

template <unsigned N, typename Group>
thread_block_tile<N, Group> tiled_partition(const Group &group) {
  return thread_block_tile<N, Group>(group, group.thread_rank(), group.size());
}
/// Of a size that is known only when the kernel runs; of up to a warp.
template <typename Group>
thread_group tiled_partition(const Group &group, unsigned size) {
  const thread_group whole(group);
  if (size >= whole.size()) return whole;
  return thread_group(cairn_lanes(cairn_tile_mask(size, cairn::emulator::lane_index())));
}
template <typename Group>
coalesced_group labeled_partition(const Group &group, int label) {
  const unsigned mask = __match_any_sync(group.cairn_mask(), label);
  // Which of the parts: by their first lanes.
  const unsigned firsts = __ballot_sync(group.cairn_mask(), cairn_lanes(mask).thread_rank() == 0);
  const unsigned below = firsts & ((mask & -mask) - 1);
  return coalesced_group(mask, static_cast<unsigned>(__popc(below)), static_cast<unsigned>(__popc(firsts)));
}
template <typename Group>
coalesced_group binary_partition(const Group &group, bool side) {
  const unsigned yes = __ballot_sync(group.cairn_mask(), side);
  return coalesced_group(side ? yes : group.cairn_mask() & ~yes, side ? 0 : 1, 2);
}
template <typename Group>
void sync(const Group &group) {
  group.sync();
}

// cooperative_groups/reduce.h and scan.h
template <typename T = void>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
template <typename T = void>
struct less {
  T operator()(T a, T b) const { return b < a ? b : a; }
};
template <typename T = void>
struct greater {
  T operator()(T a, T b) const { return a < b ? b : a; }
};
template <typename T = void>
struct bit_and {
  T operator()(T a, T b) const { return a & b; }
};
template <typename T = void>
struct bit_or {
  T operator()(T a, T b) const { return a | b; }
};
template <typename T = void>
struct bit_xor {
  T operator()(T a, T b) const { return a ^ b; }
};
/// `use` gets rank and value of each thread of the group, in order.
template <typename Group, typename T, typename F>
void cairn_each(const Group &group, const T &value, F use) {
  if constexpr (std::is_base_of_v<cairn_lanes, Group>) {
    const unsigned mask = group.cairn_mask();
    unsigned rank = 0;
    cairn_gathered(mask, value, [&](unsigned lane, const T &other) {
      if ((mask >> lane & 1) != 0) use(rank++, other);
    });
  } else {
    group.gathered(value, use);
  }
}
template <typename Group, typename T, typename F>
T reduce(const Group &group, T value, F join) {
  T result = value;
  cairn_each(group, value, [&](unsigned rank, const T &other) { result = rank == 0 ? other : join(result, other); });
  return result;
}
template <typename Group, typename T, typename F = plus<T>>
T inclusive_scan(const Group &group, T value, F join = {}) {
  const unsigned own = group.thread_rank();
  T result = value;
  cairn_each(group, value, [&](unsigned rank, const T &other) {
    if (rank <= own) result = rank == 0 ? other : join(result, other);
  });
  return result;
}
/// The first thread gets what a new T is.
template <typename Group, typename T, typename F = plus<T>>
T exclusive_scan(const Group &group, T value, F join = {}) {
  const unsigned own = group.thread_rank();
  T result{};
  cairn_each(group, value, [&](unsigned rank, const T &other) {
    if (rank < own) result = rank == 0 ? other : join(result, other);
  });
  return result;
}

// cooperative_groups/memcpy_async.h: copied at once, by the first thread.
template <typename Group, typename T, typename Size>
void memcpy_async(const Group &group, T *to, const T *from, Size size) {
  if (group.thread_rank() == 0) std::memcpy(static_cast<void *>(to), from, static_cast<size_t>(size));
}
template <typename Group>
void wait(const Group &group) {
  group.sync();
}

}  // namespace cooperative_groups
