// Programs that run on GPUs and are neither CUDA nor HIP: SYCL, OpenMP offload, OpenACC. Clang would read them as host
// code without a kernel in it.
#pragma once

#include <string>

namespace cairn::instrument {

struct OtherModel {
  std::string name;    ///< "SYCL", or empty: there is none
  unsigned line = 0;   ///< where that was seen
  bool alone = false;  ///< there is no kernel of CUDA's or HIP's beside it
};
/// By the directives of a source: includes of SYCL's header, `#pragma omp ... target`, `#pragma acc`.
OtherModel other_model(const std::string &text);

}  // namespace cairn::instrument
