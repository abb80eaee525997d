// Ranks that go one way where a poll has found something, and another where it has not.
#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <tuple>

#include "timing/mode.h"
#include "trace/model/record_times.h"
#include "trace/testing/synthetic.h"
#include "trace/testing/synthetic_parts.h"

namespace cairn::trace {
namespace {

constexpr int kSteps = 60;

/// Writes down the calls of a rank. A call is told by its function, which has a call site of its own, and a value.
class Recorder {
 public:
  /// `as_they_come`: call sites are numbered so, as a recorder does.
  explicit Recorder(bool as_they_come) : as_they_come_(as_they_come) {}
  void call(uint32_t what, Atom value = 0) { add(what, value, 0, {}); }
  /// As the calls of MPI that ask whether something has happened.
  void poll(uint32_t what, uint64_t misses, bool found, Atom value = 0) {
    const Bytes missed = packed(row_of(what, value, 0));
    for (uint64_t i = 0; i < misses; ++i) add(what, value, 0, {Poll::unsuccessful, {}});
    if (found) add(what, value, 1, {Poll::successful, missed});
  }
  /// The run ended there.
  void cut(size_t calls) { calls_.resize(calls); }
  [[nodiscard]] size_t calls() const { return calls_.size(); }

  ProcessRecord record(uint32_t rank, uint32_t ranks, bool with_times) {
    SequenceRecord sequence;
    sequence.calls = grammar::Grammar::from_symbols(calls_);
    sequence.polls = polls_;
    sequence.sites.resize(kSites);
    std::vector<uint32_t> number(kSites);
    uint32_t next = 0;
    for (const uint32_t site : as_they_come_ ? met_ : all_sites()) {
      number[site] = ++next;
      sequence.sites[number[site]] = {0, 1000 * site, 0};
    }
    sequence.sites.resize(next + 1);
    for (Row row : rows_) {
      row.site = number[row.site];
      sequence.rows.push_back(packed(row));
    }
    for (Poll &poll : sequence.polls) {
      if (poll.unsuccessful_form.empty()) continue;
      ByteReader in(poll.unsuccessful_form);
      Row row = *unpack_row(in);
      row.site = number[row.site];
      poll.unsuccessful_form = packed(row);
    }
    if (with_times) {
      std::vector<timing::CallTime> times;
      for (size_t i = 0; i < calls_.size(); ++i) times.push_back({100 + i % 7, 1000 * (rank + 1) + i % 100});
      sequence.times = coded_times(sequence, std::move(times), *timing::mode_named("lossless"), 0);
    } else {
      sequence.stats = synthetic::durations(calls_, rows_.size(), rank + 1);
    }
    ProcessRecord process;
    process.rank = rank;
    process.size = ranks;
    process.modules.push_back({{1, 2, 3}, "program"});
    process.sequences.push_back(std::move(sequence));
    return process;
  }

 private:
  static constexpr uint32_t kSites = 20;
  static std::vector<uint32_t> all_sites() {
    std::vector<uint32_t> sites(kSites - 1);
    std::iota(sites.begin(), sites.end(), 1);
    return sites;
  }
  static Row row_of(uint32_t what, Atom value, Atom flag) {
    Row row;
    row.function = what;
    row.site = what;
    row.fields = {{false, {value}, {}}, {false, {flag}, {}}, {false, {0}, {}}};
    return row;
  }
  static Bytes packed(const Row &row) {
    ByteWriter out;
    pack_row(row, out);
    return out.take();
  }
  void add(uint32_t what, Atom value, Atom flag, const Poll &poll) {
    const auto [known, fresh] = known_.try_emplace({what, value, flag}, static_cast<grammar::Symbol>(rows_.size()));
    if (fresh) {
      rows_.push_back(row_of(what, value, flag));
      polls_.push_back(poll);
    }
    if (std::find(met_.begin(), met_.end(), what) == met_.end()) met_.push_back(what);
    calls_.push_back(known->second);
  }
  std::map<std::tuple<uint32_t, Atom, Atom>, grammar::Symbol> known_;
  bool as_they_come_;
  std::vector<uint32_t> met_;
  std::vector<Row> rows_;
  std::vector<Poll> polls_;
  std::vector<grammar::Symbol> calls_;
};

using Program = std::function<void(Recorder *, int, std::mt19937_64 *)>;  ///< a step

bool chance(std::mt19937_64 *random) { return (*random)() % 3 == 0; }

/// Unpacks early, or works on and waits.
void overlap(Recorder *to, int, std::mt19937_64 *random) {
  to->call(3);
  const bool found = chance(random);
  to->poll(4, found ? 0 : 1, found);
  if (!found) to->call(5);
  to->call(6);
}

/// Arms of several calls; one has polls of its own, and a branch within.
void nested(Recorder *to, int, std::mt19937_64 *random) {
  to->call(3);
  const bool found = chance(random);
  to->poll(4, found ? (*random)() % 3 : 1 + (*random)() % 3, found);
  if (found) {
    to->call(5);
    const bool again = chance(random);
    to->poll(6, again ? 0 : 1, again);
    to->call(again ? 7 : 8);
    to->call(9);
  } else {
    to->call(10);
    to->poll(11, (*random)() % 4, true);
    to->call(12);
  }
  to->call(13);
}

/// Looks once a step, and takes what has come.
void looks(Recorder *to, int step, std::mt19937_64 *random) {
  to->call(3, step % 2);
  const bool found = chance(random);
  to->poll(4, found ? 0 : 1, found);
  if (found) {
    to->call(5);
    to->call(6);
  }
}

/// Values of the arms' calls count up.
void counting(Recorder *to, int step, std::mt19937_64 *random) {
  to->call(3, step);
  const bool found = chance(random);
  to->poll(4, found ? 0 : 1, found);
  to->call(found ? 5 : 6, step);
  to->call(7, step);
}

/// What is found at last is something that nobody looked for before.
void late(Recorder *to, int step, std::mt19937_64 *) {
  const bool found = step == kSteps - 1;
  to->poll(4, found ? 0 : 1, found, found ? 1 : 0);
  to->call(5);
}

}  // namespace

std::vector<ProcessRecord> branching_program(uint32_t ranks, uint64_t seed) {
  const Program programs[] = {overlap, nested, looks, counting, late};
  const size_t which = seed % std::size(programs);
  std::vector<ProcessRecord> processes;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    std::mt19937_64 random(1000 * seed + rank);
    Recorder recorder(seed % 16 >= 12);
    recorder.call(1);
    for (int step = 0; step < kSteps; ++step) programs[which](&recorder, step, &random);
    if (which != 4) recorder.call(2);
    if (seed % 16 >= 8 && seed % 16 < 12) recorder.cut(recorder.calls() - random() % 40);
    processes.push_back(recorder.record(rank, ranks, seed % 8 >= 4));
  }
  return processes;
}

}  // namespace cairn::trace
