// Matrix: who sends how much to whom, sparse: a cell for each pair of processes and kind of traffic, whatever the
// number of calls. Collective operations stand apart, by communicator and operation, unless they are asked for as what
// they are by their definition.
//
// Plain values after `matrix_of`. Memory for the cells, at most kMostCells of them. Numbers beyond 64 bits are cut.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "traffic/traffic.h"

namespace cairn::traffic {

struct Amount {
  uint64_t messages = 0;
  uint64_t bytes = 0;    ///< of those whose size is known
  uint64_t unsized = 0;  ///< messages whose size is not
  /// So many messages; `each`, where known, so many times in bytes (Called::times).
  void add(uint64_t count, const std::optional<uint64_t> &each, uint64_t times);
  void add(const Amount &other);
};

struct Cell {
  uint32_t from = 0;
  uint32_t to = 0;
  Kind kind = Kind::message;
  Amount amount;
};

/// Everything, or what one communicator or call site has.
struct Group {
  std::string name;         ///< "" of everything
  std::vector<Cell> cells;  ///< by sender, receiver, kind
};

/// An operation on a communicator.
struct CollectiveLine {
  std::string communicator;
  std::string operation;  ///< "Allreduce" of each of its forms
  std::string site;       ///< where lines are by site
  uint64_t calls = 0;     ///< of all ranks
  uint64_t ranks = 0;     ///< how many made some
  uint64_t bytes = 0;     ///< that ranks gave: CollectiveUse
  uint64_t unsized = 0;   ///< calls
};

enum class By : uint8_t { nothing, communicator, site };

struct Matrix {
  uint32_t ranks = 0;  ///< of MPI_COMM_WORLD; every number of a rank is below
  By by = By::nothing;
  std::vector<Group> groups;  ///< most bytes first; of By::nothing one
  std::vector<CollectiveLine> collectives;
  Seen seen;
};

constexpr size_t kMostCells = size_t{1} << 22;

/// Fails as each_traffic does, and where there are too many cells. `taken`: of what the filter takes only these calls.
Result<Matrix> matrix_of(const trace::Trace &trace, const analyze::Sources &sources, const analyze::Filter &filter,
                         By by, bool expanded, const std::function<bool(const Called &)> &taken = {});

/// All kinds of each pair together, by sender and receiver.
std::vector<Cell> pairs_of(const Matrix &matrix);

/// The part of the traffic that goes so far.
struct Distance {
  uint32_t ranks = 0;  ///< |from - to|
  Amount amount;
};
/// Nearest first.
std::vector<Distance> distances_of(const std::vector<Cell> &pairs);

/// How much of what goes one way comes back.
struct Symmetry {
  uint64_t pairs = 0;     ///< that exchange something, in whichever direction; not with themselves
  uint64_t both = 0;      ///< of them: in both directions
  uint64_t bytes = 0;     ///< of all of them
  uint64_t returned = 0;  ///< twice the smaller of both directions, summed up
  uint64_t equal = 0;     ///< pairs with as many messages and bytes in both directions
};
Symmetry symmetry_of(const std::vector<Cell> &pairs);

/// The matrix in at most `most` times `most` blocks of `size` times `size` ranks.
struct Blocks {
  uint32_t size = 1;
  uint32_t count = 0;            ///< a side
  std::vector<uint64_t> values;  ///< by sender's block, then receiver's
  uint64_t most = 0;             ///< of them
  uint64_t least = 0;            ///< of those that are not 0
};
Blocks blocks_of(const std::vector<Cell> &pairs, uint32_t ranks, uint32_t most, bool messages);
/// 0 of nothing, else 1 to `levels`, on a logarithmic scale from the least to the most.
uint32_t level_of(const Blocks &blocks, uint64_t value, uint32_t levels);
/// The least value that has that level.
uint64_t least_of_level(const Blocks &blocks, uint32_t level, uint32_t levels);

}  // namespace cairn::traffic
