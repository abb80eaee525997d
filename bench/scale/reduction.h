// The reduction of all ranks' parts into one, with the merge of src/trace, as the recorder does it in MPI_Finalize
// (src/mpi/finish/finish.cc), and what each step of it costs.
//
// Depth first, so that as many parts are alive as the tree is high. The upper rank of a pair serialises its part, the
// lower one parses and merges it. CPU time of the thread for each; bytes of heap that a rank holds at its peak while it
// does so, its own part included. What making the inputs costs is counted nowhere.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "scale/source.h"
#include "trace/merge/part.h"

namespace cairn::scale {

struct Tree {
  enum class Shape : uint8_t {
    binomial,     ///< the recorder's
    flat,         ///< rank by rank into one part
    random,       ///< contiguous ranges, cut where chance wills
    interleaved,  ///< even and odd ranks apart: not contiguous
  };
  Shape shape = Shape::binomial;
  uint64_t seed = 1;
  size_t bundles_from = 1u << 20;  ///< as in the recorder (src/mpi/store/config.h)
};

/// Least, mean, greatest, and that of the root (rank 0).
class Spread {
 public:
  void add(uint64_t value, bool root);
  [[nodiscard]] uint64_t least() const { return count_ == 0 ? 0 : least_; }
  [[nodiscard]] uint64_t greatest() const { return greatest_; }
  [[nodiscard]] uint64_t root() const { return root_; }
  [[nodiscard]] double mean() const {
    return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_);
  }
  [[nodiscard]] uint64_t sum() const { return sum_; }
  [[nodiscard]] uint64_t count() const { return count_; }

 private:
  uint64_t count_ = 0;
  uint64_t sum_ = 0;
  uint64_t least_ = UINT64_MAX;
  uint64_t greatest_ = 0;
  uint64_t root_ = 0;
};

/// All merges whose result covers more than 2^(level - 1) ranks and at most 2^level. Level 0: Part::of.
struct Level {
  Spread serialise_ns;  ///< in the rank that sends
  Spread parse_ns;
  Spread merge_ns;
  Spread bytes;   ///< that travelled
  Spread memory;  ///< of the rank that merges
};

struct Reduced {
  trace::Part part;
  std::vector<Level> levels;
  Spread rank_ns;                      ///< CPU time of each rank: Part::of, all its merges, sending
  Spread rank_memory;                  ///< greatest of its steps
  uint64_t longest_path_ns = 0;        ///< through the tree, everything included but what the network takes
  uint64_t longest_merge_path_ns = 0;  ///< the same of Part::merge alone
  uint64_t bundle_bytes = 0;           ///< that ranks took out of their parts
  double seconds = 0;                  ///< with the making of inputs
};

/// `bundle` is given each bundle, and says whether it could keep it; the time that it takes does not count.
Result<Reduced> reduce(Source *source, const Tree &tree, const std::function<bool(ByteView)> &bundle);

/// CPU time of this thread.
uint64_t cpu_ns();

}  // namespace cairn::scale
