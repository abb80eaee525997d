// Collective operations as messages: every message that is sent is received, with the same size, in any communicator.
#include "simgrid/rounds.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

namespace cairn::simgrid {
namespace {

struct Round {
  std::vector<Part> sends;
  std::vector<Part> receives;
};

/// The ranks of a communicator go through their rounds: what each of them sent is there for who receives it.
class Play {
 public:
  explicit Play(std::map<uint32_t, std::vector<Round>> rounds) : rounds_(std::move(rounds)) {}

  /// Whether all came to their ends, and nothing was left over.
  bool ends() {
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (auto &[rank, all] : rounds_) {
        while (step(rank, all)) goes_on = true;
      }
    }
    for (const auto &[rank, all] : rounds_) {
      if (at_[rank] != all.size()) return false;
    }
    for (const auto &[pair, queue] : under_way_) {
      if (!queue.empty()) return false;
    }
    return right_;
  }
  [[nodiscard]] uint64_t messages() const { return messages_; }
  [[nodiscard]] uint64_t bytes() const { return bytes_; }
  /// Of whom a rank has heard when it is done, by whatever way.
  [[nodiscard]] std::set<uint32_t> heard(uint32_t rank) { return heard_[rank]; }

 private:
  bool step(uint32_t rank, const std::vector<Round> &all) {
    const size_t at = at_[rank];
    if (at == all.size()) return false;
    heard_[rank].insert(rank);
    if (!sent_.contains({rank, at})) {
      for (const Part &part : all[at].sends) {
        under_way_[{rank, part.peer}].push_back({part.bytes, heard_[rank]});
        ++messages_;
        bytes_ += part.bytes;
      }
      sent_.insert({rank, at});
    }
    for (const Part &part : all[at].receives) {
      if (under_way_[{part.peer, rank}].empty()) return false;
    }
    for (const Part &part : all[at].receives) {
      auto &queue = under_way_[{part.peer, rank}];
      right_ = right_ && queue.front().first == part.bytes;
      heard_[rank].insert(queue.front().second.begin(), queue.front().second.end());
      queue.pop_front();
    }
    ++at_[rank];
    return true;
  }

  std::map<uint32_t, std::vector<Round>> rounds_;
  std::map<uint32_t, size_t> at_;
  std::set<std::pair<uint32_t, size_t>> sent_;
  std::map<std::pair<uint32_t, uint32_t>, std::deque<std::pair<uint64_t, std::set<uint32_t>>>> under_way_;
  std::map<uint32_t, std::set<uint32_t>> heard_;
  uint64_t messages_ = 0;
  uint64_t bytes_ = 0;
  bool right_ = true;
};

/// What rank `place` of n says of its call: block k has k + 1 bytes times 100.
Collective call_of(Operation operation, size_t place, size_t n, int64_t root) {
  Collective made;
  made.operation = operation;
  made.root = root;
  made.bytes = made.received = 800;
  std::vector<uint64_t> blocks(n);
  std::iota(blocks.begin(), blocks.end(), uint64_t{1});
  for (uint64_t &block : blocks) block *= 100;
  const bool at_root = static_cast<int64_t>(place) == root;
  if (operation == Operation::gatherv && at_root) made.receives = blocks;
  if (operation == Operation::scatterv && at_root) made.sends = blocks;
  if (operation == Operation::gatherv || operation == Operation::scatterv) made.bytes = blocks[place];
  if (operation == Operation::allgatherv || operation == Operation::reduce_scatter) made.receives = blocks;
  if (operation == Operation::alltoallv) {
    for (size_t other = 0; other < n; ++other) {
      made.sends.push_back(place * 1000 + other);
      made.receives.push_back(other * 1000 + place);
    }
  }
  return made;
}

constexpr Operation kAll[] = {
    Operation::barrier,  Operation::bcast,     Operation::gather,         Operation::gatherv,  Operation::scatter,
    Operation::scatterv, Operation::allgather, Operation::allgatherv,     Operation::alltoall, Operation::alltoallv,
    Operation::reduce,   Operation::allreduce, Operation::reduce_scatter, Operation::scan,     Operation::exscan};

/// Ranks 10, 13, 16, … in the order of their places.
std::vector<uint32_t> members_of(size_t n, uint32_t first = 10) {
  std::vector<uint32_t> members;
  for (size_t i = 0; i < n; ++i) members.push_back(first + static_cast<uint32_t>(3 * i));
  return members;
}

Play play(Operation operation, size_t n, int64_t root, bool at_once, uint64_t bytes = 0) {
  const std::vector<uint32_t> members = members_of(n);
  std::map<uint32_t, std::vector<Round>> rounds;
  for (uint32_t place = 0; place < n; ++place) {
    const View view{2, place, &members, nullptr, false};
    Collective call = call_of(operation, place, n, root);
    if (bytes != 0) call.bytes = bytes;
    auto &own = rounds[members[place]];
    rounds_of(call, view, at_once, [&](const std::vector<Part> &sends, const std::vector<Part> &receives) {
      own.push_back({sends, receives});
    });
  }
  return Play(std::move(rounds));
}

TEST(Rounds, HaveAReceiveForEachSend) {
  for (const Operation operation : kAll) {
    for (size_t n = 1; n <= 17; ++n) {
      for (const int64_t root : {int64_t{0}, static_cast<int64_t>(n / 2), static_cast<int64_t>(n - 1)}) {
        for (const bool at_once : {false, true}) {
          Play game = play(operation, n, root, at_once);
          EXPECT_TRUE(game.ends()) << static_cast<int>(operation) << " of " << n << " from " << root << " " << at_once;
        }
      }
    }
  }
}

TEST(Rounds, WaitForWhomMpiSays) {
  for (size_t n = 2; n <= 17; ++n) {
    const std::vector<uint32_t> members = members_of(n);
    const std::set<uint32_t> everybody(members.begin(), members.end());
    for (const Operation operation : {Operation::barrier, Operation::allreduce, Operation::allgather,
                                      Operation::allgatherv, Operation::alltoall, Operation::reduce_scatter}) {
      Play game = play(operation, n, 0, false);
      ASSERT_TRUE(game.ends());
      for (const uint32_t rank : members) EXPECT_EQ(game.heard(rank), everybody) << static_cast<int>(operation) << n;
    }
    for (const Operation operation : {Operation::reduce, Operation::gather, Operation::gatherv}) {
      Play game = play(operation, n, 1, false);
      ASSERT_TRUE(game.ends());
      EXPECT_EQ(game.heard(members[1]), everybody);
    }
    for (const Operation operation : {Operation::bcast, Operation::scatter, Operation::scatterv}) {
      Play game = play(operation, n, 1, false);
      ASSERT_TRUE(game.ends());
      for (const uint32_t rank : members) EXPECT_TRUE(game.heard(rank).contains(members[1]));
    }
    Play game = play(Operation::scan, n, 0, false);
    ASSERT_TRUE(game.ends());
    EXPECT_EQ(game.heard(members[n - 1]), everybody);
    EXPECT_EQ(game.heard(members[0]).size(), 1U);
  }
}

TEST(Rounds, MoveWhatTheirAlgorithmsDo) {
  constexpr uint64_t kBytes = 800;
  const auto of = [](Operation operation, size_t n) {
    Play game = play(operation, n, 0, false);
    EXPECT_TRUE(game.ends());
    return std::pair(game.messages(), game.bytes());
  };
  EXPECT_EQ(of(Operation::bcast, 16), std::pair(uint64_t{15}, 15 * kBytes));
  EXPECT_EQ(of(Operation::scatter, 16), std::pair(uint64_t{15}, 32 * kBytes));  // a block goes log2 n / 2 ways
  EXPECT_EQ(of(Operation::allgather, 16), std::pair(uint64_t{64}, 16 * 15 * kBytes));
  EXPECT_EQ(of(Operation::alltoall, 16), std::pair(uint64_t{16 * 15}, 16 * 15 * kBytes));
  EXPECT_EQ(of(Operation::barrier, 16), std::pair(uint64_t{64}, uint64_t{0}));
  Play large = play(Operation::allreduce, 16, 0, false, uint64_t{1} << 20);
  EXPECT_TRUE(large.ends());
  EXPECT_EQ(large.bytes(), 16 * 2 * ((uint64_t{1} << 20) - (uint64_t{1} << 16)));  // twice 15/16 of it, each
}

TEST(Rounds, GoBetweenTwoGroups) {
  const std::vector<uint32_t> left = members_of(3);
  const std::vector<uint32_t> right = members_of(5, 100);
  for (const Operation operation : kAll) {
    if (operation == Operation::scan || operation == Operation::exscan) continue;
    std::map<uint32_t, std::vector<Round>> rounds;
    const auto add = [&](const std::vector<uint32_t> &own, const std::vector<uint32_t> &other, bool with_root) {
      for (uint32_t place = 0; place < own.size(); ++place) {
        Collective call;
        call.operation = operation;
        const bool rooted = operation == Operation::bcast || operation == Operation::reduce ||
                            operation == Operation::gather || operation == Operation::gatherv ||
                            operation == Operation::scatter || operation == Operation::scatterv;
        call.is_root = rooted && with_root && place == 1;
        call.aside = rooted && with_root && place != 1;
        if (!with_root) call.root = 1;
        call.bytes = call.received = 40;
        if (operation == Operation::reduce_scatter) call.bytes = 15 * 40 / own.size();
        const View view{2, place, &own, &other, false};
        rounds_of(call, view, false, [&](const std::vector<Part> &sends, const std::vector<Part> &receives) {
          rounds[own[place]].push_back({sends, receives});
        });
      }
    };
    add(left, right, true);
    add(right, left, false);
    Play game(std::move(rounds));
    EXPECT_TRUE(game.ends()) << static_cast<int>(operation);
    EXPECT_GT(game.messages(), 2U) << static_cast<int>(operation);
  }
}

}  // namespace
}  // namespace cairn::simgrid
