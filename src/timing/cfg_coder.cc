#include "timing/cfg_coder.h"

#include "base/as_size.h"
#include "grammar/grammar.h"
#include "timing/block_bins.h"

namespace cairn::timing {
namespace {

using grammar::Grammar;
using grammar::Term;

/// What the grammar of so many bins takes at most, as bytes and in memory; hostile bytes could name much more.
uint64_t most_bytes(size_t calls) { return 64 + 16 * uint64_t{calls}; }
uint64_t most_memory(size_t calls) { return 4096 + 128 * uint64_t{calls}; }

/// Of a grammar as long as `out`. A rule that was expanded before is copied: a Walker would go down to its symbols
/// again, and hostile rules may be as deep as there are bytes.
void expand(const Grammar &grammar, std::span<uint32_t> out) {
  struct Level {
    const Term *term;
    const Term *end;
    uint64_t left;  ///< how often `term` still stands here
    uint32_t rule;
    size_t start;
  };
  constexpr size_t kNowhere = SIZE_MAX;
  std::vector<size_t> place(grammar.rules().size(), kNowhere);
  std::vector<Level> levels;
  size_t at = 0;
  const auto enter = [&](uint32_t rule) {
    const auto &body = grammar.rules()[rule];
    levels.push_back({body.data(), body.data() + body.size(), body.empty() ? 0 : body[0].count, rule, at});
  };
  enter(0);
  while (!levels.empty()) {
    Level &level = levels.back();
    if (level.term == level.end) {
      place[level.rule] = level.start;
      levels.pop_back();
      continue;
    }
    if (level.left == 0) {
      ++level.term;
      if (level.term != level.end) level.left = level.term->count;
      continue;
    }
    --level.left;
    const Term &term = *level.term;
    if (!term.is_rule) {
      out[at++] = term.id;
    } else if (place[term.id] == kNowhere) {
      enter(term.id);
    } else {
      const size_t from = place[term.id];
      for (uint64_t i = 0; i < grammar.lengths()[term.id]; ++i) out[as_size(at++)] = out[as_size(from + i)];
    }
  }
}

}  // namespace

void encode_cfg(const BlockCalls &calls, std::span<CallTime> times, Bytes *out) {
  const BlockBins bins(calls);
  for (const Member series : kSeries) {
    ByteWriter plain;
    const std::vector<uint32_t> numbers = bins.bins_of(times, series);
    Grammar::from_symbols(numbers).write(plain);
    ByteWriter size;
    size.varint(plain.size());
    out->insert(out->end(), size.view().begin(), size.view().end());
    put_packed(plain.view(), out);
    bins.put_rest(numbers, times, series, out);
  }
}

bool decode_cfg(const BlockCalls &calls, ByteView bytes, std::span<CallTime> times) {
  if (!BlockBins::good(calls, times.size())) return false;
  const BlockBins bins(calls);
  ByteReader in(bytes);
  std::vector<uint32_t> numbers(times.size());
  for (const Member series : kSeries) {
    const uint64_t size = in.varint();
    if (in.failed() || size > most_bytes(times.size())) return false;
    const Bytes plain = take_packed(in, as_size(size));
    if (in.failed()) return false;
    Allowance allowance(most_memory(times.size()));
    ByteReader reader(plain, &allowance);
    const auto grammar = Grammar::parse(reader, bins.count());
    if (!grammar || !reader.at_end() || grammar->length() != times.size()) return false;
    expand(*grammar, numbers);
    if (!bins.take_rest(numbers, in, times, series)) return false;
  }
  return in.at_end();
}

}  // namespace cairn::timing
