// Tells tests what messages.h finds in a trace: a line for each receive, "message FROM-RANK CALL TO-RANK CALL", with
// "unsure" behind it where the send may be another one, "probed …" for what was found, "met RANK CALL" for each end of
// a collective call that MPI lets nobody leave alone, "exposed FROM-RANK CALL TO-RANK CALL" for each end of access to
// a window, and what was left out.
#include <cstdio>

#include "analyze/messages.h"
#include "analyze/rank_windows.h"

namespace {

using cairn::analyze::CallTime;
using cairn::analyze::Edge;
using cairn::analyze::Meeting;

class Told : public cairn::analyze::Arrivals {
 public:
  void message(const Edge &edge) override {
    constexpr const char *kWords[] = {"message", "probed", "exposed"};
    std::printf("%s %u %llu %u %llu%s\n", kWords[static_cast<size_t>(edge.kind)], edge.from.rank,
                static_cast<unsigned long long>(edge.from.call), edge.to.rank,
                static_cast<unsigned long long>(edge.to.call), edge.exact ? "" : " unsure");
  }
  [[nodiscard]] cairn::analyze::FollowWindows follow_windows() const override {
    return cairn::analyze::RankWindows::follow;
  }
  void left(const Meeting &meeting, const std::vector<uint32_t> &from, const CallTime &to) override {
    std::printf("met %u %llu %zu\n", to.rank, static_cast<unsigned long long>(to.call),
                from.empty() ? meeting.begins.size() : from.size());
  }
};

}  // namespace

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  const auto trace = cairn::trace::Trace::open(argv[1]);
  if (!trace) return 1;
  const cairn::analyze::Sources sources(*trace);
  const auto messages = cairn::analyze::Messages::of(*trace, sources);
  if (!messages) return 1;
  Told told;
  const auto counts = messages->replay(&told);
  if (!counts) return 1;
  const auto tell = [](const char *name, uint64_t count) {
    if (count != 0) std::printf("%s %llu\n", name, static_cast<unsigned long long>(count));
  };
  tell("cancelled", counts->cancelled);
  tell("nameless", counts->nameless);
  tell("lost", counts->lost);
  tell("unsent", counts->unsent);
  tell("untimed", counts->untimed);
  tell("apart", counts->apart);
  return 0;
}
