// RankCalls: the calls of one rank in their order, for what depends on it: which objects are gone, which memory pending
// operations use, and what each thread is in when the trace ends.
//
// Borrows the table of signatures and the findings. One thread. Memory for objects and requests that are there, and for
// the last calls that were looked at.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyze/message_calls.h"
#include "analyze/sizes.h"
#include "check/buffers.h"
#include "check/findings.h"
#include "check/signatures.h"
#include "check/windows.h"
#include "objects/rank_layouts.h"
#include "trace/read/events.h"

namespace cairn::check {

/// What a thread was in last.
struct LastCall {
  enum class In : uint8_t {
    nothing,   ///< it computes, or nobody knows what the call waits for
    call,      ///< that sends, receives or meets others
    probe,     ///< for a message
    requests,  ///< that others made
    finalize,
  };
  In in = In::nothing;
  analyze::CallTime call;
  bool any = false;               ///< of the requests one is enough
  std::vector<uint64_t> makers;   ///< Event::index of the calls that made, or started, them
  std::optional<int64_t> source;  ///< of a probe on MPI_COMM_WORLD; nullopt: any
  std::optional<int64_t> tag;     ///< the same
};

class RankCalls {
 public:
  /// What all ranks share.
  struct Shared {
    Signatures signatures{};
    objects::TypeLayouts layouts{};
    /// Layouts that a call wrote to, and whether they have a byte twice.
    std::map<const objects::TypeLayout *, bool> written{};
    Windows windows;
  };
  /// `one_thread`: the rank has no other. `most_known`: calls of a thread that are remembered.
  RankCalls(const trace::Trace &trace, uint32_t rank, const Kinds &kinds, bool one_thread, size_t most_known,
            Shared *shared, Findings *findings)
      : kinds_(kinds),
        one_thread_(one_thread),
        most_known_(most_known),
        shared_(*shared),
        types_(&shared->signatures),
        layouts_(&shared->layouts),
        sizes_(trace.job_of(rank).size),
        own_ranks_(trace, rank),
        findings_(*findings) {}

  /// The next call. Whether datatypes mean something else from now on.
  bool see(const trace::Event &event, const analyze::RowScope &scope);
  [[nodiscard]] const RankTypes &types() const { return types_; }
  /// By thread.
  [[nodiscard]] const std::map<uint32_t, LastCall> &last() const { return last_; }

 private:
  /// What equal calls have in common.
  struct Facts {
    bool returned = true;
    bool failed = false;
    bool says_nothing = false;  ///< of objects, memory or messages
    std::vector<Region> regions;
    bool writes_twice = false;      ///< to one byte
    uint64_t read_and_written = 0;  ///< bytes
    std::optional<WindowCall> window;
    std::unique_ptr<analyze::MessageCall> message;  ///< of one that starts, completes or releases requests
    std::optional<analyze::HandleName> request;     ///< that it makes
    std::vector<spec::Kind> unknown;                ///< objects that it is given and nobody made, or that are gone
    std::vector<int64_t> communicators;             ///< that it is given
    std::vector<int64_t> new_communicators;
    std::vector<int64_t> freed_communicators;
    std::vector<spec::Kind> frees;
    /// Datatypes of the program's own that it makes, commits, frees, or moves data by.
    struct TypeUse {
      enum class What : uint8_t { makes, commits, frees, moves } what;
      int64_t number;
      std::optional<int64_t> copied = std::nullopt;  ///< makes it like that one (MPI_Type_dup)
    };
    std::vector<TypeUse> types;
    std::vector<analyze::HandleName> perhaps_complete;  ///< requests of a call that failed
  };
  struct Known {
    uint32_t class_index = UINT32_MAX;
    uint32_t segment = UINT32_MAX;
    std::unordered_map<uint32_t, std::unique_ptr<Facts>> calls;
  };
  const Facts &facts_of(const trace::Event &event, const analyze::RowScope &scope);
  [[nodiscard]] std::unique_ptr<Facts> look_at(const trace::Row &row, const analyze::RowScope &scope) const;
  /// Whether the row makes a name mean something else.
  bool learn(const trace::Row &row, const analyze::RowScope &scope);
  [[nodiscard]] bool writes_twice(const Region &region) const;
  void handles(const Facts &facts, const analyze::CallTime &call);
  void types(const Facts &facts, const analyze::CallTime &call);
  void requests(const Facts &facts, const analyze::CallTime &call);
  void tell_overlaps(const std::vector<PendingBuffers::Overlap> &overlaps, const analyze::CallTime &call);
  void note_last(const trace::Event &event, const analyze::RowScope &scope, const Facts &facts,
                 const analyze::CallTime &call);

  const Kinds &kinds_;
  bool one_thread_;
  size_t most_known_;
  Shared &shared_;
  RankTypes types_;
  objects::RankLayouts layouts_;
  analyze::Sizes sizes_;
  OwnRanks own_ranks_;
  Findings &findings_;
  std::map<uint32_t, Known> known_;                   ///< by thread
  std::map<spec::Kind, analyze::CallTime> freed_;     ///< the last call that ended an object of the kind
  std::set<int64_t> communicators_;                   ///< that are there
  std::map<int64_t, analyze::CallTime> uncommitted_;  ///< datatypes, with the calls that made them
  PendingBuffers buffers_;
  std::map<analyze::HandleName, std::vector<Region>> persistent_;
  std::map<analyze::HandleName, uint64_t> makers_;  ///< of active requests: the call that made or started them
  std::map<uint32_t, LastCall> last_;
};

}  // namespace cairn::check
