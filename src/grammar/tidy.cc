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

/// Puts what its children are equal to into each rule's body, in place. Gives what each rule itself is equal to; count
/// 0: the empty sequence.
std::vector<Term> shrink(std::vector<Body> *rules) {
  std::vector<Term> stand_in(rules->size(), Term{0, true, 0});
  std::unordered_multimap<uint64_t, uint32_t> known;
  known.reserve(rules->size());
  for (size_t number = rules->size(); number-- > 0;) {
    Body &body = (*rules)[number];
    size_t size = 0;
    for (Term term : body) {
      if (term.is_rule) {
        const Term &same = stand_in[term.id];
        term = {same.id, same.is_rule, same.count * term.count};
      }
      if (term.count == 0) continue;
      if (size != 0 && are_one(body[size - 1], term)) {
        body[size - 1].count += term.count;
      } else {
        body[size++] = term;
      }
    }
    body.resize(size);
    if (body.empty()) continue;
    Term &self = stand_in[number];
    if (body.size() == 1) {
      self = body[0];
      continue;
    }
    self = {static_cast<uint32_t>(number), true, 1};
    const uint64_t hash = body_hash(body);
    const auto [begin, end] = known.equal_range(hash);
    const auto equal = std::find_if(begin, end, [&](const auto &entry) { return (*rules)[entry.second] == body; });
    if (equal != end) {
      self.id = equal->second;
    } else {
      known.emplace(hash, static_cast<uint32_t>(number));
    }
  }
  return stand_in;
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

void tidy(std::vector<Body> *all, std::vector<uint64_t> *lengths) {
  std::vector<Body> &rules = *all;
  if (rules.empty()) {
    rules.resize(1);
    *lengths = {0};
    return;
  }
  const std::vector<Term> stand_in = shrink(all);

  // The start keeps its place even if it stands for one term: then it is a rule with that term, and if that is a
  // rule once, that rule.
  uint32_t start = 0;
  const Term self = stand_in[0];
  if (self.count == 1 && self.is_rule) start = self.id;

  // Which rules are used, and how: users come first.
  enum class Use : uint8_t { none, alone, kept };  // alone: once, with count 1
  std::vector<Use> use(rules.size(), Use::none);
  use[start] = Use::kept;
  for (size_t rule = start; rule < rules.size(); ++rule) {
    if (use[rule] == Use::none) continue;
    for (const Term &term : rules[rule]) {
      if (!term.is_rule) continue;
      use[term.id] = use[term.id] == Use::none && term.count == 1 ? Use::alone : Use::kept;
    }
  }
  std::vector<uint32_t> number_of(rules.size(), UINT32_MAX);
  uint32_t kept = 0;
  for (size_t rule = start; rule < rules.size(); ++rule) {
    if (use[rule] == Use::kept) number_of[rule] = kept++;
  }

  std::vector<Body> result;
  result.reserve(kept);
  std::vector<uint64_t> result_lengths;
  result_lengths.reserve(kept);
  struct Level {
    const Body *body;
    size_t next;
  };
  std::vector<Level> levels;
  for (size_t rule = start; rule < rules.size(); ++rule) {
    if (use[rule] != Use::kept) continue;
    result_lengths.push_back((*lengths)[rule]);
    Body &own = rules[rule];
    size_t length = 0;
    while (length < own.size() && !(own[length].is_rule && use[own[length].id] == Use::alone)) {
      if (own[length].is_rule) own[length].id = number_of[own[length].id];
      ++length;
    }
    if (length == own.size()) {  // no other comes into it
      if (own.capacity() != own.size()) own.shrink_to_fit();
      result.push_back(std::move(own));
      continue;
    }
    Body body;
    body.reserve(own.size());
    body.assign(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(length));
    levels.push_back({&own, length});
    while (!levels.empty()) {
      Level &level = levels.back();
      if (level.next == level.body->size()) {
        levels.pop_back();
        continue;
      }
      const Term &term = (*level.body)[level.next++];
      if (term.is_rule && use[term.id] == Use::alone) {
        levels.push_back({&rules[term.id], 0});
      } else {
        add_term(body, term.is_rule ? Term{number_of[term.id], true, term.count} : term);
      }
    }
    result.push_back(std::move(body));
  }
  rules = std::move(result);
  *lengths = std::move(result_lengths);
}

}  // namespace cairn::grammar
