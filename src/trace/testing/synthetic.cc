#include "trace/testing/synthetic.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "trace/model/record_times.h"
#include "trace/testing/synthetic_parts.h"

namespace cairn::trace {

using namespace synthetic;

ProcessRecord stencil_rank(uint32_t rank, uint32_t rows, uint32_t columns, uint32_t iterations) {
  const Atom x = rank % columns;
  const Atom y = rank / columns;
  const Atom step[4][2] = {{0, -1}, {0, 1}, {-1, 0}, {1, 0}};
  Atom neighbour[4];
  for (int d = 0; d < 4; ++d) {
    const Atom nx = x + step[d][0];
    const Atom ny = y + step[d][1];
    const bool inside = nx >= 0 && nx < columns && ny >= 0 && ny < rows;
    neighbour[d] = inside ? ny * columns + nx : kProcNull;
  }
  const Field argv = atoms({kNull});
  const Field comm = atoms({1});
  const auto heap = [](Atom segment, Atom offset) { return atoms({kHeap, segment, offset}); };
  const auto type = [](Atom name) { return atoms({name, 0}); };
  const Field vector = atoms({8, 0});  // created at site 8

  Recording recording;
  recording.call({269, 1, 0, {argv, argv}});                                                   // Init
  recording.call({105, 2, 0, {atoms({kWorld}), atoms({rows * columns})}});                     // Comm_size
  recording.call({103, 3, 0, {atoms({kWorld}), atoms({rank})}});                               // Comm_rank
  recording.call({153, 4, 0, {atoms({rows * columns}), atoms({2}), atoms({rows, columns})}});  // Dims_create
  recording.call({42,
                  5,
                  0,
                  {atoms({kWorld}), atoms({2}), atoms({rows, columns}), atoms({0, 0}), atoms({0}),
                   atoms({1, 0, 0, 0})}});                                       // Cart_create
  recording.call({41, 6, 0, {comm, atoms({rank}), atoms({2}), atoms({y, x})}});  // Cart_coords
  recording.call({48, 7, 0, {comm, atoms({0}), atoms({1}), atoms({neighbour[2]}), atoms({neighbour[3]})}});
  recording.call({48, 7, 0, {comm, atoms({1}), atoms({1}), atoms({neighbour[0]}), atoms({neighbour[1]})}});
  recording.call({680, 8, 0, {atoms({254}), atoms({1}), atoms({256}), type(kDouble), vector}});          // Type_vector
  recording.call({641, 9, 0, {vector}});                                                                 // Type_commit
  recording.call({30, 10, 0, {atoms({kStack, 0, -128}), atoms({4}), type(kDouble), atoms({0}), comm}});  // Bcast
  const Field requests = atoms({11, 0, 12, 0, 13, 0, 14, 0, 15, 0, 16, 0, 17, 0, 18, 0});
  for (uint32_t i = 0; i < iterations; ++i) {
    for (int d = 0; d < 4; ++d) {
      const auto site = static_cast<uint32_t>(11 + d);
      recording.call({282,
                      site,
                      0,
                      {heap(0, 8 * (256 * d + 1)), atoms({d < 2 ? 1 : 254}), d < 2 ? vector : type(kDouble),
                       atoms({neighbour[d]}), atoms({d ^ 1}), comm, atoms({site, 0})}});
    }
    for (int d = 0; d < 4; ++d) {
      const auto site = static_cast<uint32_t>(15 + d);
      recording.call({285,
                      site,
                      0,
                      {heap(0, 8 * (256 * d + 514)), atoms({d < 2 ? 1 : 254}), d < 2 ? vector : type(kDouble),
                       atoms({neighbour[d]}), atoms({d}), comm, atoms({site, 0})}});
    }
    recording.call({697, 19, 0, {atoms({8}), requests, atoms({constant(77)})}});  // Waitall
    if (i % 10 == 9) {
      recording.call({15,
                      20,
                      0,
                      {atoms({kStack, 0, -64}), atoms({kStack, 0, -72}), atoms({1}), type(kDouble),
                       atoms({constant(90), 0}), comm}});  // Allreduce
    }
  }
  recording.call({211,
                  10,
                  0,
                  {atoms({kStack, 0, -72}), atoms({1}), type(kDouble), heap(rank == 0 ? 1 : 0, 0),
                   atoms({rank == 0 ? 1 : 0}), type(kDouble), atoms({0}), comm}});  // Gather
  recording.call({651, 9, 0, {vector}});
  recording.call({88, 6, 0, {comm}});
  recording.call({182, 20, 0, {}});

  ProcessRecord process;
  process.rank = rank;
  process.size = rows * columns;
  process.host = "node" + std::to_string(rank / 32);
  process.wall_ns = 1'000'000'000 + rank * 1000;
  process.mpi_ns = 200'000'000 + rank * 777 % 1000000;
  process.peak_memory = 3 << 20;
  process.modules = {module(1, "/home/user/stencil/build/stencil"), module(2, "/home/user/stencil/build/libcomm.so.1")};
  SequenceRecord sequence;
  sequence.calls = grammar::Grammar::from_symbols(recording.calls());
  sequence.rows = recording.rows();
  sequence.stats = durations(recording.calls(), recording.rows().size(), rank + 1);
  sequence.begin_ns = 1000 + rank * 37 % 500;
  sequence.sites.push_back({});
  for (uint32_t i = 0; i < 20; ++i) {
    const bool library = i == 6 || i == 7;
    sequence.sites.push_back({library ? 1U : 0U, (library ? 0x1200U : 0x11a9U) + i * 61 + (i % 3) * 17});
  }
  process.sequences.push_back(std::move(sequence));
  return process;
}

namespace {

class RandomProgram {
 public:
  RandomProgram(uint32_t ranks, uint64_t seed) : random_(seed), ranks_(ranks) {
    lossless_ = below(3) == 0;
    threads_ = below(3) == 0 ? 3 : 1;
    kinds_ = 1 + below(3);
    for (uint32_t t = 0; t < threads_; ++t) {
      for (uint32_t k = 0; k < kinds_; ++k) plans_.push_back(plan(t));
    }
    kind_of_rank_.resize(ranks);
    const uint32_t pattern = below(3);
    for (uint32_t r = 0; r < ranks; ++r)
      kind_of_rank_[r] = (pattern == 0 ? r : pattern == 1 ? r / 5 : below(3)) % kinds_;
  }

  ProcessRecord process(uint32_t rank) {
    ProcessRecord result;
    result.rank = rank;
    result.size = ranks_;
    result.host = "host" + std::to_string(rank / 7);
    if (rank % 13 == 5) result.losses = {{"memory limit reached", 0, false}};
    result.complete = rank % 17 != 3;
    result.wall_ns = random_() >> 20;
    result.mpi_ns = random_() >> 30;
    result.peak_memory = below(1000000);
    const auto own = static_cast<int64_t>(rank);
    if (ranks_ % 2 == 0)
      result.clock = {1'700'000'000'000'000'000 + own * 1234567, own * 31 - 500, own % 5 == 4 ? -1 : own};
    // The same three modules, numbered differently; one that only some ranks have.
    std::vector<uint32_t> order = {0, 1, 2};
    if (rank % 5 == 2) std::swap(order[0], order[2]);
    if (rank % 7 == 3) order.push_back(3);
    for (const uint32_t m : order) {
      result.modules.push_back(m == 2 ? Module{{}, "/lib/no-build-id.so"}
                                      : module(static_cast<uint8_t>(m), "/lib/" + std::to_string(m)));
    }
    const uint32_t kind = kind_of_rank_[rank];
    // Two frames of call stacks: module 1 at 5040, called by module 0 at 5000 (or 6000).
    result.frames = {{place(0, order), kind == 0 ? 5000U : 6000U, 0}, {place(1, order), 5040, 1}};
    for (uint32_t t = 0; t < threads_; ++t) {
      if (t == 2 && rank % 3 == 1) continue;  // has no third thread
      for (const uint32_t segment : plans_[t * kinds_ + kind].segments) {
        result.sequences.push_back(sequence(t, segment, plans_[t * kinds_ + kind], rank, order));
      }
    }
    return result;
  }

 private:
  struct PlannedField {
    uint32_t what;
    Atom value;
    uint32_t length;
  };
  struct PlannedRow {
    uint32_t function, site, depth;
    std::vector<PlannedField> fields;
  };
  struct Plan {
    std::vector<uint32_t> segments;
    std::vector<PlannedRow> rows;
    std::vector<uint32_t> calls;
    uint32_t sites = 0;
  };

  uint32_t below(uint32_t limit) { return static_cast<uint32_t>(random_() % limit); }

  static uint32_t place(uint32_t module, const std::vector<uint32_t> &modules) {
    return static_cast<uint32_t>(std::find(modules.begin(), modules.end(), module) - modules.begin());
  }

  Plan plan(uint32_t thread) {
    Plan result;
    result.segments = {0};
    if (below(4) == 0) result.segments.push_back(1);
    if (thread == 0 && below(2) == 0) result.segments.push_back(SequenceRecord::kEpilogue);
    result.sites = below(6);
    const uint32_t rows = 1 + below(8);
    for (uint32_t i = 0; i < rows; ++i) {
      PlannedRow row{below(700), below(result.sites + 1), below(8) == 0 ? 1U : 0U, {}};
      const uint32_t fields = below(6);
      for (uint32_t f = 0; f < fields; ++f) row.fields.push_back({below(12), static_cast<Atom>(below(100)), below(20)});
      result.rows.push_back(row);
    }
    const uint32_t calls = below(60);
    for (uint32_t i = 0; i < calls; ++i) result.calls.push_back(below(3) == 0 ? below(rows) : i % rows);
    return result;
  }

  Field field(const PlannedField &planned, uint32_t rank, const std::vector<uint32_t> &modules) {
    switch (planned.what) {
      case 0:
        return atoms({planned.value});
      case 1:
        return atoms({static_cast<Atom>(rank)});
      case 2:
        return atoms({rank % 8 == 0 ? kProcNull : static_cast<Atom>(rank) - 1});
      case 3:
        return atoms(std::vector<Atom>(planned.length, planned.value));
      case 4:
        return atoms(std::vector<Atom>(rank % (planned.length + 1), static_cast<Atom>(rank % 2)));  // shape differs
      case 5:
        return bytes("name " + std::to_string(planned.value));
      case 6:
        return bytes("rank " + std::to_string(rank % 4));
      case 7:
        return atoms({static_cast<Atom>(below(1000000)), INT64_MAX, kSpecialLast + 1});
      case 8:
        return atoms({});
      case 9: {
        // A static address in the module that is globally number 2, as this rank counts.
        const auto place = std::find(modules.begin(), modules.end(), 2U) - modules.begin();
        return atoms({kStatic, static_cast<Atom>(place), planned.value, kStack, 0, -8});
      }
      case 10:
        return rank % 3 == 0 ? bytes("text") : atoms({1, 2});  // kind differs
      default:
        return atoms({kRaw, INT32_MIN, static_cast<Atom>(rank / 4)});
    }
  }

  SequenceRecord sequence(uint32_t thread, uint32_t segment, const Plan &plan, uint32_t rank,
                          const std::vector<uint32_t> &modules) {
    SequenceRecord result;
    result.thread = thread;
    result.segment = segment;
    result.calls = grammar::Grammar::from_symbols(plan.calls);
    for (const PlannedRow &planned : plan.rows) {
      Row row{planned.function, planned.site, planned.depth, {}};
      for (const PlannedField &f : planned.fields) row.fields.push_back(field(f, rank, modules));
      ByteWriter out;
      pack_row(row, out);
      result.rows.push_back(out.take());
    }
    result.sites.push_back({});
    for (uint32_t s = 0; s < plan.sites; ++s) {
      result.sites.push_back({place(s % 3, modules), 1000 + s * 40 + thread, s == 2 || s == 3 ? s - 1 : 0});
    }
    if (!lossless_) result.stats = durations(plan.calls, plan.rows.size(), random_());
    if (lossless_ && !plan.calls.empty()) {
      std::vector<timing::CallTime> times;
      for (size_t i = 0; i < plan.calls.size(); ++i) {
        const uint64_t gap = below(1000);
        times.push_back({gap, below(100000)});
      }
      const bool bounded = thread % 2 == 1;
      result.times = coded_times(result, std::move(times), *timing::mode_named(bounded ? "context" : "lossless"),
                                 bounded ? 10'000 : 0);
    }
    if (threads_ > 1 && !plan.calls.empty()) {
      std::vector<uint32_t> skips;
      for (size_t i = 0; i < plan.calls.size(); ++i) skips.push_back(below(3));
      result.order = grammar::Grammar::from_symbols(skips);
      result.first_ticket = below(50);
    }
    result.begin_ns = random_() >> 40;
    return result;
  }

  std::mt19937_64 random_;
  uint32_t ranks_;
  bool lossless_ = false;
  uint32_t threads_ = 1;
  uint32_t kinds_ = 1;
  std::vector<Plan> plans_;  // by thread and kind
  std::vector<uint32_t> kind_of_rank_;
};

}  // namespace

std::vector<ProcessRecord> random_program(uint32_t ranks, uint64_t seed) {
  RandomProgram program(ranks, seed);
  std::vector<ProcessRecord> result;
  for (uint32_t rank = 0; rank < ranks; ++rank) result.push_back(program.process(rank));
  return result;
}

std::vector<ProcessRecord> lossless_program(uint32_t ranks, uint64_t seed) {
  const auto timed = [](const SequenceRecord &sequence) { return !sequence.times.empty(); };
  for (uint64_t i = 0;; ++i) {
    std::vector<ProcessRecord> program = random_program(ranks, seed * 1000 + i);
    const bool all = std::all_of(program.begin(), program.end(), [&timed](const ProcessRecord &process) {
      return std::any_of(process.sequences.begin(), process.sequences.end(), timed);
    });
    if (all) return program;
  }
}

std::vector<ProcessRecord> varying_program(uint32_t ranks, uint64_t seed) {
  std::vector<ProcessRecord> result;
  std::mt19937_64 random(seed);
  const auto below = [&random](uint64_t limit) { return static_cast<Atom>(random() % limit); };
  const Atom steps = 20 + below(30);
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    const Atom me = rank;
    Recording recording;
    for (Atom step = 0; step < steps; ++step) {
      recording.call({61, 1, 0, {atoms({kDouble}), atoms({step}), atoms({4096 * step + me})}});
      for (const Atom neighbour : {me - 1, me + 1}) {
        const bool outside = neighbour < 0 || neighbour >= ranks;
        recording.call({62, 2, 0, {atoms({outside ? kProcNull : neighbour}), atoms({7})}});
      }
      recording.call({63, 3, 0, {atoms({10 * below(3)}), bytes(below(2) == 0 ? "even" : "odd")}});
      std::vector<Atom> list(static_cast<size_t>(seed % 2 == 0 ? 6 : below(6)));
      for (Atom &atom : list) atom = below(1000);
      recording.call({64, 4, 0, {atoms(list), atoms(std::vector<Atom>(9, 5))}});
    }
    ProcessRecord process = single_thread(rank, ranks, recording, seed + rank);
    result.push_back(std::move(process));
  }
  return result;
}

std::vector<ProcessRecord> partners_program(uint32_t ranks, uint64_t seed) {
  constexpr uint32_t kPartners = 12;
  std::vector<ProcessRecord> result;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    const auto partner = [rank](uint32_t i) { return Atom{rank ^ 1U << i % kPartners}; };
    const uint32_t behind = (rank + seed) % 3 == 0 ? kPartners - 1 : 0;
    Recording recording;
    for (uint32_t i = 0; i < 4 * kPartners; ++i) {
      recording.call({61, 1, 0, {atoms({kDouble, 4}), atoms({partner(i + behind)}), atoms({7})}});
      recording.call({62, 2, 0, {atoms({kDouble, 4}), atoms({partner(i)}), atoms({7})}});
    }
    result.push_back(single_thread(rank, ranks, recording, seed + rank));
  }
  return result;
}

std::vector<ProcessRecord> skewed_program(uint32_t side, uint64_t seed) {
  constexpr uint32_t kStages = 5;
  std::vector<ProcessRecord> result;
  for (uint32_t rank = 0; rank < side * side; ++rank) {
    Recording recording;
    for (uint32_t stage = 0; stage < kStages; ++stage) {
      const uint32_t across = (rank + rank / side + side - stage) % side;
      const uint32_t along = (2 * side + stage - rank % side) % side;
      recording.call(
          {61, 1 + stage % 2, 0, {atoms({kDouble, 4}), atoms({Atom{across} + Atom{side} * along}), atoms({7})}});
    }
    result.push_back(single_thread(rank, side * side, recording, seed));
  }
  return result;
}

std::vector<ProcessRecord> exchanging_program(uint32_t ranks, uint64_t seed) {
  std::vector<ProcessRecord> result;
  std::mt19937_64 random(seed);
  const auto below = [&random](uint64_t limit) { return static_cast<Atom>(random() % limit); };
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    Recording recording;
    for (uint32_t step = 0; step < 12; ++step) {
      Row row{32, 1 + step % 2, 0, {}};
      for (const bool always : {true, false}) {
        // Up to `ranks` counts at one call site, always that many at the other.
        std::vector<Atom> counts(static_cast<size_t>(step % 2 == 0 ? below(ranks + 1) : ranks));
        for (Atom &count : counts) count = seed % 2 == 0 ? 100 : below(300);
        // What one rank sends, the other receives.
        for (uint32_t other = 0; other < counts.size() && seed % 9 == 8 && step % 2 == 1; ++other) {
          const uint32_t from = always ? rank : other;
          const uint32_t to = always ? other : rank;
          counts[other] = 4000 + static_cast<Atom>((from * 2654435761U ^ to * 2246822519U) >> 8) % 250;
        }
        row.fields.push_back(atoms(counts));
        const bool sums = always || (rank + step / 4) % 3 == 0;
        row.fields.push_back(sums ? atoms({kPrefixSums}) : atoms(std::vector<Atom>(counts.size(), below(9))));
      }
      recording.call(row);
    }
    result.push_back(single_thread(rank, ranks, recording, seed + rank));
  }
  return result;
}
void add_heap(std::vector<ProcessRecord> *processes, uint64_t seed, bool with_threads) {
  std::mt19937_64 random(seed);
  const uint64_t turns = 5 + random() % 40;
  for (ProcessRecord &process : *processes) {
    const uint64_t rank = process.rank;
    for (SequenceRecord &sequence : process.sequences) {
      std::vector<HeapEvent> events;
      if (rank % 5 == 4) continue;
      if (rank % 7 == 3) {
        for (uint64_t i = 0; i < turns; ++i) {
          events.push_back({random() % 4, static_cast<int64_t>(random() % 6), random() % 3 * (random() % 1000)});
        }
      } else if (with_threads) {
        for (uint64_t i = 0; i < turns; ++i) {
          for (const bool ends : {false, true}) {
            for (uint32_t thread = 1; thread < 3; ++thread) {
              events.push_back(ThreadEvent{thread % 2, rank % 3, thread, ends}.packed());
            }
          }
          events.push_back({1, 1, i % 2 * 520});
        }
      } else {
        events.push_back({2, 0, 4096});
        for (uint64_t i = 0; i < turns + (rank % 7 == 5 ? 1 : 0); ++i) {
          events.push_back({0, 1, rank % 2 == 0 ? 1000 + 8 * rank : 520});
          events.push_back({3, 1, 0});
        }
      }
      std::vector<grammar::Symbol> symbols;
      for (const HeapEvent &event : events) {
        const auto known = std::find(sequence.heap_events.begin(), sequence.heap_events.end(), event);
        symbols.push_back(static_cast<grammar::Symbol>(known - sequence.heap_events.begin()));
        if (known == sequence.heap_events.end()) sequence.heap_events.push_back(event);
      }
      sequence.heap = grammar::Grammar::from_symbols(symbols);
    }
  }
}

}  // namespace cairn::trace
