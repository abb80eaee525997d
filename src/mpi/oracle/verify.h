// verify: compares a trace with the raw logs of the same run, event by event and field by field.
//
// The logs share nothing with the recorder but the generated argument lists (spec/), and this comparison nothing but
// spec/'s tables: what both say must have happened. Integers, strings and outcomes are compared as they are, constants
// by the values that the traced MPI has for them; names of handles and raw values must correspond one to one over each
// object's life; named and raw addresses must have one distance within each segment. Durations aren't compared.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "mpi/oracle/event_source.h"
#include "mpi/oracle/reader.h"

namespace cairn::oracle {

struct VerifyReport {
  static constexpr size_t kKept = 50;

  uint64_t ranks = 0;
  uint64_t threads = 0;
  uint64_t calls = 0;       ///< compared
  uint64_t fields = 0;      ///< compared
  uint64_t beyond = 0;      ///< logged calls after the end of a recording that is known to be incomplete
  uint64_t unreturned = 0;  ///< last calls of threads that never returned: the log has only calls that did
  uint64_t difference_count = 0;
  std::vector<std::string> differences;  ///< the first kKept, a line each

  [[nodiscard]] bool equal() const { return difference_count == 0; }
  void add(std::string line) {
    ++difference_count;
    if (differences.size() < kKept) differences.push_back(std::move(line));
  }
};

Result<VerifyReport> verify(const trace::Trace &trace, const std::string &directory);
Result<VerifyReport> verify(const EventSource &source, const std::string &directory);
Result<VerifyReport> verify(const EventSource &source, const std::vector<LogFile> &logs);

}  // namespace cairn::oracle
