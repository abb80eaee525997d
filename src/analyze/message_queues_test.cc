#include "analyze/message_queues.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

namespace cairn::analyze {
namespace {

constexpr uint32_t kMe = 9;

class MessageQueues : public ::testing::Test {
 protected:
  ReceivePointer post(std::optional<uint32_t> from, std::optional<int64_t> tag) {
    auto receive = std::make_shared<Receive>();
    receive->from = from;
    receive->tag = tag;
    posts_.post(receive);
    return receive;
  }
  void send(uint32_t from, int64_t tag, uint64_t call) {
    auto message = std::make_shared<Sent>();
    message->from.call = call;
    channels_.send(&channels_.of({0, from, kMe, tag}), std::move(message));
  }
  /// Whose message it is, which is taken; -1: not sent yet, -2: nobody knows which.
  int64_t take(const ReceivePointer &receive) {
    if (!receive->place) return -2;
    const SentPointer message = Channels::message(*receive);
    if (!message) return -1;
    channels_.take(*receive);
    return static_cast<int64_t>(message->from.call);
  }

  Channels channels_;
  Posts posts_{&channels_, kMe};
};

TEST_F(MessageQueues, KeepTheOrderInWhichReceivesWerePosted) {
  const ReceivePointer first = post(1, 5);
  const ReceivePointer second = post(1, 5);
  const ReceivePointer other = post(1, 6);
  posts_.received(second, 1, 5);
  EXPECT_FALSE(second->settled()) << "the first may have been cancelled";
  posts_.received(other, 1, 6);
  send(1, 6, 60);
  EXPECT_EQ(take(other), 60);
  posts_.received(first, 1, 5);
  EXPECT_EQ(take(second), -1);
  send(1, 5, 50);
  send(1, 5, 51);
  EXPECT_EQ(take(second), 51);
  EXPECT_EQ(take(first), 50);
}

TEST_F(MessageQueues, WaitForWildcardsThatMayBeOfTheSameChannel) {
  for (int64_t call = 0; call < 6; ++call) send(1, 5, static_cast<uint64_t>(call));
  const ReceivePointer any = post(std::nullopt, 5);
  const ReceivePointer exact = post(1, 5);
  const ReceivePointer of_other_tag = post(1, std::nullopt);
  posts_.received(exact, 1, 5);
  EXPECT_EQ(take(exact), -2);
  posts_.received(any, 2, 5);
  EXPECT_EQ(take(exact), 0) << "it was of another sender";
  EXPECT_TRUE(exact->exact);

  const ReceivePointer last = post(1, 5);
  posts_.received(last, 1, 5);
  EXPECT_EQ(take(last), -2);
  posts_.received(of_other_tag, 1, 5);
  EXPECT_EQ(take(of_other_tag), 1);
  EXPECT_EQ(take(last), 2);
}

TEST_F(MessageQueues, SkipWhatWasCancelled) {
  send(1, 5, 7);
  const ReceivePointer cancelled = post(1, 5);
  const ReceivePointer next = post(1, 5);
  posts_.received(next, 1, 5);
  posts_.drop(cancelled, false);
  EXPECT_TRUE(cancelled->settled());
  EXPECT_EQ(take(next), 7);
  EXPECT_TRUE(next->exact);
}

TEST_F(MessageQueues, SayWhatIsUnsure) {
  send(1, 5, 7);
  send(1, 6, 8);
  const ReceivePointer before = post(1, 5);
  const ReceivePointer nameless = post(std::nullopt, 5);
  const ReceivePointer after = post(1, 5);
  const ReceivePointer other = post(1, 6);
  for (const ReceivePointer &each : {before, after}) posts_.received(each, 1, 5);
  posts_.received(other, 1, 6);
  EXPECT_EQ(take(after), -2);
  posts_.drop(nameless, true);
  EXPECT_EQ(take(before), 7);
  EXPECT_EQ(take(other), 8);
  send(1, 5, 9);
  EXPECT_EQ(take(after), 9);
  EXPECT_TRUE(before->exact);
  EXPECT_FALSE(after->exact);
  EXPECT_TRUE(other->exact);
}

TEST_F(MessageQueues, LetTheMessagesGoThatNobodyTakes) {
  const ReceivePointer freed = post(1, 5);
  const ReceivePointer never = post(1, 5);
  const ReceivePointer received = post(1, 5);
  posts_.let_go(freed);
  posts_.received(received, 1, 5);
  EXPECT_EQ(take(received), -2);
  posts_.finish();
  EXPECT_TRUE(never->settled());
  for (uint64_t call = 0; call < 3; ++call) send(1, 5, call);
  EXPECT_EQ(take(received), 2);
  // All has met, and the channel goes on.
  const ReceivePointer again = post(1, 5);
  posts_.received(again, 1, 5);
  send(1, 5, 30);
  EXPECT_EQ(*again->place, 3);
  EXPECT_EQ(take(again), 30);
}

TEST_F(MessageQueues, ForgetChannelsWhereTheyAreMany) {
  constexpr int64_t kMany = 10'000;
  for (int round = 0; round < 2; ++round) {
    uint64_t begun_anew = 0;
    for (int64_t tag = 0; tag < kMany; ++tag) {
      const ReceivePointer receive = post(1, tag);
      posts_.received(receive, 1, tag);
      send(1, tag, 1);
      begun_anew += *receive->place == 0 ? 1 : 0;
      EXPECT_EQ(take(receive), 1);
    }
    EXPECT_GT(begun_anew, kMany / 2U);
  }
}

/// Completes in some order what was all open at once, and says how often a channel was looked at.
class OpenWildcards : public MessageQueues {
 protected:
  static constexpr uint64_t kMany = 20'000;
  uint64_t complete(const std::vector<uint64_t> &order, const std::function<int64_t(uint64_t)> &tag_of) {
    std::vector<ReceivePointer> open;
    for (uint64_t i = 0; i < order.size(); ++i) {
      open.push_back(i % 3 == 0   ? post(std::nullopt, std::nullopt)
                     : i % 3 == 1 ? post(1, std::nullopt)
                                  : post(std::nullopt, tag_of(i)));
    }
    const uint64_t before = posts_.looks();
    for (const uint64_t each : order) posts_.received(open[each], 1, tag_of(each));
    for (uint64_t i = 0; i < order.size(); ++i) send(1, tag_of(i), i);
    const auto is_its_own = [&](uint64_t i) { return take(open[i]) == static_cast<int64_t>(i); };
    uint64_t right = 0;
    for (uint64_t i = 0; i < order.size(); ++i) right += is_its_own(i) ? 1 : 0;
    EXPECT_EQ(right, order.size());
    EXPECT_EQ(posts_.held_back(), 0);
    return posts_.looks() - before;
  }
  /// Each of the first half is the last one that holds up all of the second half; and so on.
  static std::vector<uint64_t> order(int which) {
    std::vector<uint64_t> made(kMany);
    std::iota(made.begin(), made.end(), 0U);
    if (which == 1) std::reverse(made.begin(), made.end());
    if (which == 2) std::rotate(made.begin(), made.begin() + kMany / 2, made.end());
    if (which == 3) {
      std::rotate(made.begin(), made.begin() + kMany / 2, made.end());
      std::reverse(made.begin() + kMany / 2, made.end());
    }
    for (uint64_t i = 0; which == 4 && i < kMany; ++i) made[i] = i * 7919 % kMany;
    return made;
  }
};

TEST_F(OpenWildcards, CostAsMuchAsThereAreOfThem) {
  for (int which = 0; which < 5; ++which) {
    const uint64_t apart = complete(order(which), [](uint64_t i) { return static_cast<int64_t>(i); });
    EXPECT_LE(apart, 5 * kMany) << "a channel each, order " << which;
    const uint64_t together = complete(order(which), [](uint64_t i) { return static_cast<int64_t>(i % 7); });
    EXPECT_LE(together, 5 * kMany) << "seven channels, order " << which;
  }
}

TEST_F(OpenWildcards, HoldUpWhatIsOfKnownSendersToo) {
  std::vector<ReceivePointer> any;
  std::vector<ReceivePointer> exact;
  for (int64_t i = 0; i < static_cast<int64_t>(kMany); ++i) {
    any.push_back(post(std::nullopt, i % 2 == 0 ? std::nullopt : std::optional(i)));
    exact.push_back(post(1, i));
  }
  for (int64_t i = 0; i < static_cast<int64_t>(kMany); ++i) posts_.received(exact[static_cast<size_t>(i)], 1, i);
  EXPECT_EQ(posts_.held_back(), kMany);
  for (size_t i = 0; i + 1 < kMany; i += 2) {
    posts_.drop(any[i + 1], false);
    posts_.received(any[i], 2, 0);
  }
  EXPECT_EQ(posts_.held_back(), 0);
  EXPECT_LE(posts_.looks(), 6 * kMany);
}

TEST_F(MessageQueues, CountWhatWasCancelledUntilItIsKnownToHaveGotItsMessage) {
  send(1, 5, 10);
  send(1, 5, 11);
  const ReceivePointer first = post(1, 5);
  const ReceivePointer second = post(1, 5);
  Posts::cancel(first.get());
  Posts::cancel(first.get());
  EXPECT_EQ(*posts_.look({0, 1, kMe, 5}, {})->place, 1) << "the second takes the first message";
  posts_.received(first, 1, 5);
  EXPECT_EQ(*posts_.look({0, 1, kMe, 5}, {})->place, 2) << "which the first got all the same";
  posts_.received(second, 1, 5);
  EXPECT_EQ(take(first), 10);
  EXPECT_EQ(take(second), 11);
}

}  // namespace
}  // namespace cairn::analyze
