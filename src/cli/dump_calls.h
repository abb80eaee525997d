// The calls of one rank as `cairn dump` prints them: what is wanted, in order, each with its text.
//
// Borrows all that it is given. One thread. Equal calls recur, and cost their decoding once; memory for the texts that
// are kept.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "analyze/communicator_names.h"
#include "analyze/decode.h"
#include "analyze/rank_calls.h"
#include "analyze/volume.h"
#include "analyze/world_ranks.h"
#include "trace/read/events.h"

namespace cairn::cli {

/// What stands in a line behind what single calls have: function, arguments, result, site.
class CallTexts {
 public:
  /// `moved`: for JSON, without its opening brace; else nullptr.
  /// `world`: with ranks in MPI_COMM_WORLD; else nullopt.
  /// `most`: texts that are kept; where calls do not recur, keeping more helps nothing.
  CallTexts(const analyze::Decoder &decoder, std::unique_ptr<analyze::RankVolumes> moved,
            std::optional<analyze::WorldRanks> world, bool stack, size_t most)
      : decoder_(decoder), moved_(std::move(moved)), world_(std::move(world)), stack_(stack), most_(most) {}

  /// Whether each call must be seen, in order: what a rank means may be told by those before.
  [[nodiscard]] bool sees_all() const { return world_.has_value(); }
  void see(const trace::Event &event, const analyze::CommunicatorNames &names) { translated_ = text_of(event, names); }

  /// Of a call; of the one that was seen last, if all are.
  const std::string &text(const trace::Event &event, const analyze::CommunicatorNames &names);

 private:
  struct Known {
    std::string text;
    uint64_t names_version = 0;  ///< that it holds for; 0: for any
  };

  Known text_of(const trace::Event &event, const analyze::CommunicatorNames &names);

  const analyze::Decoder &decoder_;
  std::unique_ptr<analyze::RankVolumes> moved_;
  std::optional<analyze::WorldRanks> world_;
  bool stack_;
  size_t most_;
  Known translated_;  ///< the call at hand, where ranks are translated: equal calls may become different ones
  std::unordered_map<uint64_t, Known> texts_;
};

struct DumpedRank {
  CallTexts texts;
  analyze::RankCalls calls;
  const trace::Event *next = nullptr;  ///< that `advance` found
  std::function<void(const trace::Event &)> before_each;

  /// `all`: each call is gone through, whether it is wanted or not, and shown to `before_each`.
  DumpedRank(CallTexts texts_of, const trace::Trace &trace, const analyze::Sources &sources,
             const analyze::Filter &filter, const analyze::WantedCalls &wanted, uint32_t rank, bool all);
  DumpedRank(const DumpedRank &) = delete;
  DumpedRank &operator=(const DumpedRank &) = delete;
  const trace::Event *advance() { return next = calls.next(); }

 private:
  void see(const trace::Event &event);
};

}  // namespace cairn::cli
