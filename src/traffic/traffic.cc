#include "traffic/traffic.h"

#include <memory>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyze/wanted_calls.h"
#include "trace/read/events.h"
#include "trace/read/selected_reader.h"
#include "traffic/meanings.h"
#include "traffic/members.h"

namespace cairn::traffic {
namespace {

/// The filter as far as it asks for a call's place, thread and result, or for the values of its arguments.
analyze::Filter head_of(analyze::Filter filter) {
  filter.peers = {};
  filter.tags = {};
  filter.comms = {};
  return filter;
}
analyze::Filter values_of(const analyze::Filter &filter) {
  analyze::Filter values;
  values.peers = filter.peers;
  values.tags = filter.tags;
  values.comms = filter.comms;
  return values;
}

class Run {
 public:
  Run(const trace::Trace &trace, const analyze::Sources &sources, const analyze::Filter &filter, const Wanting &wanting,
      const analyze::Communicators &communicators, Listener *listener)
      : trace_(trace),
        filter_(filter),
        head_filter_(head_of(filter)),
        values_filter_(values_of(filter)),
        wanted_(trace, sources, filter_),
        by_head_(trace, sources, head_filter_),
        by_values_(trace, sources, values_filter_),
        wanting_(wanting),
        members_(communicators, trace.rank_count()),
        unnamed_(&members_, 0, trace.rank_count()),
        listener_(listener) {
    asking_.expanded = wanting.expanded;
    for (uint32_t index = 0; index < trace.class_count(); ++index) {
      scopes_.push_back({trace.sites(index), trace.class_view(index).thread});
      const auto rows = trace::structure_of(trace, index).rows;
      bool needs = false;
      bool moves = false;
      for (const auto &row : rows) {
        needs = needs || Meanings::needs(row.function);
        moves = moves || role_of(row.function) != Role::none;
      }
      needs_.push_back(needs);
      moves_.push_back(moves);
    }
  }

  Result<Seen> run() {
    chosen_.resize(trace_.rank_count());
    known_.resize(chosen_.size());
    std::vector<uint32_t> in_order;
    for (const uint32_t rank : filter_.ranks) {
      if (rank >= chosen_.size()) {
        chosen_.resize(size_t{rank} + 1);
        known_.resize(chosen_.size());
      }
      if (learn(rank)) {
        chosen_[rank] = true;
      } else {
        in_order.push_back(rank);
      }
    }
    for (uint32_t index = 0; index < trace_.class_count(); ++index) {
      if (moves_[index]) by_class(index);
    }
    for (const uint32_t rank : in_order) {
      ++seen_.expanded_ranks;
      if (auto done = by_call(rank); !done) return tl::unexpected(done.error());
    }
    return seen_;
  }

 private:
  /// What names mean on a rank. False: its calls must be gone through in their order.
  bool learn(uint32_t rank) {
    if (wanting_.times) return false;
    std::unique_ptr<Meanings> meanings;
    for (const trace::SequenceView &sequence : trace_.sequences(rank)) {
      const uint32_t index = sequence.class_index;
      if (!needs_[index]) continue;
      if (meanings == nullptr) meanings = std::make_unique<Meanings>(&members_, rank, trace_.rank_count());
      trace::SelectedReader reader(trace_, sequence, [](const auto &head) { return Meanings::needs(head.function); });
      while (const trace::Row *row = reader.next()) {
        see(*row, index, meanings.get());
        if (!meanings->stable()) return false;
      }
    }
    if (meanings != nullptr) known_[rank] = std::move(meanings);
    return true;
  }
  void see(const trace::Row &row, uint32_t class_index, Meanings *meanings) {
    meanings->see(row, scopes_[class_index], class_index, asking_);
    if (Made *made = meanings->made_last()) made->wanted = by_values_.wants(class_index, row, &meanings->names());
  }

  void by_class(uint32_t index) {
    const auto asks = [&](const trace::Structure::RowHead &head) {
      if (!may_want(index, head.function, head.site)) return trace::AskedFields();
      return asked_of(head.function, filter_.chooses_by_values());
    };
    trace::each_partial_row(trace_, index, chosen_, asks, [&](const trace::PartialRow &partial) {
      const Meanings *meanings = known_[partial.rank].get();
      if (meanings == nullptr) {  // it made nothing that has a name
        if (unnamed_.rank() != partial.rank) unnamed_ = Meanings(&members_, partial.rank, trace_.rank_count());
        meanings = &unnamed_;
      }
      const Called called{partial.rank, index, partial.class_row, partial.row->site, partial.count, std::nullopt};
      tell(*partial.row, *meanings, called);
    });
  }
  [[nodiscard]] bool may_want(uint32_t class_index, uint32_t function, uint32_t site) const {
    return by_head_.may_want(class_index, function, site);
  }

  void tell(const trace::Row &row, const Meanings &meanings, const Called &called) {
    if (role_of(row.function) == Role::start) return started(row, meanings, called);
    if (!wanted_.wants(called.class_index, row, &meanings.names())) return;
    if (spec::functions()[row.function].persistent) return;  // it moves nothing until it is started
    if (const auto traffic = traffic_of(row, scopes_[called.class_index], meanings, asking_)) tell(*traffic, called);
  }
  void tell(const Traffic &traffic, const Called &called) {
    seen_.nowhere += traffic.nowhere * called.count;
    listener_->moved(traffic, called);
  }

  void started(const trace::Row &row, const Meanings &meanings, const Called &called) {
    if (!by_head_.wants(called.class_index, row, &meanings.names())) return;
    if (!happened(row)) return;
    const analyze::RowAccess access(row, scopes_[called.class_index]);
    for (const char *name : {"request", "array_of_requests"}) {
      for (const analyze::HandleName &request : access.handles(name)) {
        const Made *made = meanings.request(request);
        if (made != nullptr && made->wanted && made->traffic != nullptr) tell(*made->traffic, called);
      }
    }
  }

  /// All calls of a rank in their order.
  Result<void> by_call(uint32_t rank) {
    Meanings meanings(&members_, rank, trace_.rank_count());
    using Key = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>;  // thread, segment, class, call
    struct Hash {
      size_t operator()(const Key &key) const {
        const auto [thread, segment, index, call] = key;
        return ((size_t{thread} * 31 + segment) * 1021 + index) * 1'000'003 + call;
      }
    };
    struct Known {
      bool wanted = false;
      std::shared_ptr<const Traffic> traffic;
    };
    std::unordered_map<Key, Known, Hash> known;
    uint64_t version = 0;
    trace::Events events(trace_, rank);
    while (const trace::Event *event = events.next()) {
      const trace::Row &row = *event->values;
      if (Meanings::needs(row.function)) see(row, event->class_index, &meanings);
      const Role role = role_of(row.function);
      if (role == Role::none || !may_want(event->class_index, row.function, row.site)) continue;
      Called called{rank, event->class_index, event->row, row.site, 1, std::nullopt};
      if (event->timed) called.ns = event->duration_ns;
      if (role == Role::start) {
        started(row, meanings, called);
        continue;
      }
      if (version != meanings.version()) known.clear();
      version = meanings.version();
      const auto [place, fresh] = known.try_emplace({event->thread, event->segment, event->class_index, event->call});
      if (fresh && !spec::functions()[row.function].persistent) {
        place->second.wanted = wanted_.wants(event->class_index, row, &meanings.names());
        if (place->second.wanted) {
          place->second.traffic = traffic_of(row, scopes_[event->class_index], meanings, asking_);
        }
      }
      if (place->second.traffic != nullptr) tell(*place->second.traffic, called);
    }
    return events.end_of_calls();
  }

  const trace::Trace &trace_;
  const analyze::Filter &filter_;
  analyze::Filter head_filter_;
  analyze::Filter values_filter_;
  analyze::WantedCalls wanted_;
  analyze::WantedCalls by_head_;
  analyze::WantedCalls by_values_;
  Wanting wanting_;
  Asking asking_;
  Members members_;
  Meanings unnamed_;  ///< of a rank that made nothing
  Listener *listener_;
  Seen seen_;
  std::vector<analyze::RowScope> scopes_;  ///< by class
  std::vector<bool> needs_;
  std::vector<bool> moves_;
  std::vector<bool> chosen_;                      ///< by rank: nothing of it is expanded
  std::vector<std::unique_ptr<Meanings>> known_;  ///< by rank; nullptr where nothing was made that has a name
};

}  // namespace

Result<Seen> each_traffic(const trace::Trace &trace, const analyze::Sources &sources, const analyze::Filter &filter,
                          const Wanting &wanting, Listener *listener) {
  auto communicators = analyze::Communicators::of(trace, sources);
  if (!communicators) return tl::unexpected(communicators.error());
  return Run(trace, sources, filter, wanting, *communicators, listener).run();
}

}  // namespace cairn::traffic
