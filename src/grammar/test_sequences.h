// Sequences of the kinds that a Builder meets or fears, seeded, for tests.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "grammar/node.h"

namespace cairn::grammar {

class TestSequences {
 public:
  using Symbols = std::vector<Symbol>;
  static constexpr int kKinds = 10;

  explicit TestSequences(uint64_t seed) : random_(seed) {}
  uint64_t below(uint64_t limit) { return random_() % limit; }

  /// At least about `size` symbols of one kind, none if `size` is 0.
  Symbols of_kind(int kind, size_t size) {
    Symbols out;
    const Symbols body = distinct(2 + below(12));
    while (out.size() < size) {
      switch (kind) {
        case 0:  // random over few
          out.push_back(symbol(2));
          break;
        case 1:  // random over more
          out.push_back(symbol(5));
          break;
        case 2:  // a loop
          append(out, body);
          break;
        case 3:  // nested loops with random trips
          nested(out, 3);
          break;
        case 4:  // noise in a loop
          append(out, body);
          out.resize(out.size() - below(3) * below(2));
          if (below(4) == 0) out.push_back(symbol(20));
          break;
        case 5: {  // phases, each periodic
          const Symbols phase = distinct(1 + below(6));
          for (uint64_t i = 1 + below(20); i > 0; --i) append(out, phase);
          break;
        }
        case 6: {  // growing prefixes of one body: rules are cut and joined all the time
          const size_t cut = 1 + below(body.size());
          out.insert(out.end(), body.begin(), body.begin() + static_cast<std::ptrdiff_t>(cut));
          break;
        }
        case 7: {  // what was, again: any stretch of the past
          if (out.size() < 8 || below(6) == 0) {
            out.push_back(symbol(6));
            break;
          }
          const size_t begin = below(out.size());
          const size_t length = 1 + below(out.size() - begin);
          for (size_t i = 0; i < length && i < 200; ++i) out.push_back(Symbol{out[begin + i]});
          break;
        }
        case 8: {  // Fibonacci words: every rule is used by the next two
          Symbols last{symbol(3)};
          Symbols word{symbol(3), 7};
          while (word.size() < 60) {
            Symbols longer = word;
            append(longer, last);
            last = std::move(word);
            word = std::move(longer);
          }
          append(out, word);
          break;
        }
        default:  // runs
          for (uint64_t i = 1 + below(9), run = symbol(3); i > 0; --i) out.push_back(static_cast<Symbol>(run));
          break;
      }
    }
    return out;
  }

  static void append(Symbols &out, const Symbols &more) { out.insert(out.end(), more.begin(), more.end()); }

 private:
  Symbol symbol(uint64_t alphabet) { return static_cast<Symbol>(below(alphabet)); }

  Symbols distinct(size_t size) {
    Symbols out;
    const Symbol first = symbol(4);
    for (size_t i = 0; i < size; ++i) out.push_back(below(8) == 0 ? symbol(8) : static_cast<Symbol>(first + i));
    return out;
  }

  void nested(Symbols &out, int depth) {
    const auto mark = static_cast<Symbol>(depth * 4);
    out.push_back(mark);
    if (depth > 0) {
      for (uint64_t i = below(5); i > 0; --i) nested(out, depth - 1);
      if (below(3) == 0) out.push_back(mark + 1);
    }
    out.push_back(mark + 2);
  }

  std::mt19937_64 random_;
};

}  // namespace cairn::grammar
