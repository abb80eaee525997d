#include "analyze/communicators.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "analyze/job_places.h"
#include "analyze/selected_calls.h"
#include "spec/ids.h"
#include "trace/read/events.h"

namespace cairn::analyze {
namespace {

/// A call that made a communicator.
struct Creation {
  uint32_t class_index;
  trace::Row row;
  CommunicatorNames::Numbers numbers;
};
/// `number`: that it has on the rank that made it; `row`: the call.
using EachCreation =
    std::function<void(const NewCommunicator &, int64_t number, uint32_t class_index, const trace::Row &row)>;

std::map<int64_t, size_t> times_made(const std::vector<Creation> &creations) {
  std::map<int64_t, size_t> made;
  for (const Creation &creation : creations) ++made[creation.numbers.made];
  return made;
}

/// Whether what was made over a communicator may have been made over another one of the same number.
bool has_ambiguous_parent(const std::vector<Creation> &creations) {
  auto made = times_made(creations);
  return std::any_of(creations.begin(), creations.end(), [&](const Creation &creation) {
    return creation.numbers.over && made[*creation.numbers.over] > 1;
  });
}

bool has_reused_number(const std::vector<Creation> &creations) {
  const auto made = times_made(creations);
  return std::any_of(made.begin(), made.end(), [](const auto &each) { return each.second > 1; });
}

/// Parents before what was made over them; what is over one that nobody saw made comes last.
void add_parents_first(std::vector<Creation> creations, CommunicatorNames *names, const EachCreation &each) {
  const auto waits = [&](const Creation &creation) {
    return creation.numbers.over && names->name(*creation.numbers.over) == nullptr;
  };
  while (!creations.empty()) {
    const auto ready = std::stable_partition(creations.begin(), creations.end(), waits);
    const auto from = ready == creations.end() ? creations.begin() : ready;
    for (auto at = from; at != creations.end(); ++at) {
      if (const NewCommunicator *made = names->see(at->row)) {
        each(*made, at->numbers.made, at->class_index, at->row);
      }
    }
    creations.erase(from, creations.end());
  }
}

/// What a rank made, in the order that names need.
class Creations {
 public:
  explicit Creations(const trace::Trace &trace)
      : trace_(trace),
        creators_(trace, [](const spec::Function &function) { return CommunicatorNames::makes_some(function.id); }) {}

  /// `last`: the names shall be those of the end; else of communicators that others may have the number of, any.
  Result<void> see(uint32_t rank, bool last, CommunicatorNames *names, const EachCreation &each) const {
    std::vector<Creation> creations;
    for (const SelectedCalls::Sequence &sequence : creators_.of(rank)) {
      for (const trace::CountedRow &call : sequence.calls) {
        if (const auto numbers = CommunicatorNames::numbers(call.row)) {
          creations.push_back({sequence.class_index, call.row, *numbers});
        }
      }
    }
    if (last ? !has_reused_number(creations) : !has_ambiguous_parent(creations)) {
      add_parents_first(std::move(creations), names, each);
      return {};
    }
    trace::Events events(trace_, rank);
    while (const trace::Event *event = events.next()) {
      if (const NewCommunicator *made = names->see(*event->values)) {
        const auto numbers = CommunicatorNames::numbers(*event->values);
        each(*made, numbers ? numbers->made : -1, event->class_index, *event->values);
      }
    }
    return events.end_of_calls();
  }

 private:
  const trace::Trace &trace_;
  SelectedCalls creators_;
};

/// "comm(9@4)" before "comm(10@0)".
struct ByNumbers {
  bool operator()(const std::string &a, const std::string &b) const {
    const auto is_digit = [](char letter) { return letter >= '0' && letter <= '9'; };
    size_t i = 0;
    size_t j = 0;
    while (i < a.size() && j < b.size()) {
      if (is_digit(a[i]) && is_digit(b[j])) {
        size_t end_i = i;
        size_t end_j = j;
        while (end_i < a.size() && is_digit(a[end_i])) ++end_i;
        while (end_j < b.size() && is_digit(b[end_j])) ++end_j;
        if (end_i - i != end_j - j) return end_i - i < end_j - j;
        if (const int order = a.compare(i, end_i - i, b, j, end_j - j); order != 0) return order < 0;
        i = end_i;
        j = end_j;
      } else {
        if (a[i] != b[j]) return a[i] < b[j];
        ++i;
        ++j;
      }
    }
    return a.size() - i < b.size() - j;
  }
};

/// Calls of that function make an intercommunicator with processes that are not of the trace.
bool reaches_another_world(uint32_t function) {
  const auto all = spec::functions();
  return function < all.size() && all[function].members == spec::Members::beyond_world &&
         function != spec::function_id::Comm_create_from_group;
}

using ByName = std::map<std::string, Communicator, ByNumbers>;

/// What it was made over; nullptr: that was made before, or by nobody.
const Communicator *parent_of(const Communicator &communicator, const ByName &all) {
  const auto parent = all.find(communicator.parent);
  return parent == all.end() || &parent->second == &communicator ? nullptr : &parent->second;
}

/// One whose other group is of another world: made as such, or over such a one.
bool is_foreign(const Communicator &communicator, const ByName &all) {
  if (communicator.joint) return false;
  for (const Communicator *at = &communicator; at != nullptr; at = parent_of(*at, all)) {
    if (reaches_another_world(at->function)) return true;
    if (at->function == spec::function_id::Intercomm_merge) return false;
  }
  return false;
}

/// Processes of another world may be members: it, or what it was made over, was put together of two worlds' groups.
bool has_strangers(const Communicator &communicator, const ByName &all) {
  if (communicator.joint) return false;
  for (const Communicator *at = &communicator; at != nullptr;) {
    const Communicator *parent = parent_of(*at, all);
    if (at->function == spec::function_id::Intercomm_merge && parent != nullptr && is_foreign(*parent, all))
      return true;
    at = parent;
  }
  return false;
}

struct Gathered {
  std::vector<Communicator> worlds;  ///< by job
  ByName others;
  std::map<std::string, std::shared_ptr<DistGraph>, std::less<>> graphs;
};

/// A job's processes are all on their side of the communicator with that which spawned them, also those that never
/// asked for it.
void add_spawned(const trace::Trace &trace, ByName *all) {
  const std::vector<trace::Job> &jobs = trace.run().jobs;
  for (const trace::Job &job : jobs) {
    const auto found = all->find(job.parent);
    if (!job.spawned_by || found == all->end()) continue;
    const uint32_t size = trace.job_of(job.first).size;
    for (uint32_t rank = 0; rank < size; ++rank) found->second.groups[1].push_back({rank, job.first + rank});
  }
}

/// Of a communicator, not yet whole, when a rank that made it is gone through.
using EachMaker = std::function<void(uint32_t rank, int64_t number, const Communicator &)>;

/// `sources`: nullptr where nobody asks where they were made.
Result<Gathered> gather(const trace::Trace &trace, const Sources *sources, const EachMaker &each) {
  const Creations creations(trace);
  const RowScope no_handles;  // of neighbours only numbers are looked at
  Gathered gathered;
  auto &found = gathered.others;
  std::set<std::string>
      reaching;  ///< intercommunicators whose other side may be processes that the makers' calls do not name
  const std::vector<trace::Trace::JobPlace> jobs = job_places(trace);
  gathered.worlds.resize(jobs.size());
  for (const uint32_t rank : trace.ranks()) {
    const trace::Trace::JobPlace job = trace.job_of(rank);
    gathered.worlds[job.number].groups[0].push_back({int64_t{rank} - job.first, rank});
    CommunicatorNames names(trace, rank);
    const auto add = [&](const NewCommunicator &made, int64_t number, uint32_t class_index, const trace::Row &row) {
      const auto [place, fresh] = found.try_emplace(made.name);
      Communicator &communicator = place->second;
      if (fresh) {
        communicator.name = made.name;
        communicator.parent = made.parent;
        communicator.function = made.function;
        communicator.made = true;
        if (sources != nullptr) communicator.position = sources->position(class_index, row.site);
      }
      communicator.joint = made.joint;
      if ((made.joint || made.has_strangers) && made.inter) reaching.insert(made.name);
      communicator.complete = communicator.complete && made.rank.has_value() && !made.has_strangers;
      communicator.groups[made.second ? 1 : 0].push_back({made.rank.value_or(0), rank});
      if (made.function == spec::function_id::Dist_graph_create) {
        std::shared_ptr<DistGraph> &graph = gathered.graphs[made.name];
        if (graph == nullptr) graph = std::make_shared<DistGraph>();
        graph->add(rank, RowAccess(row, no_handles));
      }
      if (each) each(rank, number, communicator);
    };
    if (auto done = creations.see(rank, false, &names, add); !done) return tl::unexpected(done.error());
  }
  bool all_there = true;
  for (const trace::Trace::JobPlace &job : jobs) {
    Communicator &world = gathered.worlds[job.number];
    world.name = CommunicatorNames::world_of(job.number);
    world.complete = world.groups[0].size() == job.size;
    all_there = all_there && world.complete;
  }
  add_spawned(trace, &found);
  for (auto &[name, communicator] : found) {
    auto &[first, second] = communicator.groups;
    const bool one_side = first.empty() || second.empty();
    communicator.foreign = one_side && (reaching.contains(name) || is_foreign(communicator, found));
    if (first.empty()) first.swap(second);  // on the side that asked to be connected
    // Else its last may be missing, or others that are of no rank here.
    communicator.complete = communicator.complete && all_there && !has_strangers(communicator, found);
    for (std::vector<Communicator::Member> &group : communicator.groups) {
      std::sort(group.begin(), group.end());
      group.erase(std::unique(group.begin(), group.end()), group.end());  // a call that was recorded twice over
      for (size_t i = 0; i < group.size(); ++i) {
        communicator.complete = communicator.complete && group[i].rank == static_cast<int64_t>(i);
      }
    }
  }
  for (auto &[name, graph] : gathered.graphs) {
    const Communicator &communicator = found.at(name);
    // Where somebody is missing nobody has as many.
    graph->finish(communicator.complete ? communicator.groups[0].size() : SIZE_MAX);
  }
  return gathered;
}

}  // namespace

struct LastNames::State {
  explicit State(const trace::Trace &of) : trace(of), creations(of) {}
  const trace::Trace &trace;
  Creations creations;
};

LastNames::LastNames(const trace::Trace &trace) : state_(std::make_unique<State>(trace)) {}
LastNames::~LastNames() = default;

CommunicatorNames LastNames::of(uint32_t rank) const {
  CommunicatorNames names(state_->trace, rank);
  // What cannot be read to its end gives the names until there.
  (void)state_->creations.see(rank, true, &names,
                              [](const NewCommunicator &, int64_t, uint32_t, const trace::Row &) {});
  return names;
}

Result<Communicators> Communicators::of(const trace::Trace &trace, const Sources &sources) {
  auto gathered = gather(trace, &sources, nullptr);
  if (!gathered) return tl::unexpected(gathered.error());
  Communicators result;
  result.worlds_ = static_cast<uint32_t>(gathered->worlds.size());
  result.all_ = std::move(gathered->worlds);
  for (auto &[name, communicator] : gathered->others) result.all_.push_back(std::move(communicator));
  result.graphs_.insert(gathered->graphs.begin(), gathered->graphs.end());
  for (size_t i = 0; i < result.all_.size(); ++i) result.by_name_.emplace(result.all_[i].name, i);
  return result;
}

Result<CommunicatorSizes> CommunicatorSizes::of(const trace::Trace &trace) {
  std::map<std::pair<uint32_t, int64_t>, std::vector<const Communicator *>> meant;
  const auto gathered = gather(trace, nullptr, [&](uint32_t rank, int64_t number, const Communicator &communicator) {
    meant[{rank, number}].push_back(&communicator);
  });
  if (!gathered) return tl::unexpected(gathered.error());
  CommunicatorSizes result;
  for (const auto &[of, all] : meant) {
    const size_t members = all.front()->groups[0].size();
    const bool known = std::all_of(all.begin(), all.end(), [&](const Communicator *each) {
      return each->complete && !each->foreign && each->groups[1].empty() && each->groups[0].size() == members;
    });
    if (known) result.sizes_.emplace(of, members);
  }
  return result;
}

std::optional<int64_t> CommunicatorSizes::of(uint32_t rank, int64_t number) const {
  const auto found = sizes_.find({rank, number});
  return found == sizes_.end() ? std::nullopt : std::optional(static_cast<int64_t>(found->second));
}

const Communicator *Communicators::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &all_[found->second];
}

std::optional<uint32_t> world_rank(const Communicator &communicator, int64_t rank, uint32_t asking, Side side) {
  const auto has = [](const std::vector<Communicator::Member> &group, uint32_t in_world) {
    return std::any_of(group.begin(), group.end(), [&](const auto &member) { return member.in_world == in_world; });
  };
  if (communicator.foreign && side == Side::other) return std::nullopt;
  size_t group = 0;
  if (!communicator.groups[1].empty()) {
    group = has(communicator.groups[1], asking) ? 1 : 0;
    if (side == Side::other) group = 1 - group;
  }
  const auto &members = communicator.groups[group];
  const auto first = std::lower_bound(members.begin(), members.end(), Communicator::Member{rank, 0});
  if (first == members.end() || first->rank != rank) return std::nullopt;
  if (first + 1 != members.end() && (first + 1)->rank == rank) return std::nullopt;
  return first->in_world;
}

std::string members_text(const std::vector<Communicator::Member> &members) {
  constexpr size_t kWorthARange = 3;
  std::string text;
  for (size_t i = 0; i < members.size();) {
    const auto at = [&](size_t k) { return int64_t{members[k].in_world}; };
    size_t last = i;
    const int64_t step = i + 1 < members.size() ? at(i + 1) - at(i) : 0;
    while (last + 1 < members.size() && at(last + 1) - at(last) == step) ++last;
    if (!text.empty()) text += ',';
    if (last - i + 1 >= kWorthARange || (step == 1 && last != i)) {
      text += fmt::format("{}-{}", at(i), at(last));
      if (step != 1) text += fmt::format(":{}", step);
      i = last + 1;
    } else {
      text += fmt::format("{}", at(i));
      ++i;
    }
  }
  return text;
}

}  // namespace cairn::analyze
