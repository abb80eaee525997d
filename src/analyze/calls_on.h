// CallsOn: which calls of a rank a filter wants that asks for communicators by name, how often and how long.
//
// What a communicator's number means changes along a rank's life (communicator_names.h), so equal calls may be wanted
// at one time and not at another: all calls of a rank are gone through whenever another was asked for before. Memory
// for the distinct calls of one rank that are wanted, and for the times of its calls. Borrows all. One thread at a
// time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "analyze/row_times.h"
#include "analyze/wanted_calls.h"
#include "base/result.h"
#include "trace/read/events.h"

namespace cairn::analyze {

class CallsOn {
 public:
  /// Of one rank in one class.
  struct InClass {
    std::vector<trace::CountedRow> calls;            ///< that are wanted
    std::set<std::pair<uint32_t, uint32_t>> others;  ///< functions and sites of some that are not
    std::map<uint32_t, RowTimes> times;              ///< by row of the class, where calls have times
    DamagedTimes damaged;
  };

  CallsOn(const trace::Trace &trace, const WantedCalls &wanted) : trace_(trace), wanted_(wanted) {}
  /// Valid until another rank is asked for.
  Result<const InClass *> of(uint32_t rank, uint32_t class_index);

 private:
  Result<void> read(uint32_t rank, std::map<uint32_t, InClass> *classes) const;

  const trace::Trace &trace_;
  const WantedCalls &wanted_;
  std::optional<uint32_t> known_;        ///< the rank whose calls are at hand
  std::map<uint32_t, InClass> classes_;  ///< of it
};

}  // namespace cairn::analyze
