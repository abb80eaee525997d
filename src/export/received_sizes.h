// ReceivedSizes: how many bytes the receives got whose status the program ignored: as many as their messages were sent
// with (analyze/messages.h), which no call of the receiving rank says.
//
// Found in one replay of all ranks, and kept as a grammar a rank of (calls since the last receive, bytes), built while
// it comes: memory goes with what does not repeat, up to 512 MiB for all ranks and a million pairs. Of what comes after
// that on a rank sizes are not known. Const after construction; a Reader belongs to one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "analyze/messages.h"
#include "base/result.h"
#include "grammar/grammar.h"

namespace cairn::exporting {

class ReceivedSizes {
 public:
  /// Whether some class has a receive whose status is ignored. Costs a look at the rows.
  static bool are_needed(const trace::Trace &trace);
  /// `end_ns`: sizes are wanted of calls that begin until then. `progress` is told, now and then, how many more calls
  /// of all ranks were gone through; may be empty. `replay` tells of the messages (reach.h).
  static Result<std::shared_ptr<const ReceivedSizes>> of(std::optional<uint64_t> end_ns,
                                                         const std::function<void(uint64_t calls)> &progress,
                                                         const std::function<void(analyze::Arrivals *)> &replay);

  /// Of one rank, asked call by call in their order.
  class Reader {
   public:
    Reader(const ReceivedSizes &sizes, uint32_t rank);
    /// Of the messages that this call received, in the order in which it completed them.
    const std::vector<std::optional<uint64_t>> &of(uint64_t call);

   private:
    void read();
    const ReceivedSizes &sizes_;
    std::optional<grammar::Walker> walker_;
    std::optional<std::pair<uint64_t, std::optional<uint64_t>>> next_;  ///< call and bytes
    uint64_t last_ = 0;
    std::vector<std::optional<uint64_t>> found_;
  };

 private:
  friend class SizeCollector;
  std::map<uint32_t, grammar::Grammar> by_rank_;
  std::vector<std::pair<uint64_t, std::optional<uint64_t>>> symbols_;  ///< calls since the last receive, and bytes
};

}  // namespace cairn::exporting
