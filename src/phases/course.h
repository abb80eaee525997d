// Course: the calls of one kind of ranks as a short list of parts that follow each other: what stands before the first
// loop, each outermost loop, what stands between two of them, and what stands behind the last.
//
// Loops that make less than a hundredth of all calls are part of what stands around them, so that the list stays short.
// A part is a range of places in the sequence of a rank's calls, the same on all ranks of the kind.
//
// The *turns* of a loop are those of the loop in it that most of its calls are made in, if that is more than half
// and it is not the way in which a step serves its neighbours: a program that writes a file in each tenth step has an
// outer loop of ten steps and a file, and its turns are the steps. A turn begins with the first call that is made once
// in each.
//
// Plain values; `course_of` costs the items of the kind's loops.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyze/loops.h"

namespace cairn::phases {

enum class What : uint8_t { start, loop, stretch, end };
const char *name_of(What what);

/// A loop within one.
struct Inner {
  size_t depth = 1;
  std::string place;
  std::string turns;
  double times = 1;               ///< how often it is come to
  std::vector<double> of_visits;  ///< by place: which part of the visits in this part of the course are in it
};

struct Part {
  What what = What::stretch;
  uint64_t begin = 0;  ///< places in the sequence
  uint64_t end = 0;
  std::string place;                ///< where it lies; "" if that is not known
  std::string turns;                ///< "200", "12 to 15"; "" of what is no loop
  uint64_t turn_count = 0;          ///< 0 of what is no loop
  std::string note;                 ///< "each 10th turn also makes MPI_Gather at main.c:59", or ""
  std::optional<uint32_t> anchor;   ///< the place of the call that each turn begins with
  std::set<std::string> functions;  ///< of the source, that call MPI, as far as they are known
  std::set<uint32_t> places;        ///< where it calls MPI
  std::vector<uint64_t> visits;     ///< by place: how often one rank comes to it here
  std::vector<Inner> inner;         ///< outer ones before those in them
};

/// `depth`: how many levels of loops within loops are told.
std::vector<Part> course_of(const analyze::KindOfRank &kind, size_t depth);

}  // namespace cairn::phases
