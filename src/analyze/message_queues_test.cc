#include "analyze/message_queues.h"

#include <gtest/gtest.h>

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
  // All has met, and the channel begins anew.
  const ReceivePointer again = post(1, 5);
  posts_.received(again, 1, 5);
  send(1, 5, 30);
  EXPECT_EQ(*again->place, 0);
  EXPECT_EQ(take(again), 30);
}

}  // namespace
}  // namespace cairn::analyze
