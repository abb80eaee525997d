// Partitions: of a request whose messages come in partitions (MPI 4.1, 4.2), which call sends the message: the one that
// makes the last of its partitions ready.
#pragma once

#include <algorithm>
#include <cstdint>

namespace cairn::analyze {

class Partitions {
 public:
  /// `count`: of each message; 0 also of requests whose messages come in one piece.
  explicit Partitions(uint64_t count = 0) : count_(count) {}
  /// Whether the start sends the message.
  bool start() {
    unready_ = count_;
    return unready_ == 0;
  }
  /// So many more are ready. Whether that sends the message.
  bool ready(uint64_t count) {
    if (unready_ == 0) return false;
    unready_ -= std::min(unready_, count);
    return unready_ == 0;
  }

 private:
  uint64_t count_;
  uint64_t unready_ = 0;
};

}  // namespace cairn::analyze
