// Nanoseconds per symbol that a Builder takes, by kind of sequence, with cursors and as plain Sequitur.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "grammar/builder.h"
#include "grammar/grammar.h"
#include "grammar/test_memory.h"

namespace cairn::grammar {
namespace {

using Symbols = std::vector<Symbol>;
using Random = std::mt19937_64;

constexpr size_t kLength = 2'000'000;

Symbols counting(size_t size) {
  Symbols out(size);
  std::iota(out.begin(), out.end(), 0U);
  return out;
}

Symbols loop(size_t body) {
  Symbols out;
  for (size_t i = 0; i < kLength; ++i) out.push_back(static_cast<Symbol>(i % body));
  return out;
}

/// An outer loop whose inner loops make 1 to 20 trips.
Symbols nested() {
  Random random(1);
  Symbols out;
  while (out.size() < kLength) {
    out.push_back(0);
    for (uint64_t trips = 1 + random() % 20; trips > 0; --trips) out.insert(out.end(), {1, 2, 3});
    out.insert(out.end(), {4, 5});
    for (uint64_t trips = 1 + random() % 20; trips > 0; --trips) out.insert(out.end(), {6, 7});
  }
  return out;
}

/// A loop of 30 calls; before one call in a hundred comes one of ten others.
Symbols noise() {
  Random random(2);
  Symbols out;
  while (out.size() < kLength) {
    for (Symbol i = 0; i < 30; ++i) {
      if (random() % 100 == 0) out.push_back(static_cast<Symbol>(100 + random() % 10));
      out.push_back(i);
    }
  }
  return out;
}

/// 50 loops with bodies of 3 to 20 of 200 symbols and 1 to 30 trips, in random order.
Symbols loops() {
  Random random(3);
  std::vector<Symbols> bodies(50);
  for (Symbols &body : bodies) {
    for (uint64_t i = 3 + random() % 18; i > 0; --i) body.push_back(static_cast<Symbol>(random() % 200));
  }
  Symbols out;
  while (out.size() < kLength) {
    const Symbols &body = bodies[random() % 50];
    for (uint64_t trips = 1 + random() % 30; trips > 0; --trips) out.insert(out.end(), body.begin(), body.end());
  }
  return out;
}

Symbols uniform(uint64_t alphabet) {
  Random random(4);
  Symbols out(kLength);
  for (Symbol &symbol : out) symbol = static_cast<Symbol>(random() % alphabet);
  return out;
}

void append_all(benchmark::State &state, const Symbols &symbols, bool cursors) {
  size_t used = 0;
  size_t bytes = 0;
  uint64_t predicted = 0;
  for (auto run : state) {
    state.PauseTiming();
    TestMemory memory(size_t{512} << 20);
    Builder builder(memory.arena(), {.cursors = cursors});
    state.ResumeTiming();
    for (const Symbol symbol : symbols) {
      if (!builder.append(symbol)) state.SkipWithError("full");
    }
    state.PauseTiming();
    used = memory.arena().peak();
    bytes = 0;
    if (cursors && predicted == 0) {
      TestMemory again(size_t{512} << 20);
      Builder other(again.arena(), {.cursors = cursors});
      for (const Symbol symbol : symbols) {
        predicted += other.predict() == symbol ? 1 : 0;
        other.append(symbol);
      }
    }
    if (bytes == 0) {
      ByteWriter out;
      Grammar::from(builder)->write(out);
      bytes = out.size();
    }
    state.ResumeTiming();
  }
  const auto count = static_cast<double>(symbols.size());
  state.counters["ns/symbol"] =
      benchmark::Counter(count * 1e-9, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  state.counters["arena/symbol"] = static_cast<double>(used) / count;
  state.counters["bytes"] = static_cast<double>(bytes);
  state.counters["predicted%"] = 100 * static_cast<double>(predicted) / count;
}

void register_all() {
  const std::vector<std::pair<std::string, std::function<Symbols()>>> kinds = {
      {"loop_of_3", [] { return loop(3); }},
      {"loop_of_20000", [] { return loop(20'000); }},
      {"nested_random_trips", nested},
      {"loop_of_30_noise_1%", noise},
      {"50_loops_random_order", loops},
      {"random_over_2", [] { return uniform(2); }},
      {"random_over_16", [] { return uniform(16); }},
      {"random_over_1000", [] { return uniform(1000); }},
      {"all_new", [] { return counting(kLength); }},
  };
  for (const auto &[name, make] : kinds) {
    for (const bool cursors : {false, true}) {
      benchmark::RegisterBenchmark((name + (cursors ? "/cursors" : "/plain")).c_str(), [make = make, cursors](
                                                                                           benchmark::State &state) {
        append_all(state, make(), cursors);
      })->Unit(benchmark::kMillisecond);
    }
  }
}

}  // namespace
}  // namespace cairn::grammar

int main(int argc, char **argv) {
  cairn::grammar::register_all();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
