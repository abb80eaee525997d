#include "grammar/digram_table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "grammar/test_memory.h"

namespace cairn::grammar::detail {
namespace {

struct DigramTableTest : testing::Test {
  TestMemory memory{size_t{1} << 22};
  DigramTable table;
  std::map<Ref, uint32_t> hashes;

  auto hash_of() {
    return [this](Ref node) { return hashes.at(node); };
  }
  bool insert(Ref node, uint32_t hash) {
    hashes[node] = hash;
    return table.insert(memory.arena(), node, hash, hash_of());
  }
  void remove(Ref node) {
    table.remove(memory.arena(), node, hashes.at(node), hash_of());
    hashes.erase(node);
  }
  [[nodiscard]] bool has(Ref node, uint32_t hash) const {
    return table.find(hash, [&](Ref other) { return other == node; }) == node;
  }
};

TEST_F(DigramTableTest, FindsWhatIsInAndNothingElse) {
  std::mt19937 random(7);
  std::vector<Ref> nodes;
  Ref next = 1;
  for (int step = 0; step < 60000; ++step) {
    if (nodes.empty() || random() % 5 < 3) {
      ASSERT_TRUE(insert(next, static_cast<uint32_t>(random())));
      nodes.push_back(next++);
    } else {
      const size_t which = random() % nodes.size();
      const Ref gone = nodes[which];
      const uint32_t hash = hashes.at(gone);
      nodes[which] = nodes.back();
      nodes.pop_back();
      remove(gone);
      ASSERT_FALSE(has(gone, hash));
    }
  }
  for (const Ref node : nodes) ASSERT_TRUE(has(node, hashes.at(node))) << node;
}

// All in one line, from which nearly all are passed on; further than a line counts.
TEST_F(DigramTableTest, EqualHashesFillLineAfterLine) {
  constexpr Ref kNodes = 600;
  constexpr uint32_t kHash = 0xab000005;
  for (Ref node = 1; node <= kNodes; ++node) ASSERT_TRUE(insert(node, kHash));
  for (Ref node = 1; node <= kNodes; ++node) ASSERT_TRUE(has(node, kHash));
  for (Ref node = 1; node <= kNodes; node += 2) remove(node);
  for (Ref node = 1; node <= kNodes; ++node) ASSERT_EQ(has(node, kHash), node % 2 == 0);
}

TEST_F(DigramTableTest, SaysWhenThereIsNoRoom) {
  TestMemory small{4096};
  DigramTable narrow;
  Ref node = 1;
  while (narrow.insert(small.arena(), node, node * 2654435761U, [](Ref other) { return other * 2654435761U; })) {
    ASSERT_LT(++node, 10000U);
  }
  EXPECT_GT(node, 96U);  // more than the first lines hold
  for (Ref known = 1; known < node; ++known) {
    EXPECT_EQ(narrow.find(known * 2654435761U, [&](Ref other) { return other == known; }), known);
  }
}

}  // namespace
}  // namespace cairn::grammar::detail
