// WantedCalls: whether a call is one that a filter wants. All verbs ask here.
//
// In two steps: by function, place and thread, which are the same for all calls of a class's row, in constant time;
// then by the values of one distinct call, which costs what reading those values costs. A verb that meets equal calls
// again keeps the answer. Borrows the trace, the sources and the filter. Const after construction; any thread may use
// it.
//
// What is asked of an argument wants a call that has it: a collective has no partner, so `--peer 3` leaves it out and
// `--peer ^3` leaves it in. A call that has several, as MPI_Sendrecv has partners, is wanted if one of them is taken
// and none is left out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/decode.h"
#include "analyze/filter.h"
#include "analyze/sources.h"
#include "trace/read/trace.h"

namespace cairn::analyze {

class WantedCalls {
 public:
  WantedCalls(const trace::Trace &trace, const Sources &sources, const Filter &filter);

  /// Some call of this function at this site of the class may be wanted.
  [[nodiscard]] bool may_want(uint32_t class_index, uint32_t function, uint32_t site) const {
    if (!by_head_) return true;
    if (!filter_.has_function(function) || !threads_[class_index]) return false;
    return sites_.empty() || (site < sites_[class_index].size() && sites_[class_index][site]);
  }
  /// `names`: of the rank's communicators, as they are at this call.
  [[nodiscard]] bool wants(uint32_t class_index, const trace::Row &row,
                           const CommunicatorNames *names = nullptr) const {
    return may_want(class_index, row.function, row.site) && (!by_values_ || wants_values(class_index, row, names));
  }
  /// `may_want` says it all.
  [[nodiscard]] bool by_head_only() const { return !by_values_; }
  /// What communicators are called matters, which may change from one call to the next.
  [[nodiscard]] bool by_communicators() const { return filter_.comms.chooses(); }

 private:
  [[nodiscard]] bool wants_values(uint32_t class_index, const trace::Row &row, const CommunicatorNames *names) const;

  const Filter &filter_;
  Decoder decoder_;
  bool by_head_;
  bool by_values_;
  std::vector<bool> threads_;             ///< by class
  std::vector<std::vector<bool>> sites_;  ///< by class and site; empty: all
};

/// Partners of a call as it names them, in its communicator or window: dest, source, target_rank, of locks the rank;
/// and who sent what was received from any source, where a status says so.
std::vector<trace::AtomValue> peers_of(const trace::Row &row);
/// Tags likewise.
std::vector<trace::AtomValue> tags_of(const trace::Row &row);
/// The communicators that a call names, and those that it creates, as they are printed.
std::vector<std::string> communicators_of(const Decoder &decoder, uint32_t class_index, const trace::Row &row,
                                          const CommunicatorNames *names = nullptr);
/// What a call site may be called: "main.c:42", "main.c", "exchange", "exchange()", "app+0x1234", "app", …; "unknown".
std::vector<std::string> site_names(const Position &position);
/// `pattern` names the thing of that name, letter by letter or by * and ?.
bool is_named(const std::string &pattern, const std::string &name);

}  // namespace cairn::analyze
