#include "waits/report.h"

namespace cairn::waits {
namespace {

double part(double of, double all) { return all <= 0 ? 1 : of / all; }

}  // namespace

const char *name_of(Pattern pattern) {
  switch (pattern) {
    case Pattern::late_sender:
      return "late sender";
    case Pattern::wrong_order:
      return "late sender, wrong order";
    case Pattern::late_receiver:
      return "late receiver";
    case Pattern::late_root:
      return "late broadcast";
    case Pattern::early_root:
      return "early reduce";
    case Pattern::wait_all:
      return "wait at N x N";
    case Pattern::wait_barrier:
      return "wait at barrier";
    case Pattern::early_scan:
      return "early scan";
    case Pattern::wait_neighbors:
      return "wait at neighbours";
    case Pattern::wait_fence:
      return "wait at fence";
    case Pattern::late_post:
      return "late post";
    case Pattern::early_wait:
      return "early wait";
    case Pattern::lock_contention:
      return "lock contention";
    case Pattern::all_completion:
      return "N x N completion";
    case Pattern::barrier_completion:
      return "barrier completion";
  }
  return "";
}

uint64_t RankLine::all_waited_ns() const {
  uint64_t sum = 0;
  for (size_t i = 0; i < kPatterns; ++i) {
    if (has_culprit(static_cast<Pattern>(i))) sum += waited_ns[i];
  }
  return sum;
}

double Efficiency::load_balance() const { return part(mean_outside_ns, static_cast<double>(most_outside_ns)); }
double Efficiency::serialisation() const {
  return part(static_cast<double>(most_outside_ns), static_cast<double>(ideal_ns));
}
double Efficiency::transfer() const { return part(static_cast<double>(ideal_ns), static_cast<double>(run_ns)); }
double Efficiency::communication() const {
  return part(static_cast<double>(most_outside_ns), static_cast<double>(run_ns));
}
double Efficiency::parallel() const { return part(mean_outside_ns, static_cast<double>(run_ns)); }

uint64_t Report::waited_ns(Pattern pattern) const {
  uint64_t sum = 0;
  for (const WaitLine &line : lines) sum += line.pattern == pattern ? line.ns : 0;
  return sum;
}

uint64_t Report::all_waited_ns() const {
  uint64_t sum = 0;
  for (const WaitLine &line : lines) sum += has_culprit(line.pattern) ? line.ns : 0;
  return sum;
}

}  // namespace cairn::waits
