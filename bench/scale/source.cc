#include "scale/source.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>

#include "grammar/test_memory.h"
#include "mpi/store/polls.h"
#include "scale/chance.h"

namespace cairn::scale {
namespace {

/// More calls than this are not fed to the Builder one by one: their structure is taken from the program.
constexpr uint64_t kMostCalls = 20'000'000;
constexpr size_t kMostKnown = 4096;
constexpr uint32_t kRanksOfHost = 64;

/// A few hundred nanoseconds or microseconds, most calls within a factor of four.
timing::CallStats stats_of(uint64_t calls, uint64_t random) {
  timing::CallStats stats;
  stats.count = calls;
  if (calls == 0) return stats;
  stats.minimum = 150 + random % 600;
  stats.maximum = stats.minimum;
  uint64_t left = calls;
  for (uint64_t bucket = 0; bucket < 6 && left > 0; ++bucket) {
    const uint64_t here = bucket == 5 ? left : std::min(left, (left + 1) / 2 + (random >> (8 * bucket)) % 3);
    const uint64_t time = stats.minimum + ((stats.minimum * bucket * (4 + (random >> 40) % 4)) >> 3);
    stats.maximum = time;
    stats.sum += here * time;
    stats.histogram[static_cast<size_t>(timing::CallStats::bucket(time))] += here;
    left -= here;
  }
  return stats;
}

}  // namespace

struct Source::BuilderMemory {
  grammar::TestMemory memory{size_t{3} << 30};
};

Source::Source(const Pattern &pattern, Setting setting, SourceOptions options)
    : pattern_(pattern), setting_(std::move(setting)), options_(options) {}
Source::~Source() = default;

std::vector<uint32_t> Source::calls(uint32_t rank) const {
  Script script(rank, setting_.ranks);
  pattern_.run(script, setting_);
  return script.calls();
}

grammar::Grammar Source::built(const Script &script, uint64_t length) {
  if (length > kMostCalls) return *grammar::Grammar::from_rules(script.rules());
  if (memory_ == nullptr) memory_ = std::make_unique<BuilderMemory>();
  grammar::Builder builder(memory_->memory.arena());
  bool fits = true;
  for (const uint32_t row : script.calls()) fits = fits && builder.append(row);
  Result<grammar::Grammar> result = grammar::Grammar::from(builder);
  builder.release();
  if (!fits || !result) return *grammar::Grammar::from_rules(script.rules());
  return *std::move(result);
}

const Source::Structure &Source::structure_of(const Script &script) {
  const std::vector<grammar::Body> rules = script.rules();
  ByteWriter out;
  for (const grammar::Body &rule : rules) {
    out.varint(rule.size());
    for (const grammar::Term &term : rule) {
      out.varint(uint64_t{term.id} << 1 | (term.is_rule ? 1 : 0));
      out.varint(term.count);
    }
  }
  const Hash128 key = hash128(out.view());
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  if (known_.size() >= kMostKnown) known_.clear();
  const Result<grammar::Grammar> plain = grammar::Grammar::from_rules(rules);
  if (!plain) {
    std::fprintf(stderr, "cairn-scale: %s\n", plain.error().message.c_str());
    std::abort();  // a mistake in a pattern
  }
  Structure structure;
  structure.calls = built(script, plain->length());
  structure.counts = plain->multiplicities();
  return known_.emplace(key, std::move(structure)).first->second;
}

trace::ProcessRecord Source::record(uint32_t rank) {
  Script script(rank, setting_.ranks);
  pattern_.run(script, setting_);
  const Structure &structure = structure_of(script);
  trace::ProcessRecord process = script.record();
  trace::SequenceRecord &sequence = process.sequences[0];
  sequence.calls = structure.calls;
  sequence.polls = recorder::polls_of(sequence.rows);
  const uint64_t rows = sequence.rows.size();
  totals_.calls += sequence.calls.length();
  totals_.least_rows = std::min(totals_.least_rows, rows);
  totals_.most_rows = std::max(totals_.most_rows, rows);
  process.host = "node" + std::to_string(options_.own ? rank / kRanksOfHost : 0);
  if (!options_.own) return process;
  for (uint64_t row = 0; row < rows; ++row) {
    sequence.stats.push_back(stats_of(structure.counts[row], chance(91, rank, row)));
  }
  process.wall_ns = 10'000'000'000 + chance(92, rank) % 50'000'000;
  process.mpi_ns = 1'000'000'000 + chance(93, rank) % 900'000'000;
  process.peak_memory = 200 << 10;
  sequence.begin_ns = 1000 + chance(94, rank) % 5000;
  return process;
}

}  // namespace cairn::scale
