#include "mpi/finish/compare_clocks.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>

#include "mpi/store/clock.h"

namespace cairn::recorder {
namespace {

constexpr uint32_t kExchanges = 12;

/// From the one below.
struct Question {
  uint64_t domain;
};

/// From the one above.
struct Answer {
  RootWord root;
  ClockPoint point;  ///< the one above's own
  uint64_t domain;   ///< the same as the one below's, and not 0: the same clock
  uint64_t now_ns;
};

uint64_t hashed(uint64_t hash, const char *bytes, size_t size) {
  for (size_t i = 0; i < size; ++i) hash = (hash ^ static_cast<uint8_t>(bytes[i])) * 1099511628211u;
  return hash;
}

/// Which clock this is: the kernel's boot, and the time namespace. 0: not known.
uint64_t clock_domain() {
  char text[128];
  const int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  ssize_t size = read(file, text, sizeof text);
  close(file);
  if (size <= 0) return 0;
  uint64_t hash = hashed(14695981039346656037u, text, static_cast<size_t>(size));
  size = readlink("/proc/self/ns/time", text, sizeof text);  // an older kernel has none
  if (size > 0) hash = hashed(hash, text, static_cast<size_t>(size));
  return hash == 0 ? 1 : hash;
}

bool ask(mpi::Handle comm, int above, uint64_t domain, RootWord *root, ClockPoint *point) {
  uint64_t narrowest = UINT64_MAX;
  *point = {};
  for (uint32_t exchange = 0; exchange < kExchanges; ++exchange) {
    const Question question{domain};
    Answer answer{};
    const uint64_t before = Clock::monotonic();
    if (!mpi::send_words(comm, &question, sizeof question, above) ||
        !mpi::receive_words(comm, &answer, sizeof answer, above)) {
      return false;
    }
    const uint64_t after = Clock::monotonic();
    *root = answer.root;
    const bool same = domain != 0 && answer.domain == domain;
    const uint64_t trip = after - before;
    if (same || trip < narrowest) {
      narrowest = trip;
      const uint64_t middle = before + trip / 2;
      const int64_t offset = same ? 0 : static_cast<int64_t>(answer.now_ns - middle);
      *point = {answer.point.known, after, offset + answer.point.offset_ns,
                answer.point.uncertainty_ns + (same ? 0 : (trip + 1) / 2)};
    }
    if (same) break;
  }
  return point->known;
}

bool answer(mpi::Handle comm, int below, uint64_t domain, const RootWord &root, const ClockPoint &point) {
  for (uint32_t exchange = 0; exchange < kExchanges; ++exchange) {
    Question question{};
    if (!mpi::receive_words(comm, &question, sizeof question, below)) return false;
    const Answer answer{root, point, domain, Clock::monotonic()};
    if (!mpi::send_words(comm, &answer, sizeof answer, below)) return false;
    if (domain != 0 && question.domain == domain) break;
  }
  return true;
}

}  // namespace

bool compare_clocks(const Run &run, mpi::Handle comm, RootWord *root, ClockPoint *point) {
  const uint64_t domain = clock_domain();
  const int64_t rank = run.rank;
  bool good = true;
  *point = {true, Clock::monotonic(), 0, 0};
  int64_t lowest = rank & -rank;
  if (rank == 0) {
    for (lowest = 1; lowest < run.size;) lowest *= 2;
  } else {
    good = ask(comm, static_cast<int>(rank - lowest), domain, root, point);
  }
  // The largest part of the tree first.
  for (int64_t step = lowest / 2; step >= 1; step /= 2) {
    if (rank + step < run.size) good = answer(comm, static_cast<int>(rank + step), domain, *root, *point) && good;
  }
  return good;
}

}  // namespace cairn::recorder
