// Buffering: sends that end only since MPI keeps their messages until somebody receives them. MPI need not (MPI 4.1,
// 3.5): with longer messages, another library or another network the run hangs.
//
// Found by making the run again as if nothing was buffered: a blocking send, or MPI_Wait of a nonblocking one, goes on
// once the receive that got the message is posted; a receive once its message is being sent; a collective call, as MPI
// allows, once all members have come. Where nobody can go on, ranks wait for each other in a cycle; one of its sends is
// told, with who waits for whom, and taken to be buffered, and it goes on. The messages are those of the run: with
// receives from anybody, or a choice among requests, another run may do something else, so what they have a part in is
// not sure, nor is a cycle through an operation with a root, which most libraries do not wait in. What tests
// (MPI_Test, MPI_Iprobe) waits for nobody. Of ranks with several threads nothing is said.
//
// One thread. Memory: 24 bytes for each time that a call waits, at most kMost; of what comes later nothing is said.
// Cost: those times, times the logarithm of how many wait for one rank.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "analyze/messages.h"
#include "check/findings.h"
#include "spec/ids.h"

namespace cairn::check {

class Buffering {
 public:
  static constexpr size_t kMost = size_t{1} << 23;
  /// `judged`: whether the order of a rank's calls is known and none is missing.
  explicit Buffering(std::function<bool(uint32_t)> judged) : judged_(std::move(judged)) {}

  /// A call of a rank, ahead of what comes of it.
  void called(uint32_t rank, uint32_t function) {
    if (function == spec::function_id::Bsend_init || function == spec::function_id::Bsend_init_c) starts_.insert(rank);
  }
  void message(const analyze::Edge &edge);
  void delivered(const analyze::Delivery &delivery);
  /// All have come. `members`: by rank in the communicator, their ranks in MPI_COMM_WORLD.
  void meeting(const analyze::Meeting &meeting, const std::vector<uint32_t> &members);

  /// Once all is told. False: there were more than kMost.
  bool find(Findings *findings);

 private:
  enum class What : uint8_t { send, other_send, receive, meeting };
  /// A call goes on when `rank` has come to `until`, or, of a meeting, when all have come to it.
  struct Wait {
    uint64_t call = 0;
    uint64_t until = 0;  ///< of a meeting its number
    uint32_t rank = 0;
    uint32_t place : 29 = 0;  ///< among places_
    bool sure : 1 = true;
    What what : 2 = What::send;
  };
  struct Gathering {
    std::vector<uint32_t> members;
    std::vector<uint32_t> here;
  };
  struct Rank {
    std::vector<Wait> waits;
    size_t next = 0;
    uint64_t at = 0;       ///< the call that it has come to
    bool waiting = false;  ///< who it waits for knows: it is in the meeting that is next, or among the followers
    std::multimap<uint64_t, uint32_t> followers;  ///< who waits until it has come to a call
  };

  void add(const analyze::CallTime &call, What what, uint32_t rank, uint64_t until, bool sure);
  void go_on(uint32_t rank);
  void come_to(uint32_t rank, uint64_t call);
  bool is_over(uint32_t rank, const Wait &wait);
  [[nodiscard]] uint32_t awaited(const Wait &wait) const;
  void tell(const std::vector<uint32_t> &cycle, size_t send, Findings *findings) const;
  [[nodiscard]] analyze::CallTime call_of(uint32_t rank) const;
  bool let_go(uint32_t start, Findings *findings);

  std::function<bool(uint32_t)> judged_;
  std::map<uint32_t, Rank> ranks_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> numbers_;  ///< of places
  std::vector<std::tuple<uint32_t, uint32_t, uint32_t>> places_;          ///< class, function, site
  std::vector<Gathering> meetings_;
  std::set<uint32_t> starts_;    ///< ranks on which what MPI_Start sends may come from a buffer of the program's
  std::vector<uint32_t> ready_;  ///< ranks that may go on
  size_t count_ = 0;
  bool full_ = false;
};

}  // namespace cairn::check
