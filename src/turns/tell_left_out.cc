// Tells tests how many calls of a run before some time a replay of its messages goes past, and through: two numbers.
#include <cstdio>
#include <cstdlib>

#include "analyze/sources.h"
#include "turns/left_out.h"

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  const auto trace = cairn::trace::Trace::open(argv[1]);
  if (!trace) return 1;
  const cairn::analyze::Sources sources(*trace);
  const auto messages = cairn::analyze::Messages::of(*trace, sources);
  if (!messages) return 1;
  const auto left_out =
      cairn::turns::LeftOut::of(*trace, *messages, {nullptr, false, std::strtoull(argv[2], nullptr, 10)});
  if (!left_out) return 1;
  std::printf("%llu %llu\n", static_cast<unsigned long long>(left_out->left_out()),
              static_cast<unsigned long long>(left_out->rest()));
  return 0;
}
