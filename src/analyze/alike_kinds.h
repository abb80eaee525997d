// Kinds of ranks (loops.h) that differ in nothing but how often they do things, and in what order: as one, for who
// reads.
//
// Programs that go on with what completes first make the same calls in another order on each rank, so that each is a
// kind of its own. Their loops are the same all the same: made of the same calls, nested alike, with other numbers of
// turns.
//
// Compared is what is told of a kind at a glance: loops and repeated calls that have a hundredth of its calls or of its
// time in MPI, whatever their order; and what they are made of, as far as that has as much.
//
// Stateless; one thread. Cost: the items of all kinds.
#pragma once

#include <cstddef>
#include <vector>

#include "analyze/loops.h"

namespace cairn::analyze {

/// The part of a kind's calls, or of its time, from which on something is told of it.
constexpr double kTold = 0.01;
/// Whether that is so of a loop, or call, of a kind whose calls took `mpi_ns`.
bool is_told(const Loop &loop, const KindOfRank &kind, uint64_t mpi_ns);
/// What calls of the kind took in MPI, without MPI_Init and MPI_Finalize.
uint64_t mpi_ns_of(const KindOfRank &kind);

struct AlikeKinds {
  /// Of all their ranks: calls, bytes and times are sums; turns are means, least and most of all. What is not compared
  /// is the first one's.
  KindOfRank kind;
  size_t kinds = 1;
  double least_calls = 0;  ///< of a rank
  double most_calls = 0;
};

/// A kind, whose places and loops were found, as it is.
AlikeKinds by_itself(KindOfRank kind);
/// `kinds`, whose places and loops were found (LoopFinder::find), each with those that are alike; most ranks first.
std::vector<AlikeKinds> join_alike(std::vector<KindOfRank> kinds);

}  // namespace cairn::analyze
