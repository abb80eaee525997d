#include "traffic/traffic.h"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyze/cancellations.h"
#include "analyze/wanted_calls.h"
#include "base/first_like.h"
#include "base/saturating.h"
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
        members_(communicators, trace),
        unnamed_(&members_, 0),
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
      cancels_.push_back(analyze::Cancellations::may_be_in(trace, index));
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
    if (!wanting_.ranks) find_alike();
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
    const std::vector<trace::SequenceView> sequences = trace_.sequences(rank);
    if (std::any_of(sequences.begin(), sequences.end(), [&](const auto &each) { return cancels_[each.class_index]; })) {
      analyze::Cancellations cancelled(trace_, rank);
      if (cancelled.has_cancelled_sends()) cancelled_.emplace(rank, std::move(cancelled));
    }
    if (wanting_.times || cancelled_.contains(rank)) return false;
    std::unique_ptr<Meanings> meanings;
    for (const trace::SequenceView &sequence : sequences) {
      const uint32_t index = sequence.class_index;
      if (!needs_[index]) continue;
      if (meanings == nullptr) meanings = std::make_unique<Meanings>(&members_, rank);
      trace::SelectedReader reader(trace_, sequence, [](const auto &head) { return Meanings::needs(head.function); });
      while (const trace::Row *row = reader.next()) {
        see(*row, index, meanings.get());
        if (!meanings->stable()) return false;
      }
    }
    if (meanings != nullptr) keep(rank, std::move(meanings));
    return true;
  }
  void keep(uint32_t rank, std::unique_ptr<Meanings> meanings) {
    known_[rank] = distinct_.of(meanings.get(), [](const auto &a, const auto &b) { return a.same_but_for_rank(b); });
    if (known_[rank] == meanings.get()) kept_.push_back(std::move(meanings));
  }
  void see(const trace::Row &row, uint32_t class_index, Meanings *meanings) {
    meanings->see(row, scopes_[class_index], class_index, asking_);
    if (Made *made = meanings->made_last()) made->wanted = by_values_.wants(class_index, row, &meanings->names());
  }

  void by_class(uint32_t index) {
    const Told told{.sums = wanting_.sums, .anybody = !wanting_.peers && !filter_.chooses_by_values()};
    std::vector<bool> again(chosen_.size());
    const auto asks = [&](const trace::Structure::RowHead &head) {
      if (!may_want(index, head.function, head.site)) return trace::AskedFields();
      return asked_of(head.function, filter_.chooses_by_values(), told);
    };
    if (wanting_.ranks) {
      trace::each_partial_row(trace_, index, chosen_, asks, [&](const trace::PartialRow &partial) {
        if (!tell_part(partial, index, 1)) again[partial.rank] = true;
      });
    } else {
      trace::each_partial_row_alike(trace_, index, chosen_, asks, [&](trace::PartialRow partial, const auto &ranks) {
        const bool sends = elements_of(partial.row->function).has_value();
        for (size_t i = 0, end = 0; i < ranks.size(); i = end) {
          end = i + 1;
          while (sends && end < ranks.size() && alike(ranks[end], ranks[i])) ++end;
          partial.rank = ranks[i];
          if (tell_part(partial, index, end - i)) continue;
          for (size_t each = i; each < end; ++each) again[ranks[each]] = true;
        }
      });
    }
    if (std::find(again.begin(), again.end(), true) == again.end()) return;
    const auto asks_all = [&](const trace::Structure::RowHead &head) {
      if (!elements_of(head.function) || !may_want(index, head.function, head.site)) return trace::AskedFields();
      return asked_of(head.function, filter_.chooses_by_values(), {});
    };
    trace::each_partial_row(trace_, index, again, asks_all, [&](const trace::PartialRow &partial) {
      const trace::Field &elements = partial.row->fields[*elements_of(partial.row->function)];
      const bool summed = told.sums && trace::number_of(elements).has_value();
      const trace::Row seen = summed ? with_elements(*partial.row, 1) : *partial.row;
      const Meanings &meanings = meanings_of(partial.rank);
      if (is_plain(wanted_traffic(seen, index, meanings).get())) return;  // it was told
      tell(*partial.row, meanings, called_of(partial, index));
    });
  }
  static Called called_of(const trace::PartialRow &partial, uint32_t index) {
    return {partial.rank, index, partial.class_row, partial.row->site, partial.count, std::nullopt, partial.sum};
  }
  static trace::Row with_elements(trace::Row row, trace::Atom elements) {
    row.fields[*elements_of(row.function)] = {false, {elements}, {}};
    return row;
  }
  /// Of so many ranks. False: all must be known of the call for that.
  bool tell_part(const trace::PartialRow &partial, uint32_t index, uint64_t ranks) {
    Called called = called_of(partial, index);
    called.count = saturating_product(called.count, ranks);
    const Meanings &meanings = meanings_of(partial.rank);
    if (!elements_of(partial.row->function)) {
      tell(*partial.row, meanings, called);
      return true;
    }
    const auto traffic = wanted_traffic(partial.sum ? with_elements(*partial.row, 1) : *partial.row, index, meanings);
    if (!is_plain(traffic.get())) return false;
    if (traffic != nullptr) tell(*traffic, called);
    return true;
  }
  /// To whom a message goes, and how long it is, is known of it as of any other from there.
  static bool is_plain(const Traffic *traffic) {
    return traffic == nullptr || (traffic->place && traffic->place->complete() && !traffic->place->is_inter() &&
                                  traffic->flows.size() == 1 && traffic->flows.front().bytes);
  }
  void find_alike() {
    FirstLike<const Meanings *> met;
    alike_.resize(chosen_.size());
    for (uint32_t rank = 0; rank < alike_.size(); ++rank) {
      const Meanings *own = known_[rank];
      if (own != nullptr) alike_[rank] = met.of(own, [](const auto &a, const auto &b) { return a.like(b); });
    }
  }
  /// Names of communicators and datatypes mean the same to both.
  [[nodiscard]] bool alike(uint32_t a, uint32_t b) const { return alike_[a] == alike_[b]; }
  /// Of a rank that is not gone through in order; until the next is asked for.
  const Meanings &meanings_of(uint32_t rank) {
    if (Meanings *known = known_[rank]) {
      known->see_from(rank);
      return *known;
    }
    // It made nothing that has a name.
    if (unnamed_.rank() != rank) unnamed_ = Meanings(&members_, rank);
    return unnamed_;
  }
  [[nodiscard]] bool may_want(uint32_t class_index, uint32_t function, uint32_t site) const {
    return by_head_.may_want(class_index, function, site);
  }

  void tell(const trace::Row &row, const Meanings &meanings, const Called &called) {
    if (role_of(row.function) == Role::start) return started(row, meanings, called, [](size_t) { return false; });
    if (const auto traffic = wanted_traffic(row, called.class_index, meanings)) tell(*traffic, called);
  }
  /// nullptr: it is not wanted, or moves nothing; a persistent one does not until it is started.
  [[nodiscard]] std::shared_ptr<const Traffic> wanted_traffic(const trace::Row &row, uint32_t class_index,
                                                              const Meanings &meanings) const {
    if (spec::functions()[row.function].persistent) return nullptr;
    if (!wanted_.wants(class_index, row, &meanings.names())) return nullptr;
    return traffic_of(row, scopes_[class_index], meanings, asking_);
  }
  void tell(const Traffic &traffic, const Called &called) {
    seen_.nowhere += traffic.nowhere * called.count;
    listener_->moved(traffic, called);
  }

  /// `cancelled`: whether the message of the request at a place was.
  template <typename Cancelled>
  void started(const trace::Row &row, const Meanings &meanings, const Called &called, const Cancelled &cancelled) {
    if (!by_head_.wants(called.class_index, row, &meanings.names())) return;
    if (!happened(row)) return;
    const analyze::RowAccess access(row, scopes_[called.class_index]);
    for (const char *name : {"request", "array_of_requests"}) {
      size_t place = 0;
      for (const analyze::HandleName &request : access.handles(name)) {
        const Made *made = meanings.request(request);
        const bool is_message = !cancelled(place++);
        if (made != nullptr && made->wanted && made->traffic != nullptr && is_message) tell(*made->traffic, called);
      }
    }
  }

  /// All calls of a rank in their order.
  Result<void> by_call(uint32_t rank) {
    Meanings meanings(&members_, rank);
    static const analyze::Cancellations nothing;
    const auto found = cancelled_.find(rank);
    const analyze::Cancellations &cancelled = found == cancelled_.end() ? nothing : found->second;
    using Key = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>;  // thread, segment, class, call
    struct Hash {
      size_t operator()(const Key &key) const {
        const auto [thread, segment, index, call] = key;
        return ((size_t{thread} * 31 + segment) * 1021 + index) * 1'000'003 + call;
      }
    };
    std::unordered_map<Key, std::shared_ptr<const Traffic>, Hash> known;
    uint64_t version = 0;
    trace::Events events(trace_, rank);
    while (const trace::Event *event = events.next()) {
      const trace::Row &row = *event->values;
      if (Meanings::needs(row.function)) see(row, event->class_index, &meanings);
      const Role role = role_of(row.function);
      if (role == Role::none || !may_want(event->class_index, row.function, row.site)) continue;
      Called called{rank, event->class_index, event->row, row.site, 1, std::nullopt, std::nullopt};
      if (event->timed) called.ns = event->duration_ns;
      if (role == Role::start) {
        started(row, meanings, called, [&](size_t place) { return cancelled.is_cancelled(event->index, place); });
        continue;
      }
      if (version != meanings.version()) known.clear();
      version = meanings.version();
      const auto [place, fresh] = known.try_emplace({event->thread, event->segment, event->class_index, event->call});
      if (fresh) place->second = wanted_traffic(row, event->class_index, meanings);
      if (place->second != nullptr && !cancelled.is_cancelled(event->index)) tell(*place->second, called);
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
  std::vector<bool> cancels_;
  std::map<uint32_t, analyze::Cancellations> cancelled_;  ///< by rank, of those that cancelled something they sent
  std::vector<bool> moves_;
  std::vector<bool> chosen_;  ///< by rank: nothing of it is expanded
  FirstLike<Meanings *> distinct_;
  std::vector<std::unique_ptr<Meanings>> kept_;
  std::vector<Meanings *> known_;        ///< by rank, of kept_; nullptr where nothing was made that has a name
  std::vector<const Meanings *> alike_;  ///< by rank: those of the first rank like it
};

}  // namespace

Result<Seen> each_traffic(const trace::Trace &trace, const analyze::Sources &sources, const analyze::Filter &filter,
                          const Wanting &wanting, Listener *listener) {
  auto communicators = analyze::Communicators::of(trace, sources);
  if (!communicators) return tl::unexpected(communicators.error());
  return Run(trace, sources, filter, wanting, *communicators, listener).run();
}

}  // namespace cairn::traffic
