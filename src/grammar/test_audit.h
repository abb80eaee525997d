// BuilderAudit: looks into a Builder and says which of its properties does not hold, for tests.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "grammar/builder.h"

namespace cairn::grammar {

class BuilderAudit {
 public:
  /// Empty if all is well. A full Builder may hold a pair twice.
  static std::string problem(const Builder &builder) {
    using namespace detail;
    if (builder.top_ == kNull) return {};
    if (builder.dirty_nodes_ != kNull || builder.dirty_rules_ != kNull) return "work is left";
    if (builder.saved_count_ != 0) return "a change is not sealed";
    std::vector<Ref> rules{builder.top_};
    std::set<Ref> known{builder.top_};
    std::map<Ref, std::pair<uint32_t, Ref>> users;
    std::map<Ref, uint64_t> largest_count;
    std::map<Symbol, uint64_t> nodes;  // of each symbol
    std::vector<Symbol> singles;
    uint64_t packed = 0;
    uint64_t pins = 0;
    std::set<std::tuple<Kind, uint32_t, uint64_t, Kind, uint32_t, uint64_t>> digrams;
    // Packed terms keep rules that the rings may no longer reach.
    for (const SettledBlock *block = builder.settled_.first(); block != nullptr; block = block->next) {
      ByteReader in({block->bytes, block->used});
      while (!in.at_end()) {
        const uint64_t code = in.varint();
        if ((code & 2) != 0) in.varint();
        if ((code & 1) == 0) continue;
        ++packed;
        const auto used = static_cast<Ref>(code >> 2);
        if (known.insert(used).second) rules.push_back(used);
      }
    }
    for (size_t i = 0; i < rules.size(); ++i) {
      const Node &guard = builder.rule(rules[i])->guard;
      uint64_t length = 0;
      for (const Node *node = builder.node(guard.next); node != &guard; node = builder.node(node->next)) {
        const Node &next = *builder.node(node->next);
        length += builder.unit_length(*node) * node->count;
        if (node->kind == Kind::rule) {
          auto &[uses, mixed] = users[node->id];
          ++uses;
          mixed ^= builder.ref(node);
          largest_count[node->id] = std::max(largest_count[node->id], node->count);
          if (known.insert(node->id).second) rules.push_back(node->id);
        }
        if (node->kind == Kind::symbol) ++nodes[node->id];
        if (node->single && rules[i] != builder.top_) return "a rule has a symbol that has one node";
        if (node->single && builder.singles_.place(node->id) != builder.ref(node)) return "a single symbol is lost";
        if (node->single) singles.push_back(node->id);
        if (&next == &guard) continue;
        if (next.kind == node->kind && next.id == node->id) return "two equal neighbours";
        const bool is_new = digrams.emplace(node->kind, node->id, node->count, next.kind, next.id, next.count).second;
        if (!is_new && !builder.full_) return "a pair stands twice";
        const bool single = node->single || next.single;
        if (single && node->hashed) return "a pair with a symbol that has one node is in the table";
        if (!single && !node->hashed && !builder.full_) return "a pair is not in the table";
      }
      if (rules[i] == builder.top_) {
        if (length != builder.committed_ - builder.settled_length_) return "the length is wrong";
        continue;
      }
      const Rule &rule = *builder.rule(rules[i]);
      if (rule.length != length) return "a rule's length is wrong";
      const Node &first = *builder.node(guard.next);
      if (rule.first != (first.kind == Kind::rule ? builder.rule(first.id)->first : first.id)) return "a wrong start";
      pins += rule.pins;
    }
    for (size_t i = 1; i < rules.size(); ++i) {
      const Rule &rule = *builder.rule(rules[i]);
      if (std::pair(rule.uses, rule.users) != users[rules[i]]) return "uses are wrong";
      if (rule.pins == 0 && rule.uses < 2 && largest_count[rules[i]] < 2) return "a rule is used once";
    }
    for (const Symbol single : singles) {
      if (nodes[single] != 1) return "a single symbol has several nodes";
    }
    if (pins != packed) return "a pin is left";
    if (rules.size() != builder.rule_count_) return "a rule is lost";
    return {};
  }

  static bool is_full(const Builder &builder) { return builder.full_; }
};

}  // namespace cairn::grammar
