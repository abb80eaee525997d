// Estimate: how many bytes a trace of a program on more ranks, or of more steps, would take, from traces of the same
// program on fewer.
//
// Each section of the file is a number for each recording, y(x), x being the ranks, or the steps where only these
// differ. Laws are y = a + b g(x) with g = 0, log2 x, sqrt x, x, fitted by least squares; what would shrink is
// constant. A section that does not change is constant. Two recordings fit each law, so what is known of the section
// chooses: clocks, sums and meta have something for each rank and are linear, what classes share is logarithmic, as
// structure that has met all kinds of ranks stays what it is; the next smaller and larger law are the range, of linear
// ones a quarter more of growth. With three or more recordings that law is chosen whose sum of squares is least, and
// the range is that of laws that are nearly as good. Times of single calls are not fitted: they are bytes a call, times
// calls, and calls of a rank follow a law in their turn.
//
// Plain functions; any thread. Cost: nothing beside reading the traces' counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "trace/read/trace.h"

namespace cairn::estimate {

enum class Law : uint8_t { constant, logarithmic, root, linear };
const char *name_of(Law law);

/// With what is thought likely below and above it.
struct Guess {
  Law law = Law::constant;
  double value = 0;
  double least = 0;
  double most = 0;
};

/// Of pairs (x, y), at least two of different x > 0 ascending, at `x`. `likely`: the law where two do not tell.
Guess guess(const std::vector<std::pair<double, double>> &known, double x, Law likely);

struct Section {
  std::string name;
  std::vector<uint64_t> bytes;  ///< in each recording
  Guess guess;
};

struct Recording {
  const trace::Trace *trace = nullptr;
  std::string path;
};

struct Estimate {
  std::vector<uint32_t> ranks;        ///< of each recording, which are in order of what they differ in
  std::vector<uint64_t> steps;        ///< of the time step of each, 0 if there is none
  std::vector<uint32_t> classes;      ///< of each
  bool of_steps = false;              ///< the recordings differ in steps
  std::vector<Section> sections;      ///< most bytes first
  Guess total;                        ///< the sums
  Guess memory;                       ///< of the recorder, on the rank that needs most
  std::optional<double> largest_off;  ///< with three or more: by which part the largest is missed by the others
  double beyond = 1;                  ///< how many times the largest recording's ranks, or steps
};

/// Usage errors say what is wrong with the recordings: of different programs (same_program.h) or timing modes, of the
/// same size, or of different ranks and steps at once.
Result<Estimate> estimate(std::vector<Recording> recordings, uint64_t ranks, std::optional<uint64_t> steps);

}  // namespace cairn::estimate
