#include "analyze/bytes_moved.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "analyze/job_places.h"
#include "analyze/message_calls.h"
#include "base/first_like.h"
#include "base/in_order.h"
#include "base/saturating.h"
#include "trace/read/events.h"
#include "trace/read/partial_rows.h"

namespace cairn::analyze {
namespace {

using spec::Kind;
using trace::Asked;

/// What says how much a call moves; `all`: also what a filter asks of its arguments.
trace::AskedFields asked_of(const spec::Function &function, bool all) {
  trace::AskedFields asked;
  for (size_t i = 0; i < function.parameter_count; ++i) {
    const spec::Parameter &parameter = function.parameters[i];
    Asked how = all ? Asked::yes : Asked::no;
    switch (parameter.kind) {
      case Kind::count:
      case Kind::datatype:
      case Kind::comm:
      case Kind::partition:
      case Kind::request:
      case Kind::status:
        how = Asked::yes;
        break;
      case Kind::rank:
        if (!all) how = Asked::constant;  // MPI_PROC_NULL
        break;
      default:
        if (parameter.layout == spec::Layout::address) how = Asked::constant;  // MPI_IN_PLACE
    }
    // Of what a request is called, only a start says something.
    if (parameter.kind == Kind::request && parameter.effect == spec::Effect::create && !all) how = Asked::no;
    asked.push_back(how);
  }
  asked.push_back(all ? Asked::yes : Asked::no);  // what it returned
  return asked;
}

Moved moved_by(const Volume &volume, uint64_t count, std::span<const uint32_t> ranks, uint32_t class_index,
               const trace::Row &row) {
  Moved moved{ranks, class_index, row.function, row.site, 0, 0, false};
  if (!volume.bytes || __builtin_mul_overflow(static_cast<uint64_t>(*volume.bytes), count, &moved.bytes)) {
    moved.bytes = 0;
    moved.unsized = count;
  }
  return moved;
}

/// Which receives of one rank got less than they had room for, call by call.
class Shortfalls {
 public:
  Shortfalls(const WantedCalls &wanted, const std::vector<RowScope> &scopes, const Volumes &volumes,
             CommunicatorNames names)
      : wanted_(wanted), scopes_(scopes), volumes_(volumes), names_(std::move(names)) {}

  void see(const trace::Event &event) {
    names_.see(*event.values);
    std::vector<Known> &calls = known_[{event.thread, event.segment, event.class_index}];
    if (event.call >= calls.size()) calls.resize(size_t{event.call} + 1);
    Known &known = calls[event.call];
    if (!known.asked) {
      known.asked = true;
      known.call = message_call(*event.values, scopes_[event.class_index]);
    }
    if (known.call == nullptr) return;
    const MessageCall &call = *known.call;
    switch (call.does) {
      case MessageCall::Does::start:
        for (const HandleName &request : call.requests) {
          const auto made = persistent_.find(request);
          if (made != persistent_.end()) posted_[request] = {place_of(event), volumes_.request(request), wants(event)};
        }
        break;
      case MessageCall::Does::complete:
        for (size_t i = 0; i < call.requests.size(); ++i) complete(call.requests[i], call.outcomes[i]);
        break;
      case MessageCall::Does::release:
        for (const HandleName &request : call.requests) posted_.erase(request);
        break;
      default:
        if (call.request) post(*call.request, call, event);
    }
  }

  std::vector<Moved> take() {
    std::vector<Moved> all;
    for (const auto &[place, sums] : sums_) {
      all.push_back(place.moved(sums.off_bytes, sums.off_unsized, true));
      if (sums.came != 0) all.push_back(place.moved(sums.came, 0, false));
    }
    return all;
  }

 private:
  struct Known {
    bool asked = false;
    std::unique_ptr<const MessageCall> call;
  };
  struct Place {
    uint32_t class_index = 0;
    uint32_t function = 0;
    uint32_t site = 0;
    auto operator<=>(const Place &) const = default;
    [[nodiscard]] Moved moved(uint64_t bytes, uint64_t unsized, bool withdrawn) const {
      return {{}, class_index, function, site, bytes, unsized, withdrawn};
    }
  };
  struct Posted {
    Place place;
    std::optional<int64_t> room;
    bool wanted = false;
  };
  struct Sums {
    uint64_t off_bytes = 0;
    uint64_t off_unsized = 0;
    uint64_t came = 0;  ///< of receives whose room is not known
  };

  static Place place_of(const trace::Event &event) {
    return {event.class_index, event.values->function, event.values->site};
  }
  [[nodiscard]] bool wants(const trace::Event &event) const {
    return wanted_.wants(event.class_index, *event.values, &names_);
  }

  void post(const HandleName &request, const MessageCall &call, const trace::Event &event) {
    posted_.erase(request);
    persistent_.erase(request);
    if (!call.receive && !call.taken) return;
    if (call.persistent) {
      persistent_.insert(request);
      return;
    }
    posted_[request] = {place_of(event), volumes_.of(*event.values, scopes_[event.class_index]).bytes, wants(event)};
  }

  void complete(const HandleName &request, const MessageOutcome &outcome) {
    const auto found = posted_.find(request);
    if (found == posted_.end()) return;
    const Posted posted = found->second;
    posted_.erase(found);
    if (!posted.wanted || (!outcome.bytes && !outcome.cancelled)) return;
    const uint64_t came = outcome.cancelled ? 0 : static_cast<uint64_t>(*outcome.bytes);
    Sums &sums = sums_[posted.place];
    if (!posted.room) {
      ++sums.off_unsized;
      add_to(&sums.came, came);
    } else if (const auto room = static_cast<uint64_t>(*posted.room); came < room) {
      add_to(&sums.off_bytes, room - came);
    }
  }

  const WantedCalls &wanted_;
  const std::vector<RowScope> &scopes_;
  const Volumes &volumes_;
  CommunicatorNames names_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::vector<Known>> known_;  // thread, segment, class; then call
  std::map<HandleName, Posted> posted_;
  std::set<HandleName> persistent_;  ///< requests of receives
  std::map<Place, Sums> sums_;
};

}  // namespace

BytesMoved::BytesMoved(const trace::Trace &trace, const Filter &filter, const WantedCalls &wanted, CallsOn *on)
    : trace_(trace), filter_(filter), wanted_(wanted), on_(on) {
  for (const trace::Trace::JobPlace &job : job_places(trace)) {
    plain_.emplace_back(job.size, std::vector<SelectedCalls::Sequence>());
  }
  for (const uint32_t rank : filter.ranks) {
    if (rank >= chosen_.size()) chosen_.resize(size_t{rank} + 1);
    chosen_[rank] = true;
  }
  fell_short_.resize(chosen_.size());
  volumes_.resize(chosen_.size());
  std::vector<bool> makes(trace.class_count());
  bool asks_members = false;
  scopes_.resize(trace.class_count());
  const SelectedCalls::Wanted needs = [](const spec::Function &function) { return Volumes::needs(function); };
  for (const uint32_t index : trace.classes_of(filter.ranks)) {
    scopes_[index] = {trace.sites(index), trace.class_thread(index)};
    makes[index] = SelectedCalls::has(trace, index, needs);
    asks_members = asks_members || SelectedCalls::has(trace, index, Volumes::asks_members);
  }
  const SelectedCalls selected(trace, needs);
  std::optional<CommunicatorSizes> members;
  FirstLike<std::shared_ptr<const Volumes>> met;
  for (const uint32_t rank : filter.ranks) {
    const auto sequences = trace.sequences(rank);
    if (std::none_of(sequences.begin(), sequences.end(), [&](const auto &each) { return makes[each.class_index]; }))
      continue;
    const auto calls = selected.of(rank);
    auto of_rank = std::make_shared<Volumes>(trace.job_of(rank).size, calls);
    if (asks_members && of_rank->lacks_members()) {
      if (!members) {
        auto counted = CommunicatorSizes::of(trace);
        members = counted ? *std::move(counted) : CommunicatorSizes();  // what cannot be read stays unknown
      }
      of_rank = std::make_shared<Volumes>(trace.job_of(rank).size, calls, Volumes::Members{*members, rank});
    }
    volumes_[rank] = met.of(std::move(of_rank), std::equal_to<>());
  }
}

const Volumes &BytesMoved::volumes(uint32_t rank) const {
  return volumes_[rank] == nullptr ? plain_[trace_.job_of(rank).number] : *volumes_[rank];
}

Result<void> BytesMoved::each(const std::function<void(const Moved &)> &visit) {
  for (const uint32_t index : trace_.classes_of(filter_.ranks)) {
    if (on_ == nullptr) by_class(index, visit);
    find_shortfalls(index);
  }
  if (on_ != nullptr) {
    for (const uint32_t rank : filter_.ranks) {
      if (auto done = by_communicators(rank, visit); !done) return tl::unexpected(done.error());
    }
  }
  std::vector<uint32_t> ranks;
  for (const uint32_t rank : filter_.ranks) {
    if (fell_short_[rank]) ranks.push_back(rank);
  }
  Result<void> done;
  in_order(
      ranks.size(), [&](size_t i) { return shortfalls(ranks[i]); },
      [&](size_t i, Result<std::vector<Moved>> found) {
        if (!found) {
          done = tl::unexpected(found.error());
          return false;
        }
        for (Moved &each : *found) {
          each.ranks = {&ranks[i], 1};
          visit(each);
        }
        return true;
      });
  return done;
}

void BytesMoved::by_class(uint32_t index, const std::function<void(const Moved &)> &visit) {
  const auto all = spec::functions();
  const auto asks = [&](const trace::Structure::RowHead &head) {
    const bool counts = head.function < all.size() && Volumes::may_move(all[head.function]) &&
                        wanted_.may_want(index, head.function, head.site);
    return counts ? asked_of(all[head.function], !wanted_.by_head_only()) : trace::AskedFields();
  };
  trace::each_partial_row_alike(
      trace_, index, chosen_, asks, [&](const auto &partial, std::span<const uint32_t> ranks) {
        if (!wanted_.wants(index, *partial.row)) return;
        for (size_t i = 0, end = 0; i < ranks.size(); i = end) {
          const Volumes &here = volumes(ranks[i]);
          while (end < ranks.size() && &volumes(ranks[end]) == &here) ++end;
          const Volume volume = here.of(*partial.row, scopes_[index]);
          if (volume.moves) visit(moved_by(volume, partial.count, ranks.subspan(i, end - i), index, *partial.row));
        }
      });
}

Result<void> BytesMoved::by_communicators(uint32_t rank, const std::function<void(const Moved &)> &visit) {
  std::set<uint32_t> classes;
  for (const trace::SequenceView &sequence : trace_.sequences(rank)) {
    if (!classes.insert(sequence.class_index).second) continue;
    const auto here = on_->of(rank, sequence.class_index);
    if (!here) return tl::unexpected(here.error());
    for (const trace::CountedRow &call : (*here)->calls) {
      const Volume volume = volumes(rank).of(call.row, scopes_[sequence.class_index]);
      if (volume.moves) visit(moved_by(volume, call.count, {&rank, 1}, sequence.class_index, call.row));
    }
  }
  return {};
}

/// Whether some status of requests says how much came, and of which ranks.
void BytesMoved::find_shortfalls(uint32_t index) {
  const auto all = spec::functions();
  const auto asks = [&](const trace::Structure::RowHead &head) {
    trace::AskedFields asked;
    if (head.function >= all.size() || !completes_requests(all[head.function])) return asked;
    const spec::Parameter *status = parameter_of(all[head.function], Kind::status);
    if (status == nullptr) return asked;
    asked.resize(all[head.function].parameter_count, Asked::no);
    asked[static_cast<size_t>(status - all[head.function].parameters)] = Asked::yes;
    return asked;
  };
  trace::each_partial_row_alike(
      trace_, index, chosen_, asks, [&](const auto &partial, std::span<const uint32_t> ranks) {
        for (const MessageOutcome &each : outcomes_of(RowAccess(*partial.row, scopes_[index]), 0)) {
          if (!each.bytes && !each.cancelled) continue;
          for (const uint32_t rank : ranks) fell_short_[rank] = true;
        }
      });
}

Result<std::vector<Moved>> BytesMoved::shortfalls(uint32_t rank) const {
  Shortfalls found(wanted_, scopes_, volumes(rank), CommunicatorNames(trace_, rank));
  trace::Events events(trace_, rank);
  while (const trace::Event *event = events.next()) found.see(*event);
  if (auto done = events.end_of_calls(); !done) return tl::unexpected(done.error());
  return found.take();
}

}  // namespace cairn::analyze
