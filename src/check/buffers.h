// PendingBuffers: memory that pending operations of one rank use, and calls that use the same. MPI lets nobody touch
// what an operation writes, nor write what one reads, until it is complete (MPI 4.1, 3.7.2).
//
// Places are as the trace names them: segments of the heap, statics, the stack, with offsets; which of the bytes there
// are an operation's its datatype says (objects/type_layout.h). Of operations among neighbours only the part for the
// first one is looked at. An MPI may give sends that are complete at once one handle, so once a send was completed
// those that were pending then are left alone. Borrows the layouts. Cost of a call: the logarithm of what is pending,
// and what lies within the bounds of what it uses.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "analyze/communicator_names.h"
#include "analyze/messages.h"
#include "analyze/row_access.h"
#include "analyze/sizes.h"
#include "objects/rank_layouts.h"
#include "trace/model/record.h"

namespace cairn::check {

/// One buffer of a call.
struct Region {
  using Space = std::tuple<trace::Atom, int64_t, uint32_t>;  ///< class, number, whose stack
  Space space;
  int64_t at = 0;
  const objects::TypeLayout *layout = nullptr;  ///< of all of it, from `at` on; not empty
  bool writes = false;
  bool later = false;  ///< until the request is complete
  /// Before its first byte, and behind its last.
  [[nodiscard]] int64_t begin() const { return at + layout->true_lower_bound; }
  [[nodiscard]] int64_t end() const { return at + layout->true_upper_bound; }
};
/// Which rank a process is in its communicators, as its calls have said so far.
class OwnRanks {
 public:
  OwnRanks(const trace::Trace &trace, uint32_t rank)
      : in_world_(rank - trace.job_of(rank).first), names_(trace, rank) {}
  /// The rank's next call. Whether a communicator is another one from now on.
  bool see(const trace::Row &row);
  /// nullopt: not known.
  [[nodiscard]] std::optional<int64_t> in(const analyze::HandleName &communicator) const;

 private:
  uint32_t in_world_;
  analyze::CommunicatorNames names_;
  std::map<int64_t, std::optional<int64_t>> by_number_;
};

/// `sizes`: of communicators, as the rank knows them.
std::vector<Region> regions_of(const trace::Row &row, const analyze::RowScope &scope,
                               const objects::RankLayouts &layouts, const analyze::Sizes &sizes, const OwnRanks &own);

class PendingBuffers {
 public:
  struct Overlap {
    analyze::CallTime pending;
    bool pending_writes = false;
    bool writes = false;
    uint64_t bytes = 0;
  };
  /// What a call, which makes or starts a request if `request`, uses besides others. Each pending call once, and
  /// kMostOverlaps at most.
  static constexpr size_t kMostOverlaps = 64;
  std::vector<Overlap> use(const std::vector<Region> &regions, const analyze::CallTime &call,
                           const std::optional<analyze::HandleName> &request);
  void complete(const analyze::HandleName &request);
  /// How many pending buffers were looked at.
  [[nodiscard]] uint64_t looks() const { return looks_; }
  /// How many bytes one of a call's buffers reads and another one writes.
  uint64_t read_and_written(const std::vector<Region> &regions);

 private:
  /// By where they begin, and by request, so that any number of one place are told apart.
  struct Begin {
    int64_t at = 0;
    analyze::HandleName request;
    bool operator<(const Begin &other) const { return at != other.at ? at < other.at : request < other.request; }
    friend bool operator<(const Begin &begin, int64_t place) { return begin.at < place; }
    friend bool operator<(int64_t place, const Begin &begin) { return place < begin.at; }
  };
  using Places = std::multimap<Begin, Region, std::less<>>;
  /// What is only read is apart: who reads it, too, need not look at it.
  struct Space {
    Places read;
    Places written;
    int64_t longest = 0;
  };
  struct Request {
    analyze::CallTime call;
    bool sends = true;  ///< writes nothing
    bool unsure = false;
    std::vector<Region> regions;
  };
  /// 0 where it is not known.
  uint64_t common(const Region &first, const Region &second);

  uint64_t looks_ = 0;
  std::map<Region::Space, Space> spaces_;
  /// Bytes that two layouts with gaps have in common, so far apart.
  std::map<std::tuple<const objects::TypeLayout *, const objects::TypeLayout *, int64_t>, uint64_t> common_;
  std::map<analyze::HandleName, Request> requests_;
  std::vector<analyze::HandleName> sends_;  ///< requests that send and were sure; some may be complete
};

}  // namespace cairn::check
