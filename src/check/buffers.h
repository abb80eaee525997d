// PendingBuffers: memory that pending operations of one rank use, and calls that use the same. MPI lets nobody touch
// what an operation writes, nor write what one reads, until it is complete (MPI 4.1, 3.7.2).
//
// Places are as the trace names them: segments of the heap, statics, the stack, with offsets. Of a type whose elements
// have gaps between them nothing is said, and of a buffer with a part for each member only the first part is looked at.
// An MPI may give sends that are complete at once one handle, so once a send was completed those that were pending then
// are left alone. Plain values. Cost of a call: the logarithm of what is pending, and what it overlaps.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "analyze/messages.h"
#include "analyze/row_access.h"
#include "check/signatures.h"
#include "trace/model/record.h"

namespace cairn::check {

/// One buffer of a call.
struct Region {
  using Space = std::tuple<trace::Atom, int64_t, uint32_t>;  ///< class, number, whose stack
  Space space;
  int64_t begin = 0;
  int64_t end = 0;  ///< behind it
  bool writes = false;
  bool later = false;  ///< until the request is complete
};
std::vector<Region> regions_of(const trace::Row &row, const analyze::RowScope &scope, const RankTypes &types);

class PendingBuffers {
 public:
  struct Overlap {
    analyze::CallTime pending;
    bool pending_writes = false;
    bool writes = false;
    uint64_t bytes = 0;
  };
  /// What a call, which makes or starts a request if `request`, uses besides others. Each pending call once.
  std::vector<Overlap> use(const std::vector<Region> &regions, const analyze::CallTime &call,
                           const std::optional<analyze::HandleName> &request);
  void complete(const analyze::HandleName &request);

 private:
  struct Pending {
    int64_t end = 0;
    bool writes = false;
    analyze::HandleName request;
  };
  using Places = std::multimap<int64_t, Pending>;
  struct Space {
    Places pending;
    int64_t longest = 0;
  };
  struct Request {
    analyze::CallTime call;
    bool sends = true;  ///< writes nothing
    bool unsure = false;
    std::vector<Region> regions;
  };
  std::map<Region::Space, Space> spaces_;
  std::map<analyze::HandleName, Request> requests_;
  uint64_t sends_ = 0;  ///< requests that send and are sure
};

}  // namespace cairn::check
