// RankActions: the calls of one rank, in order, written as actions of SMPI's replay ("time-independent trace": Desprez,
// Markomanolis, Quinson and Suter 2011). docs/simgrid.md says what becomes of what.
//
// Requests are followed from the calls that made them to those that completed them. A receive from anybody is written
// when it is posted and filled in when it is complete. Borrows the trace and what ranks share. One thread. Memory for
// the distinct calls of a rank, as Events has it, and for its requests that are open.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "analyze/communicator_names.h"
#include "analyze/partitions.h"
#include "simgrid/calls.h"
#include "simgrid/counts.h"
#include "simgrid/groups.h"
#include "simgrid/neighbor_parts.h"
#include "simgrid/rank_calls.h"
#include "simgrid/rank_file.h"
#include "simgrid/rounds.h"
#include "trace/read/events.h"

namespace cairn::simgrid {

/// What all ranks share.
struct Run {
  const trace::Trace *trace;
  const Groups *groups;
  Tags *tags;
  std::vector<analyze::RowScope> scopes;  ///< by class
  double speed = 1e9;                     ///< in flops a second: what a second between calls becomes
  bool gaps = true;
};

class RankActions {
 public:
  RankActions(const Run &run, uint32_t rank, RankFile *file, Counts *counts);
  /// Fails where calls, or times that the trace has, cannot be read.
  Result<void> write();

 private:
  /// What SMPI knows a request by.
  struct Key {
    int64_t from = 0;
    int64_t to = 0;
    int32_t tag = 0;
  };
  struct Request {
    bool persistent = false;
    uint32_t pair = 0;  ///< analyze::ChannelKey
    analyze::Partitions partitions{};
    // What starting it does.
    std::optional<analyze::Envelope> send;
    std::optional<analyze::Envelope> receive;
    std::optional<View> view;
    std::optional<uint64_t> sent;
    std::optional<uint64_t> room;
    bool buffered = false;
    std::shared_ptr<const Collective> collective;
    // What is under way.
    bool active = false;
    bool cancelled = false;
    bool unknown = false;  ///< whom the receive hears
    std::vector<RankFile::Line> lines;
    std::vector<Key> waits;
  };

  void pass_time(const trace::Event &event, bool waits);
  [[nodiscard]] uint64_t lasted_ns() const;
  void act(const SimulatedCall &call);
  [[nodiscard]] int32_t tag_of(const Request &message, int64_t tag) const;
  void transfer(const SimulatedCall &call);
  void send(const Request &message, Request *into);
  void post(const Request &message, Request *into);
  void receive_now(const Request &message, const analyze::MessageOutcome &outcome);
  void start(const analyze::HandleName &name);
  void complete(const std::vector<analyze::HandleName> &names, const std::vector<analyze::MessageOutcome> &outcomes);
  /// Whom it hears as far as the outcome says it; nullopt: nobody that can be told.
  std::optional<Key> heard(const Request &message, const analyze::MessageOutcome &outcome);
  void settle(Request *request, const analyze::MessageOutcome &outcome, std::vector<Key> *waits);
  void wait(const std::vector<Key> &keys);
  void release(const analyze::HandleName &name);
  void collective(const Collective &collective);
  bool native(const Collective &collective, const View &view);
  void in_messages(const Collective &collective, const View &view, Request *into);
  void round(const std::vector<Part> &sends, const std::vector<Part> &receives, int32_t tag, Request *into);
  void leave_out(const char *why, uint64_t count = 1) { counts_.left_out[why] += count; }
  void tell(const char *how) { ++counts_.inexact[how]; }
  template <typename... Arguments>
  RankFile::Line add(fmt::format_string<Arguments...> form, Arguments &&...arguments) {
    compute();
    return file_.add(form, std::forward<Arguments>(arguments)...);
  }
  void compute();
  void finish();

  const Run &run_;
  uint32_t rank_;
  RankFile &file_;
  Counts &counts_;
  trace::Events events_;
  RankCalls calls_;
  NeighborParts neighbors_;
  std::map<analyze::HandleName, std::deque<Request>> requests_;
  std::map<analyze::HandleName, Request> found_;  ///< messages that were probed for
  /// Operations in partitions that were made, by communicator, rank there, and tag.
  using Envelopes = std::map<std::tuple<uint32_t, int64_t, int64_t>, uint32_t>;
  Envelopes partitioned_sends_;
  Envelopes partitioned_receives_;
  uint64_t under_way_ = 0;  ///< requests that SMPI has and was not told to wait for
  bool several_threads_ = false;
  bool timed_ = false;
  double mean_gap_ns_ = 0;
  uint64_t first_end_ns_ = 0;
  uint64_t last_begin_ns_ = 0;
  uint64_t last_end_ns_ = 0;
  bool begun_ = false;
  double to_compute_ns_ = 0;
};

}  // namespace cairn::simgrid
