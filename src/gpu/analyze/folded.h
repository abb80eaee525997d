// Folded: what warps did as stacks, the form that flame graphs are drawn from (flamegraph.pl, speedscope, Perfetto):
// the kernel, the functions and loops in it that a warp was in, and the point that it came to. A stack weighs as many
// lanes as were there, or as were not.
//
// Plain function. Cost: a step per event of distinct warps. Memory: the stacks that differ.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"
#include "gpu/file/launches.h"

namespace cairn::analyze {

enum class Weight : uint8_t {
  lanes,   ///< that came to the point
  lost,    ///< of the warp that did not
  visits,  ///< of warps
};
/// Weights by stack: "saxpy;loop k.cu:12;k.cu:13 then". Stacks without weight are left out.
Result<std::map<std::string, uint64_t>> folded_stacks(const gpu::Launches &launches, Weight weight);

}  // namespace cairn::analyze
