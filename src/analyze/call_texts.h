// The text of each call of a rank, as `cairn dump` prints it.
//
// Borrows all that it is given. One thread. Equal calls recur, and cost their decoding once; memory for the texts that
// are kept.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "analyze/communicator_names.h"
#include "analyze/decode.h"
#include "analyze/volume.h"
#include "analyze/world_ranks.h"
#include "trace/read/events.h"

namespace cairn::analyze {

/// Tells more of a call than its arguments do by themselves.
class CallNotes {
 public:
  CallNotes() = default;
  virtual ~CallNotes() = default;
  CallNotes(const CallNotes &) = delete;
  CallNotes &operator=(const CallNotes &) = delete;
  /// Of the rank's next call, in order.
  virtual void note(const trace::Event &event, Call *call) = 0;
};

/// What stands in a line behind what single calls have: function, arguments, result, site.
class CallTexts {
 public:
  /// `moved`: for JSON, without its opening brace; else nullptr.
  /// `world`: with ranks in MPI_COMM_WORLD; else nullopt.
  /// `most`: texts that are kept; where calls do not recur, keeping more helps nothing.
  CallTexts(const Decoder &decoder, std::unique_ptr<RankVolumes> moved, std::optional<WorldRanks> world, bool stack,
            size_t most)
      : decoder_(decoder), moved_(std::move(moved)), world_(std::move(world)), stack_(stack), most_(most) {}

  /// Whether each call must be seen, in order: what a rank means may be told by those before.
  [[nodiscard]] bool sees_all() const { return world_.has_value() || notes_ != nullptr; }
  /// Adds these to each call, last.
  void add_notes(std::unique_ptr<CallNotes> notes) { notes_ = std::move(notes); }
  void see(const trace::Event &event, const CommunicatorNames &names) { translated_ = text_of(event, names); }

  /// Of a call; of the one that was seen last, if all are.
  const std::string &text(const trace::Event &event, const CommunicatorNames &names);
  /// Numbers of calls (Event::call) begin anew.
  void forget() { texts_.clear(); }

 private:
  struct Known {
    std::string text;
    uint64_t names_version = 0;  ///< that it holds for; 0: for any
  };

  Known text_of(const trace::Event &event, const CommunicatorNames &names);

  const Decoder &decoder_;
  std::unique_ptr<RankVolumes> moved_;
  std::optional<WorldRanks> world_;
  std::unique_ptr<CallNotes> notes_;
  bool stack_;
  size_t most_;
  Known translated_;  ///< the call at hand, where all are seen: equal calls may become different ones
  std::unordered_map<uint64_t, Known> texts_;
};

}  // namespace cairn::analyze
