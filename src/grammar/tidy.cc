#include "grammar/tidy.h"

#include <algorithm>
#include <unordered_map>

namespace cairn::grammar {
namespace {

uint64_t body_hash(const Body &body) {
  uint64_t hash = body.size();
  for (const Term &term : body) {
    hash = (hash ^ (uint64_t{term.id} << 1 | (term.is_rule ? 1 : 0))) * 0x9E3779B97F4A7C15ULL;
    hash = (hash ^ (hash >> 29) ^ term.count) * 0xBF58476D1CE4E5B9ULL;
    hash ^= hash >> 32;
  }
  return hash;
}

/// Each rule's body with children replaced by what they are equal to; `stand_in` says what a rule itself is equal to.
struct Shrunk {
  std::vector<Body> bodies;
  std::vector<Term> stand_in;  ///< count 0: the empty sequence
};

Shrunk shrink(const std::vector<Body> &rules, const std::vector<uint32_t> &order) {
  Shrunk out{std::vector<Body>(rules.size()), std::vector<Term>(rules.size(), Term{0, true, 0})};
  std::unordered_multimap<uint64_t, uint32_t> known;
  known.reserve(order.size());
  for (size_t i = order.size(); i-- > 0;) {
    const uint32_t number = order[i];
    Body &body = out.bodies[number];
    body.reserve(rules[number].size());
    for (const Term &term : rules[number]) {
      Term added = term;
      if (term.is_rule) {
        added = out.stand_in[term.id];
        added.count *= term.count;
      }
      if (added.count != 0) add_term(body, added);
    }
    Term &self = out.stand_in[number];
    if (body.empty()) continue;
    if (body.size() == 1) {
      self = body[0];
      continue;
    }
    self = {number, true, 1};
    const uint64_t hash = body_hash(body);
    const auto [begin, end] = known.equal_range(hash);
    const auto equal = std::find_if(begin, end, [&](const auto &entry) { return out.bodies[entry.second] == body; });
    if (equal != end) {
      self.id = equal->second;
    } else {
      known.emplace(hash, number);
    }
  }
  return out;
}

}  // namespace

std::optional<std::vector<uint32_t>> users_first(const std::vector<Body> &rules) {
  enum : uint8_t { unseen, open, done };
  std::vector<uint8_t> state(rules.size(), unseen);
  std::vector<uint32_t> order;
  struct Level {
    uint32_t rule;
    size_t next;
  };
  std::vector<Level> levels;
  if (rules.empty()) return order;
  levels.push_back({0, rules[0].size()});
  state[0] = open;
  // Bodies are gone through backwards and the order of leaving is reversed, so that rules come out in the order in
  // which they are first referred to, as far as a users-first order allows.
  while (!levels.empty()) {
    Level &level = levels.back();
    if (level.next == 0) {
      state[level.rule] = done;
      order.push_back(level.rule);
      levels.pop_back();
      continue;
    }
    const Term &term = rules[level.rule][--level.next];
    if (!term.is_rule) continue;
    if (term.id >= rules.size() || state[term.id] == open) return std::nullopt;
    if (state[term.id] == done) continue;
    state[term.id] = open;
    levels.push_back({term.id, rules[term.id].size()});
  }
  std::reverse(order.begin(), order.end());
  return order;
}

std::optional<std::vector<uint64_t>> rule_lengths(const std::vector<Body> &rules) {
  std::vector<uint64_t> lengths(rules.size(), 0);
  for (size_t i = rules.size(); i-- > 0;) {
    uint64_t sum = 0;
    for (const Term &term : rules[i]) {
      const uint64_t one = term.is_rule ? lengths[term.id] : 1;
      uint64_t all = 0;
      if (__builtin_mul_overflow(one, term.count, &all) || __builtin_add_overflow(sum, all, &sum) || sum > kMaxLength) {
        return std::nullopt;
      }
    }
    lengths[i] = sum;
  }
  return lengths;
}

std::vector<Body> tidy(const std::vector<Body> &rules, const std::vector<uint32_t> &order) {
  if (order.empty()) return std::vector<Body>(1);
  const Shrunk shrunk = shrink(rules, order);
  const std::vector<Body> &bodies = shrunk.bodies;

  // The start keeps its place even if it stands for one term: then it is a rule with that term, and if that is a
  // rule once, that rule.
  uint32_t start = 0;
  const Term self = shrunk.stand_in[0];
  if (self.count == 1 && self.is_rule) start = self.id;

  // Which rules are used, and how often: users come first.
  std::vector<uint64_t> uses(rules.size(), 0);
  std::vector<uint8_t> single(rules.size(), 0);  // its one use has count 1
  uses[start] = 2;                               // never inlined
  for (const uint32_t number : order) {
    if (uses[number] == 0) continue;
    for (const Term &term : bodies[number]) {
      if (!term.is_rule) continue;
      single[term.id] = uses[term.id] == 0 && term.count == 1;
      ++uses[term.id];
    }
  }
  const auto inlined = [&](const Term &term) { return term.is_rule && single[term.id] != 0; };

  std::vector<Body> flat;
  flat.reserve(order.size());
  std::vector<uint32_t> number_of(rules.size(), UINT32_MAX);
  std::vector<uint32_t> kept;
  const auto keep = [&](uint32_t rule) {
    number_of[rule] = static_cast<uint32_t>(kept.size());
    kept.push_back(rule);
  };
  keep(start);
  for (const uint32_t rule : order) {
    if (rule != start && uses[rule] != 0 && single[rule] == 0) keep(rule);
  }
  struct Level {
    const Body *body;
    size_t next;
  };
  std::vector<Level> levels;
  for (const uint32_t rule : kept) {
    Body body;
    body.reserve(bodies[rule].size());
    levels.push_back({&bodies[rule], 0});
    while (!levels.empty()) {
      Level &level = levels.back();
      if (level.next == level.body->size()) {
        levels.pop_back();
        continue;
      }
      const Term &term = (*level.body)[level.next++];
      if (inlined(term)) {
        levels.push_back({&bodies[term.id], 0});
      } else {
        add_term(body, term.is_rule ? Term{number_of[term.id], true, term.count} : term);
      }
    }
    flat.push_back(std::move(body));
  }
  return flat;
}

}  // namespace cairn::grammar
