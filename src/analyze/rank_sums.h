// RankSums: what each rank spent in each function, whatever a filter wants of it.
//
// Taken from the trace's own sums (trace/merge/function_sums.h) under statistics, and from what was added where the
// trace has the time of every call. A trace of one rank needs no sums beside its statistics, which are that rank's.
// Borrows the trace. One thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "trace/read/trace.h"

namespace cairn::analyze {

class RankSums {
 public:
  explicit RankSums(const trace::Trace &trace);

  /// Of calls whose times the trace has.
  void add(uint32_t rank, uint32_t function, uint64_t ns) { own_[rank][function] += ns; }
  /// Whether `of` can say anything.
  [[nodiscard]] bool known() const { return known_; }
  /// Nothing if it is not known.
  [[nodiscard]] std::optional<uint64_t> of(uint32_t rank, uint32_t function) const;
  /// In which a rank may have spent time.
  [[nodiscard]] std::vector<uint32_t> functions_of(uint32_t rank) const;

 private:
  const trace::Trace &trace_;
  bool has_times_;
  bool known_;
  std::map<uint32_t, std::map<uint32_t, uint64_t>> own_;  ///< by rank and function, where the trace has no section
};

}  // namespace cairn::analyze
