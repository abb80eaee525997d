#include "analyze/call_diff.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyze/fewest_edits.h"
#include "analyze/thread_calls.h"
#include "trace/values/atom_reader.h"

namespace cairn::analyze {
namespace {

using trace::Row;

/// Which places of the first run are which of the second.
class Places {
 public:
  Places(const trace::Trace &first, const trace::Trace &second) {
    std::map<std::string, Bytes> builds;
    for (const trace::Module &module : first.modules()) builds[base_name(module.path)] = module.build_id;
    for (const trace::Module &module : second.modules()) {
      const auto found = builds.find(base_name(module.path));
      rebuilt_ = rebuilt_ || found == builds.end() || found->second != module.build_id;
    }
  }
  [[nodiscard]] bool rebuilt() const { return rebuilt_; }
  bool same(const std::string &first, const std::string &second) {
    if (!may_be_same(first, second)) return false;
    if (rebuilt_ && second_.try_emplace(line_of(first), line_of(second)).second) paired_.insert(line_of(second));
    return true;
  }
  /// What `same` would answer now.
  [[nodiscard]] bool may_be_same(const std::string &first, const std::string &second) const {
    if (!rebuilt_) return first == second;
    const auto there = second_.find(line_of(first));
    return there != second_.end() ? there->second == line_of(second) : paired_.count(line_of(second)) == 0;
  }
  /// Handles have the names of places.
  bool same(const Value &first, const Value &second) {
    if (first == second && !rebuilt_) return true;
    if (first.kind != second.kind || first.items.size() != second.items.size() || first.keys != second.keys)
      return false;
    for (size_t i = 0; i < first.items.size(); ++i) {
      if (!same(first.items[i], second.items[i])) return false;
    }
    if (first.kind != Value::Kind::symbol) {
      return first.number == second.number && first.real == second.real && first.text == second.text;
    }
    const Named one(first.text);
    const Named other(second.text);
    if (one.place.empty() || other.place.empty()) return without_raw(first.text) == without_raw(second.text);
    return one.kind == other.kind && one.number == other.number && same(one.place, other.place);
  }

 private:
  /// "req(main.c:42 #0)" in its parts; no place if it is none of these.
  struct Named {
    std::string kind;
    std::string place;
    std::string number;
    explicit Named(const std::string &text) {
      const size_t open = text.find('(');
      const size_t end = text.rfind(" #");
      if (open == std::string::npos || end == std::string::npos || end < open) return;
      kind = text.substr(0, open);
      place = text.substr(open + 1, end - open - 1);
      number = text.substr(end);
    }
  };
  /// Of "main.c:42/2", the second place of a line: another compiler may unroll another loop.
  static std::string line_of(const std::string &place) {
    const size_t slash = place.rfind('/');
    const bool several = slash != std::string::npos && slash + 1 < place.size() &&
                         place.find_first_not_of("0123456789", slash + 1) == std::string::npos;
    return several ? place.substr(0, slash) : place;
  }
  /// Of "heap#0+16 at 0x5581c0de0010" the place: where it lies differs in every run.
  static std::string_view without_raw(std::string_view text) { return text.substr(0, text.find(" at 0x")); }
  static std::string base_name(const std::string &path) { return path.substr(path.rfind('/') + 1); }

  bool rebuilt_ = false;
  std::map<std::string, std::string> second_;  ///< by that of the first
  std::set<std::string> paired_;               ///< of the second
};

bool is_static(const trace::Field &field) {
  trace::AtomReader atoms(field.atoms);
  return atoms.next().is(trace::kStatic);
}

/// What two calls that follow the same ones differ in.
struct Verdict {
  std::optional<CallDifference::Kind> kind;
  std::vector<std::string> names;
};

Verdict verdict_of(const ThreadCall &first, const ThreadCall &second, Places *places) {
  const Row &a = first.row();
  const Row &b = second.row();
  if (a.function != b.function || a.depth != b.depth || !places->same(first.place(), second.place())) {
    return {CallDifference::Kind::order, {}};
  }
  const Call one = first.call();
  const Call other = second.call();
  struct Sides {
    const spec::Parameter *parameter = nullptr;
    Value first;
    Value second;
  };
  std::map<std::string, Sides> values;
  for (const Argument &argument : one.arguments) values[argument.name] = {argument.parameter, argument.value, {}};
  for (const Argument &argument : other.arguments) {
    Sides &sides = values[argument.name];
    sides.parameter = argument.parameter;
    sides.second = argument.value;
  }
  values["return"] = {nullptr, one.result, other.result};
  Verdict verdict;
  const spec::Function *function = one.function;
  const auto field_of = [function](const Row &row, const spec::Parameter *parameter) -> const trace::Field * {
    if (function == nullptr || parameter == nullptr) return nullptr;
    const auto place = static_cast<size_t>(parameter - function->parameters);
    return place < row.fields.size() ? &row.fields[place] : nullptr;
  };
  for (const auto &[name, sides] : values) {
    const auto &[parameter, was, is] = sides;
    if (places->same(was, is)) continue;
    const trace::Field *left = field_of(a, parameter);
    const trace::Field *right = field_of(b, parameter);
    if (left != nullptr && right != nullptr && is_static(*left) && is_static(*right) && places->rebuilt()) continue;
    const bool updated =
        was.kind == Value::Kind::change && is.kind == Value::Kind::change && places->same(was.items[0], is.items[0]);
    const bool result = parameter == nullptr || parameter->direction == spec::Direction::out || updated;
    const auto kind = result ? CallDifference::Kind::results : CallDifference::Kind::arguments;
    if (!verdict.kind || kind < *verdict.kind) {
      verdict.kind = kind;
      verdict.names.clear();
    }
    if (kind == *verdict.kind) verdict.names.push_back(name);
  }
  return verdict;
}

/// The calls of a thread, some of them read ahead.
class CallsAhead {
 public:
  CallsAhead(const Run &run, uint32_t rank, uint32_t thread) : calls_(run, rank, thread) {}
  /// The one so many behind the next; nullptr: there is none.
  const ThreadCall *at(size_t place) {
    while (!ended_ && ahead_.size() <= place) {
      ended_ = !calls_.next();
      if (!ended_) ahead_.push_back(calls_.kept());
    }
    return place < ahead_.size() ? &ahead_[place] : nullptr;
  }
  void drop(size_t count) {
    ahead_.erase(ahead_.begin(), ahead_.begin() + static_cast<ptrdiff_t>(count));
    dropped_ += count;
  }
  [[nodiscard]] uint64_t dropped() const { return dropped_; }

 private:
  ThreadCalls calls_;
  std::deque<ThreadCall> ahead_;
  uint64_t dropped_ = 0;
  bool ended_ = false;
};

class Comparison {
 public:
  Comparison(const trace::Trace &first, const trace::Trace &second, bool results)
      : first_(first), second_(second), places_(first, second), results_(results) {}

  CallDiff of(const std::vector<uint32_t> &wanted) {
    const std::vector<uint32_t> before = first_.trace.ranks();
    const std::vector<uint32_t> after = second_.trace.ranks();
    std::vector<uint32_t> both;
    const auto is_wanted = [&](uint32_t rank) {
      return wanted.empty() || std::binary_search(wanted.begin(), wanted.end(), rank);
    };
    std::set_intersection(before.begin(), before.end(), after.begin(), after.end(), std::back_inserter(both));
    std::set_difference(before.begin(), before.end(), after.begin(), after.end(), std::back_inserter(diff_.only_first));
    std::set_difference(after.begin(), after.end(), before.begin(), before.end(),
                        std::back_inserter(diff_.only_second));
    std::erase_if(diff_.only_first, [&](uint32_t rank) { return !is_wanted(rank); });
    std::erase_if(diff_.only_second, [&](uint32_t rank) { return !is_wanted(rank); });
    for (const uint32_t rank : both) {
      if (!is_wanted(rank)) continue;
      ++diff_.ranks;
      std::set<uint32_t> threads;
      for (const Run *run : {&first_, &second_}) {
        for (const trace::SequenceView &sequence : run->trace.sequences(rank)) threads.insert(sequence.thread);
      }
      bool differs = false;
      for (const uint32_t thread : threads) differs = compare(rank, thread) || differs;
      diff_.other_order += differs ? 1 : 0;
    }
    for (auto &[key, difference] : found_) {
      if (results_ || difference.kind != Kind::results) diff_.differences.push_back(std::move(difference));
    }
    std::stable_sort(diff_.differences.begin(), diff_.differences.end(), [](const auto &a, const auto &b) {
      return std::tuple(a.kind, b.calls, a.ranks.front(), a.thread) <
             std::tuple(b.kind, a.calls, b.ranks.front(), b.thread);
    });
    return std::move(diff_);
  }

 private:
  using Kind = CallDifference::Kind;
  /// Kind, index of calls in other order, and both functions, places and names.
  using Key = std::tuple<Kind, uint64_t, int64_t, int64_t, std::string, std::string, std::vector<std::string>>;
  /// What is known of a pair of calls.
  struct Known {
    std::optional<Kind> kind;
    std::vector<std::string> names;
    CallDifference *difference = nullptr;
  };

  /// The threads at hand.
  struct Pair {
    uint32_t rank = 0;
    uint32_t thread = 0;
    CallsAhead first;
    CallsAhead second;
    std::unordered_map<uint64_t, Known> known{};  ///< of calls of these sequences
    std::pair<size_t, size_t> sequences{};
    uint64_t parts_left = kMostParts;
  };

  /// False if the order is the same.
  bool compare(uint32_t rank, uint32_t thread) {
    Pair pair{rank, thread, CallsAhead(first_, rank, thread), CallsAhead(second_, rank, thread)};
    for (bool differs = false;;) {
      const ThreadCall *a = pair.first.at(0);
      const ThreadCall *b = pair.second.at(0);
      if (a == nullptr && b == nullptr) return differs;
      Known ended{Kind::order, {}, nullptr};
      Known *both = &ended;
      if (a != nullptr && b != nullptr) {
        both = known_of(&pair);
        if (both->kind == Kind::order && go_around(&pair)) {
          differs = true;
          continue;
        }
      }
      if (tell(&pair, both)) return true;
    }
  }

  Known *known_of(Pair *pair) {
    const ThreadCall &a = *pair->first.at(0);
    const ThreadCall &b = *pair->second.at(0);
    const std::pair now(a.sequence, b.sequence);
    if (std::exchange(pair->sequences, now) != now) pair->known.clear();
    const auto [entry, fresh] = pair->known.try_emplace(uint64_t{a.number} << 32 | b.number);
    if (fresh) {
      Verdict verdict = verdict_of(a, b, &places_);
      entry->second = {verdict.kind, std::move(verdict.names), nullptr};
    }
    return &entry->second;
  }

  /// Counts the calls at hand, of which there is one at least. True: the comparison ends there.
  bool tell(Pair *pair, Known *both) {
    const ThreadCall *a = pair->first.at(0);
    const ThreadCall *b = pair->second.at(0);
    if (a != nullptr && b != nullptr) ++diff_.calls;
    if (both->kind) {
      if (both->difference == nullptr) {
        CallDifference made;
        made.kind = *both->kind;
        made.names = both->names;
        both->difference =
            find(pair->thread, std::move(made), a, b, a != nullptr ? pair->first.dropped() : pair->second.dropped());
      }
      add(pair->rank, both->difference);
      if (*both->kind == Kind::order) return true;
      ++(*both->kind == Kind::results ? diff_.other_results : diff_.other_arguments);
    }
    pair->first.drop(1);
    pair->second.drop(1);
    return false;
  }

  CallDifference *find(uint32_t thread, CallDifference made, const ThreadCall *first, const ThreadCall *second,
                       uint64_t index) {
    made.thread = thread;
    made.index = index;
    if (first != nullptr) made.first = first->call();
    if (second != nullptr) made.second = second->call();
    return &found_.try_emplace(key_of(made), std::move(made)).first->second;
  }
  static void add(uint32_t rank, CallDifference *difference) {
    ++difference->calls;
    if (difference->ranks.empty() || difference->ranks.back() != rank) difference->ranks.push_back(rank);
  }

  void leave_out(Pair *pair, bool of_first) {
    CallsAhead &calls = of_first ? pair->first : pair->second;
    CallDifference alone;
    alone.goes_on = true;
    const ThreadCall *call = calls.at(0);
    add(pair->rank,
        find(pair->thread, std::move(alone), of_first ? call : nullptr, of_first ? nullptr : call, calls.dropped()));
    ++(of_first ? diff_.gone : diff_.added);
    calls.drop(1);
  }

  /// From two calls that are not alike goes on to where both runs are again, by the fewest calls of one run alone, as
  /// the next ones of each tell. What is found for the last quarter of these waits for what follows. False: the runs
  /// have too little in common there.
  bool go_around(Pair *pair) {
    constexpr size_t kWindow = 256;
    const auto part_of = [](CallsAhead *calls) {
      EditedPart part;
      while (part.items < kWindow && calls->at(part.items) != nullptr) ++part.items;
      part.is_all = part.items < kWindow;
      return part;
    };
    if (pair->parts_left == 0) return false;
    --pair->parts_left;
    const EditedPart first = part_of(&pair->first);
    const EditedPart second = part_of(&pair->second);
    const std::vector<Edit> edits = fewest_edits(
        first, second, [&](size_t i, size_t j) { return are_alike(*pair->first.at(i), *pair->second.at(j)); });
    constexpr size_t kLeastPart = 4;
    const auto alike = static_cast<size_t>(std::count(edits.begin(), edits.end(), Edit::both));
    if (alike * kLeastPart < std::min(first.items, second.items)) return false;
    const size_t sure = first.is_all && second.is_all ? edits.size() : edits.size() * 3 / 4;
    for (size_t i = 0; i < sure; ++i) {
      if (edits[i] != Edit::both) {
        leave_out(pair, edits[i] == Edit::first);
        continue;
      }
      Known *both = known_of(pair);
      if (both->kind == Kind::order) return i != 0;  // another place after all: what follows is looked at anew
      tell(pair, both);
    }
    return true;
  }
  bool are_alike(const ThreadCall &first, const ThreadCall &second) {
    const Row &a = first.row();
    const Row &b = second.row();
    return a.function == b.function && a.depth == b.depth &&
           places_.may_be_same(place_of(first, &first_places_), place_of(second, &second_places_));
  }
  using PlaceTexts = std::unordered_map<uint64_t, std::string>;  ///< by class and site
  static const std::string &place_of(const ThreadCall &call, PlaceTexts *known) {
    const auto [entry, fresh] =
        known->try_emplace(uint64_t{call.view.class_index} << 32 | static_cast<uint32_t>(call.row().site));
    if (fresh) entry->second = call.place();
    return entry->second;
  }

  static Key key_of(const CallDifference &difference) {
    const auto function = [](const std::optional<Call> &call) {
      return call ? static_cast<int64_t>(call->function_id) : -1;
    };
    const auto place = [](const std::optional<Call> &call) { return call ? call->position.text() : std::string(); };
    return {difference.kind,
            difference.kind != Kind::order ? 0
            : difference.goes_on           ? UINT64_MAX
                                           : difference.index,
            function(difference.first),
            function(difference.second),
            place(difference.first),
            place(difference.second),
            difference.names};
  }

  Run first_;
  Run second_;
  Places places_;
  bool results_;
  CallDiff diff_;
  std::map<Key, CallDifference> found_;
  /// Of a thread, in which it is looked for the fewest calls to leave out: a millisecond each at most, or so.
  static constexpr uint64_t kMostParts = 10000;
  PlaceTexts first_places_;
  PlaceTexts second_places_;
};

}  // namespace

CallDiff call_diff(const trace::Trace &first, const trace::Trace &second, const std::vector<uint32_t> &ranks,
                   bool results) {
  return Comparison(first, second, results).of(ranks);
}

}  // namespace cairn::analyze
