// PairedCalls: whether two calls, one of a run and one of a replay of it, are the same call; replay_diff.h says what
// that means. What names stand for grows with each pair of equal calls: an object that both make has two names from
// then on.
//
// One thread. Memory for living objects and for the regions that were met.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyze/attached_pairs.h"
#include "analyze/row_access.h"
#include "spec/spec.h"
#include "trace/model/record.h"

namespace cairn::analyze {

/// What the names of one rank mean, on both sides.
class Meanings {
 public:
  /// `attached` must outlive this; nullptr: the runs have no dynamic windows.
  explicit Meanings(AttachedPairs *attached = nullptr) : attached_(attached) {}
  /// Whether two numbers are one address in a dynamic window of some process.
  bool same_attached(uint64_t first, uint64_t second) { return attached_ != nullptr && attached_->same(first, second); }

  /// Two handles that one object has.
  struct Bound {
    HandleName name;  ///< on the second side
    bool persistent = false;
    // Of a receive from anybody: what the second side asked for.
    std::optional<int64_t> source;
    std::optional<int64_t> tag;
    bool unheard = false;  ///< a receive that the second side posted under nobody's tag (cancellations.h)
  };
  using Kind = spec::Kind;
  using Key = std::pair<Kind, HandleName>;

  void bind(Kind kind, const HandleName &first, Bound second) { bound_[{kind, first}].push_back(second); }
  Bound *find(Kind kind, const HandleName &first, const HandleName &second) {
    const auto found = bound_.find({kind, first});
    if (found == bound_.end()) return nullptr;
    for (Bound &each : found->second) {
      if (each.name == second) return &each;
    }
    return nullptr;
  }
  void give_up(Kind kind, const HandleName &first, const HandleName &second) {
    const auto found = bound_.find({kind, first});
    if (found == bound_.end()) return;
    auto &all = found->second;
    const auto place = std::find_if(all.begin(), all.end(), [&](const Bound &each) { return each.name == second; });
    if (place != all.end()) all.erase(place);
    if (all.empty()) bound_.erase(found);
  }

  /// A region: class and number of an address, and whose stack it is.
  using Region = std::tuple<trace::Atom, int64_t, uint32_t>;
  /// Whether the two places are the same; `moves`: the region is where MPI gave it this time.
  bool same_place(const Region &first, int64_t offset, const Region &second, int64_t there, bool moves) {
    const auto [entry, fresh] = regions_.try_emplace(first, second, there - offset);
    if (moves) entry->second = {second, there - offset};
    return fresh || (entry->second.first == second && entry->second.second == there - offset);
  }
  /// Whether two names are those of one port; `opened`: from now on they are. What this rank was told of a port is the
  /// name from the first call on that has it.
  bool same_port(const std::string &first, const std::string &second, bool opened) {
    const auto [entry, fresh] = ports_.try_emplace(first, second);
    if (opened) entry->second = second;
    return entry->second == second;
  }
  /// A heap segment of the first side is another one from now on.
  void forget_heap(int64_t number) {
    regions_.erase(regions_.lower_bound({trace::kHeap, number, 0}),
                   regions_.upper_bound({trace::kHeap, number, UINT32_MAX}));
  }

 private:
  AttachedPairs *attached_;
  std::map<Key, std::deque<Bound>> bound_;
  std::map<Region, std::pair<Region, int64_t>> regions_;
  std::map<std::string, std::string> ports_;  ///< names on the second side by those on the first
};

/// A call of one side.
struct SideCall {
  const trace::Row &row;
  const RowScope &scope;
};

struct Paired {
  std::vector<std::string> differ;  ///< arguments, "return"; empty: the calls are the same
  bool forced = false;              ///< the first asked for anybody, and the second did not
};

/// Two calls of one function, with all of its fields.
Paired pair_calls(const SideCall &first, const SideCall &second, Meanings *meanings);

/// Another language's handle: a number that MPI chose.
bool is_number_of_handle(spec::Kind kind);

}  // namespace cairn::analyze
