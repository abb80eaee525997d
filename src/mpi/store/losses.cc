#include "mpi/store/losses.h"

#include <cstring>
#include <iterator>

namespace cairn::recorder {
namespace {

struct Words {
  const char *reason;
  bool missing;  ///< calls or arguments
  bool counted;  ///< the count is worth telling
  bool asked = false;
};

/// By Loss.
constexpr Words kWords[] = {
    {"memory limit reached: segments went to the spool; more --memory gives a smaller trace", false, false},
    {"memory limit reached: segments went to the spool, within calls for want of a thread; more --memory gives a "
     "smaller trace",
     false, false},
    {"no memory for the arguments of a call, which stands without them; raise the limit with --memory", true, true},
    {"memory limit reached: recording ended, and later calls are missing; raise the limit with --memory", true, false},
    {"no memory for the tables of a thread, which is missing; raise the limit with --memory", true, true},
    {"no memory for the place of a call among those of other threads", false, true},
    {"no memory for the begin or end of a heap segment", false, true},
    {"MPI_Init was not seen: calls made through another binding may be missing", false, false},
    {"MPI_Finalize could not be watched: ranks were joined afterwards", false, false},
    {"a call from Fortran is missing: this Fortran library of MPI does not call the C function for it", true, true},
    {"the spool is no folder of this user: what memory could not hold is missing", false, false},
    {"a call was left out on request: tracing was off", false, true, true},
    {"a call was left out on request: --exclude", false, true, true},
    {"calls of an MPI function are missing: the program, or a library in front of the recorder, defines it", true,
     true},
    {"a call is missing that came before the process had begun, from .preinit_array", true, true},
    {"a call made within callbacks more than 64 deep is missing", true, true},
};
static_assert(std::size(kWords) == static_cast<size_t>(Loss::kCount));

}  // namespace

void Losses::note(const char *other_reason) {
  if (other[0] == '\0') strncpy(other, other_reason, sizeof other - 1);
}

void Losses::forget() {
  for (std::atomic<uint64_t> &count : counts) count.store(0);
  other[0] = '\0';
}

std::vector<trace::Loss> Losses::told() const {
  std::vector<trace::Loss> told;
  for (size_t i = 0; i < std::size(kWords); ++i) {
    const uint64_t count = counts[i].load();
    if (count != 0)
      told.push_back({kWords[i].reason, kWords[i].counted ? count : 0, kWords[i].missing, kWords[i].asked});
  }
  if (other[0] != '\0') told.push_back({other});
  return told;
}

const char *reason_of(Loss loss) { return kWords[static_cast<size_t>(loss)].reason; }

}  // namespace cairn::recorder
