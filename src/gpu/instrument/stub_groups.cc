// Stands in for cooperative_groups.h.
#include "gpu/instrument/parse.h"

namespace cairn::instrument {

const char *const kGroupsStub = R"stub(#pragma once
#include <cuda_runtime.h>
namespace cooperative_groups {
#define CAIRN_GROUP \
  __device__ void sync() const; __device__ unsigned long long thread_rank() const; __device__ unsigned long long size() const; \
  __device__ unsigned long long num_threads() const; __device__ bool is_valid() const;
#define CAIRN_LANES \
  template <class CairnT> __device__ CairnT shfl(CairnT, int) const { return {}; } \
  template <class CairnT> __device__ CairnT shfl_down(CairnT, unsigned) const { return {}; } \
  template <class CairnT> __device__ CairnT shfl_up(CairnT, unsigned) const { return {}; } \
  template <class CairnT> __device__ CairnT shfl_xor(CairnT, unsigned) const { return {}; } \
  template <class CairnT> __device__ unsigned match_any(CairnT) const { return 0; } \
  template <class CairnT> __device__ unsigned match_all(CairnT, int &) const { return 0; } \
  __device__ int any(int) const; __device__ int all(int) const; __device__ unsigned ballot(int) const; \
  __device__ unsigned meta_group_size() const; __device__ unsigned meta_group_rank() const;
struct thread_group { CAIRN_GROUP };
struct thread_block : thread_group {
  CAIRN_GROUP __device__ dim3 group_index() const; __device__ dim3 thread_index() const; __device__ dim3 group_dim() const;
  __device__ dim3 dim_threads() const;
};
struct grid_group : thread_group {
  CAIRN_GROUP __device__ dim3 group_dim() const; __device__ unsigned long long num_blocks() const;
  __device__ unsigned long long block_rank() const; __device__ dim3 dim_blocks() const; __device__ dim3 block_index() const;
};
struct coalesced_group : thread_group { CAIRN_GROUP CAIRN_LANES };
template <unsigned CairnN, class CairnParent = void> struct thread_block_tile : thread_group {
  CAIRN_GROUP CAIRN_LANES thread_block_tile() = default;
  template <class CairnP> __device__ thread_block_tile(const thread_block_tile<CairnN, CairnP> &);
};
__device__ thread_block this_thread_block(); __device__ grid_group this_grid(); __device__ coalesced_group coalesced_threads();
template <unsigned CairnN, class CairnG> __device__ thread_block_tile<CairnN, CairnG> tiled_partition(const CairnG &) { return {}; }
template <class CairnG> __device__ thread_group tiled_partition(const CairnG &, unsigned) { return {}; }
template <class CairnG> __device__ coalesced_group binary_partition(const CairnG &, bool) { return {}; }
template <class CairnG> __device__ coalesced_group labeled_partition(const CairnG &, int) { return {}; }
template <class CairnG> __device__ void sync(const CairnG &) {}
template <class CairnT> struct plus {}; template <class CairnT> struct less {}; template <class CairnT> struct greater {};
template <class CairnT> struct bit_and {}; template <class CairnT> struct bit_or {}; template <class CairnT> struct bit_xor {};
template <class CairnG, class CairnT, class CairnF> __device__ CairnT reduce(const CairnG &, CairnT, CairnF) { return {}; }
template <class CairnG, class CairnT> __device__ CairnT inclusive_scan(const CairnG &, CairnT) { return {}; }
template <class CairnG, class CairnT> __device__ CairnT exclusive_scan(const CairnG &, CairnT) { return {}; }
#undef CAIRN_GROUP
#undef CAIRN_LANES
}
)stub";

}  // namespace cairn::instrument
