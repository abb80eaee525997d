// Repeats: where the calls of a class are made again and again with equal values, so that who asks what calls are,
// and not when they were, need not go through all of them.
//
// A term of the grammar that stands many times in succession is one if its rows stand for one call each, or for polls
// that found nothing, however many (row_kind.h, "counted"), and what has moved out of them into streams repeats as
// well, whether a call that is optional was made among it: a stream does if its values behind the first turn are those
// before the last one, which fingerprints of the two tell (grammar/sequence_hash.h). Where a buffer alternates, two
// turns of the loop are one turn here, up to eight. Streams of differences are taken for values that do not repeat.
//
// Only the outermost are looked for: within a turn nothing is. Fields differ along ranks and may still repeat.
//
// Borrows the trace. One thread at a time. Cost: the terms of the class's grammar, and once those of each stream
// within; memory likewise.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "grammar/prefix_sums.h"
#include "grammar/sequence_hash.h"
#include "trace/model/class_part.h"
#include "trace/read/events.h"

namespace cairn::trace {

struct Repeat {
  uint64_t row = 0;    ///< where the first turn begins in the class's sequence
  uint64_t rows = 0;   ///< of a turn
  uint64_t turns = 0;  ///< all the same, but for polls, and that requests may be named by arrays completed before
};

class Repeats {
 public:
  /// Of more than so many turns, with so many rows behind these. `may`: whether calls of such rows may be among them.
  Repeats(const Trace &trace, uint32_t class_index, uint64_t fewest_turns, uint64_t fewest_rows,
          const std::function<bool(const Structure::RowHead &)> &may);

  /// Those of a member, ascending.
  [[nodiscard]] std::vector<Repeat> of(uint32_t rank);

 private:
  /// A term of the grammar, and how many rows of each group with streams stand there.
  struct Term {
    Repeat once;
    struct OfGroup {
      uint32_t group = 0;
      uint64_t before = 0;
      uint64_t each_turn = 0;
    };
    std::vector<OfGroup> groups;
  };
  struct Hashes {
    using Sum = grammar::SequenceHash;
    using Kept = grammar::SequenceHash;
    static Sum nothing() { return {}; }
    static void add(Sum *sum, grammar::Symbol symbol, uint64_t times) {
      add(sum, grammar::SequenceHash::of(symbol), times);
    }
    static void add(Sum *sum, const Kept &rule, uint64_t times) {
      *sum = sum->then(times == 1 ? rule : rule.times(times));
    }
    static Kept keep(const Sum &sum) { return sum; }
  };
  void find_terms(const std::vector<bool> &taken);
  void count_groups();
  bool repeats(const StreamVariant &variant, const Term::OfGroup &of, uint64_t turns, uint64_t period);

  const ClassPart &part_;
  uint64_t fewest_turns_;
  uint64_t fewest_rows_;
  std::vector<Term> terms_;
  std::map<uint32_t, std::vector<const Stream *>> streams_;  ///< by group
  std::map<const grammar::Grammar *, grammar::PrefixSums<Hashes>> hashes_;
  std::map<std::tuple<const grammar::Grammar *, uint64_t, uint64_t, uint64_t>, bool> known_;
};

}  // namespace cairn::trace
