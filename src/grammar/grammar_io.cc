// A Grammar's bytes:
//   varint number of rules; per rule: varint number of terms, then tokens that make so many terms.
// A token is a varint. `expected` starts at 0 and is one more than the last symbol (across rules too), since symbols
// are numbered in order of first occurrence. By a token's low bits, the rest being v:
//     0  a symbol once: expected + unzigzag(v)
//   001  a symbol repeated: the same, then varint count - 2
//   011  v + 2 symbols once each, counting up from expected; v at most 14, so that a byte never makes more than 16
//   terms 101  a rule once: number of this rule + 1 + v 111  a rule repeated: the same, then varint count - 2
// The empty sequence is one rule without terms. Every other rule has terms and is referred to.
#include "base/as_size.h"
#include "grammar/grammar.h"
#include "grammar/tidy.h"

namespace cairn::grammar {
namespace {

enum Token : uint64_t { repeated = 1, run = 3, rule_once = 5, rule_repeated = 7 };
constexpr uint64_t kLongestRun = 16;

Error invalid(const ByteReader &in, const char *what) {
  return {ErrorKind::unreadable, std::string("a grammar ") + what, {}, in.position(), {}};
}

class TermReader {
 public:
  TermReader(ByteReader &in, uint64_t rules, uint64_t symbol_limit)
      : in_(in), rules_(rules), symbol_limit_(symbol_limit), referred_(as_size(rules), false) {}

  /// Reads a body of so many terms; says what is wrong, or nullptr.
  const char *body(uint64_t number, size_t terms, Body &out) {
    out.reserve(terms);
    while (out.size() < terms) {
      const uint64_t token = in_.varint();
      if (in_.failed()) return "is cut short";
      const uint64_t kind = token & 7;
      const uint64_t value = token >> 3;
      const char *wrong = nullptr;
      if ((token & 1) == 0) {
        wrong = symbol(token >> 1, out);
      } else if (kind == repeated) {
        wrong = symbol(value, out);
      } else if (kind == run) {
        wrong = symbols(value + 2, terms - out.size(), out);
      } else {
        wrong = rule(number, value, out);
      }
      if (wrong != nullptr) return wrong;
      if (kind == repeated || kind == rule_repeated) {
        const uint64_t more = in_.varint();
        if (in_.failed()) return "is cut short";
        if (more > kMaxLength - 2) return "has a count too large";
        out.back().count = more + 2;
      }
    }
    return nullptr;
  }

  [[nodiscard]] bool all_referred() const {
    for (uint64_t i = 1; i < rules_; ++i) {
      if (!referred_[as_size(i)]) return false;
    }
    return true;
  }

 private:
  const char *symbol(uint64_t difference, Body &out) {
    // Modulo 2^64: what does not give a symbol is out of range and found so.
    const uint64_t symbol = expected_ + static_cast<uint64_t>(unzigzag(difference));
    if (symbol >= symbol_limit_) return "has a symbol out of range";
    expected_ = symbol + 1;
    out.push_back({static_cast<uint32_t>(symbol), false, 1});
    return nullptr;
  }

  const char *symbols(uint64_t length, uint64_t most, Body &out) {
    if (length > kLongestRun || length > most) return "has a run too long";
    if (expected_ + length > symbol_limit_) return "has a symbol out of range";
    for (uint64_t i = 0; i < length; ++i) out.push_back({static_cast<uint32_t>(expected_++), false, 1});
    return nullptr;
  }

  const char *rule(uint64_t number, uint64_t ahead, Body &out) {
    if (ahead >= rules_ - number - 1) return "refers to a rule that does not exist";
    const uint64_t id = number + 1 + ahead;
    referred_[as_size(id)] = true;
    out.push_back({static_cast<uint32_t>(id), true, 1});
    return nullptr;
  }

  ByteReader &in_;
  uint64_t rules_;
  uint64_t symbol_limit_;
  uint64_t expected_ = 0;
  std::vector<bool> referred_;
};

}  // namespace

void Grammar::write(ByteWriter &out) const {
  if (rules_.empty()) {  // moved from
    Grammar().write(out);
    return;
  }
  out.varint(rules_.size());
  uint64_t expected = 0;
  for (size_t number = 0; number < rules_.size(); ++number) {
    const Body &body = rules_[number];
    out.varint(body.size());
    for (size_t i = 0; i < body.size(); ++i) {
      const Term &term = body[i];
      if (term.is_rule) {
        const uint64_t ahead = term.id - number - 1;
        out.varint(ahead << 3 | (term.count > 1 ? rule_repeated : rule_once));
      } else {
        uint64_t length = 0;
        while (length < kLongestRun && i + length < body.size() &&
               body[as_size(i + length)] == Term{static_cast<uint32_t>(expected + length), false, 1}) {
          ++length;
        }
        if (length >= 2) {
          out.varint((length - 2) << 3 | run);
          expected += length;
          i += length - 1;
          continue;
        }
        const int64_t difference = static_cast<int64_t>(term.id) - static_cast<int64_t>(expected);
        out.varint(term.count > 1 ? zigzag(difference) << 3 | repeated : zigzag(difference) << 1);
        expected = uint64_t{term.id} + 1;
      }
      if (term.count > 1) out.varint(term.count - 2);
    }
  }
}

Result<Grammar> Grammar::parse(ByteReader &in, uint64_t symbol_limit) {
  if (symbol_limit > kNoSymbol) symbol_limit = kNoSymbol;
  const size_t rules = in.count();
  if (in.failed() || rules == 0 || rules > UINT32_MAX)
    return tl::unexpected(invalid(in, "has no valid number of rules"));
  constexpr uint64_t kRule = sizeof(Body) + sizeof(uint64_t) + 24;  // with what lies around a block of memory
  if (!in.take(sizeof(Grammar) + 48) || !in.take(rules, kRule)) return tl::unexpected(invalid(in, "is too large"));
  TermReader reader(in, rules, symbol_limit);
  Grammar grammar;
  grammar.rules_.resize(rules);
  for (size_t number = 0; number < rules; ++number) {
    const uint64_t terms = in.varint();
    if (in.failed() || terms / kLongestRun > in.remaining()) return tl::unexpected(invalid(in, "is cut short"));
    if (!in.take(terms, sizeof(Term))) return tl::unexpected(invalid(in, "is too large"));
    if (terms == 0 && rules > 1) return tl::unexpected(invalid(in, "has an empty rule"));
    const char *wrong = reader.body(number, as_size(terms), grammar.rules_[number]);
    if (wrong != nullptr) return tl::unexpected(invalid(in, wrong));
  }
  if (!reader.all_referred()) return tl::unexpected(invalid(in, "has a rule that stands nowhere"));
  auto lengths = rule_lengths(grammar.rules_);
  if (!lengths) return tl::unexpected(invalid(in, "stands for too many symbols"));
  grammar.lengths_ = *std::move(lengths);
  return grammar;
}

}  // namespace cairn::grammar
