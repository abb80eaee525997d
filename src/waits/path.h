// The critical path: of the work of all ranks what the end of the run waited for, one after the other. Shortening what
// is on it shortens the run; shortening anything else only lets others wait longer.
//
// Each rank carries what its path so far is made of. Where a call of it waited, its path becomes that of the rank it
// waited for, as that stood when it began to send or entered, and the rest of the call. The path of the rank that ends
// last is the run's. (The same as walking back from the end, in one replay forwards: C.-Q. Yang, B. Miller, "Critical
// path analysis for the execution of parallel and distributed programs", ICDCS 1988.)
//
// Steps of paths are shared between those that go on from them; what only one goes on from becomes part of it. So
// memory goes with ranks and messages in flight, times what a path is made of. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "waits/timeline.h"

namespace cairn::waits {

class PathStep;
using PathPointer = std::shared_ptr<PathStep>;

class PathStep {
 public:
  explicit PathStep(PathPointer before = nullptr) : before_(std::move(before)) {}
  PathStep(const PathStep &) = delete;
  PathStep &operator=(const PathStep &) = delete;
  PathStep(PathStep &&) = delete;
  PathStep &operator=(PathStep &&) = delete;
  ~PathStep();

  /// By cause; each once.
  [[nodiscard]] std::vector<std::pair<Cause, uint64_t>> all() const;

 private:
  friend class Path;
  using Key = uint64_t;
  void add(Key key, uint64_t ns);
  void join();

  PathPointer before_;
  std::vector<std::pair<Key, uint64_t>> few_;  ///< these first, then the others
  std::unordered_map<Key, uint64_t> many_;
};

/// Of one rank.
class Path {
 public:
  void add(const Cause &cause, uint64_t ns);
  /// As it stands.
  [[nodiscard]] const PathPointer &now() const { return last_; }
  void become(PathPointer other) { last_ = std::move(other); }

 private:
  PathPointer last_;
};

}  // namespace cairn::waits
