// Changes a decoded trace one value after another and expects `verify` to find each change: the test of the oracle.
// usage: cairn-oracle-mutations TRACE DIRECTORY
//
// One representative of each (function, parameter, place in the value) that occurs is changed in several ways. What
// stands for itself (integers, flags, outcomes, strings) must be found every time. A name that is changed
// consistently wherever it stands is as good a name, so of those one change of each kind of object must be found in
// some event, and the rest is counted.
#include <cstdio>
#include <map>
#include <set>
#include <tuple>

#include "mpi/oracle/verify.h"
#include "spec/spec.h"

namespace cairn::oracle {
namespace {

/// A trace in which one distinct call of one rank is another.
class MutatedSource : public EventSource {
 public:
  MutatedSource(const EventSource &base, trace::SequenceView where, uint32_t call, trace::Row value)
      : base_(base), where_(where), call_(call), value_(std::move(value)) {}
  [[nodiscard]] uint32_t rank_count() const override { return base_.rank_count(); }
  [[nodiscard]] std::vector<uint32_t> ranks() const override { return base_.ranks(); }
  [[nodiscard]] bool complete(uint32_t rank) const override { return base_.complete(rank); }
  [[nodiscard]] std::vector<trace::SequenceView> sequences(uint32_t rank) const override {
    return base_.sequences(rank);
  }
  [[nodiscard]] Calls calls(const trace::SequenceView &sequence) const override {
    Calls all = base_.calls(sequence);
    const bool here =
        sequence.rank == where_.rank && sequence.thread == where_.thread && sequence.segment == where_.segment;
    if (here) all.distinct[call_] = value_;
    return all;
  }
  [[nodiscard]] std::vector<SiteKey> sites(const trace::SequenceView &sequence) const override {
    return base_.sites(sequence);
  }

 private:
  const EventSource &base_;
  trace::SequenceView where_;
  uint32_t call_;
  trace::Row value_;
};

bool is_name(spec::Layout layout) { return spec::is_handle(layout) || layout == spec::Layout::address; }

/// The ways to change a field; `what` says which.
struct Mutation {
  std::string what;
  trace::Field field;
};

std::vector<Mutation> mutations_of(const trace::Field &field, spec::Layout layout) {
  std::vector<Mutation> all;
  const auto add = [&](std::string what, trace::Field changed) {
    all.push_back({std::move(what), std::move(changed)});
  };
  if (field.is_bytes) {
    trace::Field longer = field;
    longer.bytes.push_back('x');
    add("longer", longer);
    if (!field.bytes.empty()) {
      trace::Field other = field;
      other.bytes.back() ^= 1;
      add("last byte", other);
    }
    add("absent", {});
    return all;
  }
  if (field.atoms.empty()) {
    trace::Field given;
    given.atoms.push_back(1);
    add("given", given);
    return all;
  }
  add("absent", {});
  trace::Field shorter = field;
  shorter.atoms.pop_back();
  if (!shorter.atoms.empty()) add("shorter", shorter);
  trace::Field longer = field;
  longer.atoms.push_back(0);
  add("longer", longer);
  const size_t places = std::min<size_t>(field.atoms.size(), layout == spec::Layout::status ? 5 : 4);
  for (size_t k = 0; k < places; ++k) {
    trace::Field changed = field;
    trace::Atom &atom = changed.atoms[k];
    if (atom == trace::kRaw) break;
    if (!trace::is_special(atom)) {
      ++atom;
    } else if (trace::special_code(atom) >= trace::kFirstConstant) {
      atom = atom == trace::special(trace::kFirstConstant) ? atom + 1 : atom - 1;  // another constant
    } else if (layout == spec::Layout::address) {
      atom = atom == trace::kStack ? trace::kStatic : trace::kStack;
    } else {
      atom = 987654321;
    }
    add("atom " + std::to_string(k), changed);
    if (!trace::is_special(field.atoms[k])) {
      changed.atoms[k] = trace::kNull;
      add("atom " + std::to_string(k) + " to NULL", changed);
    }
  }
  return all;
}

struct Score {
  uint64_t tried = 0;
  uint64_t found = 0;
};

class Mutations {
 public:
  Mutations(const EventSource &source, const std::vector<LogFile> &logs) : source_(source), logs_(logs) {}

  int run() {
    const auto whole = verify(source_, logs_);
    if (!whole || !whole->equal()) {
      fprintf(stderr, "the trace differs from the logs as it is\n");
      return 1;
    }
    for (const trace::SequenceView &sequence : source_.sequences(source_.ranks().back())) {
      const std::vector<trace::Row> distinct = source_.calls(sequence).distinct;
      for (uint32_t number = 0; number < distinct.size(); ++number) one_call(sequence, number, distinct[number]);
    }
    for (const auto &[kind, score] : names_) {
      if (score.found == 0) missed_.push_back(kind + ": no change of such a name was found");
    }
    uint64_t names = 0;
    uint64_t names_found = 0;
    for (const auto &[kind, score] : names_) names += score.tried, names_found += score.found;
    printf("%llu changes of values, all but %zu found; %llu of names, %llu found\n",
           static_cast<unsigned long long>(values_), missed_.size(), static_cast<unsigned long long>(names),
           static_cast<unsigned long long>(names_found));
    for (const std::string &line : missed_) printf("missed: %s\n", line.c_str());
    return missed_.empty() && values_ > 0 ? 0 : 1;
  }

 private:
  void one_call(const trace::SequenceView &sequence, uint32_t number, const trace::Row &row) {
    const spec::Function &function = spec::functions()[row.function];
    try_call(sequence, number, row, function.name, "depth", [](trace::Row &r) { ++r.depth; });
    try_call(sequence, number, row, function.name, "function",
             [](trace::Row &r) { r.function = r.function == 0 ? 1 : r.function - 1; });
    for (size_t f = 0; f < row.fields.size(); ++f) {
      const bool result = f == function.parameter_count;
      const spec::Layout layout = result ? function.return_layout : function.parameters[f].layout;
      const spec::Kind kind = result ? function.return_kind : function.parameters[f].kind;
      if (layout == spec::Layout::none) continue;
      const std::string what = result ? "result" : function.parameters[f].name;
      for (const Mutation &mutation : mutations_of(row.fields[f], layout)) {
        const bool structural = mutation.what == "absent" || mutation.what == "longer" || mutation.what == "given";
        // NULL or nothing for an array of no elements is the same.
        if (mutation.what == "given" && layout == spec::Layout::strings) continue;
        const bool name = is_name(layout) && !structural;
        const auto key = std::make_tuple(row.function, f, mutation.what);
        if (!name && !tried_.insert(key).second) continue;
        if (name && names_tried_[key]++ >= 2) continue;
        trace::Row changed = row;
        changed.fields[f] = mutation.field;
        const bool found = differs(sequence, number, changed);
        if (name) {
          Score &score = names_[spec::kind_name(kind)];
          ++score.tried;
          score.found += found ? 1 : 0;
          continue;
        }
        ++values_;
        if (!found) missed_.push_back(std::string(function.name) + " " + what + ": " + mutation.what);
      }
    }
  }

  template <typename Change>
  void try_call(const trace::SequenceView &sequence, uint32_t number, const trace::Row &row, const char *function,
                const char *what, Change change) {
    if (!tried_.insert({row.function, SIZE_MAX, what}).second) return;
    trace::Row changed = row;
    change(changed);
    ++values_;
    if (!differs(sequence, number, changed)) missed_.push_back(std::string(function) + ": " + what);
  }

  bool differs(const trace::SequenceView &sequence, uint32_t number, const trace::Row &changed) {
    const auto report = verify(MutatedSource(source_, sequence, number, changed), logs_);
    return !report || !report->equal();
  }

  const EventSource &source_;
  const std::vector<LogFile> &logs_;
  std::set<std::tuple<uint32_t, size_t, std::string>> tried_;
  std::map<std::tuple<uint32_t, size_t, std::string>, int> names_tried_;
  std::map<std::string, Score> names_;
  std::vector<std::string> missed_;
  uint64_t values_ = 0;
};

}  // namespace
}  // namespace cairn::oracle

int main(int argc, char **argv) {
  using namespace cairn;
  if (argc != 3) {
    fprintf(stderr, "usage: cairn-oracle-mutations TRACE DIRECTORY\n");
    return 2;
  }
  const auto trace = trace::Trace::open(argv[1]);
  const auto logs = oracle::read_logs(argv[2]);
  if (!trace || !logs) {
    fprintf(stderr, "%s\n", (trace ? logs.error() : trace.error()).message.c_str());
    return 3;
  }
  return oracle::Mutations(oracle::TraceSource(*trace), *logs).run();
}
