// Locks: which calls with locks of windows waited for which others to give theirs back.
//
// A trace does not say when a lock was had, but MPI's libraries let MPI_Win_lock return only then. So where a lock that
// excludes its own is given back by another rank meanwhile, the call waited at least until that one's MPI_Win_unlock
// began; of several, until the last did.
//
// Plain value, one thread. Memory for calls that ended after what was settled, and for what was given back since the
// first of them began; a call costs the logarithm of that, and what was given back meanwhile that does not exclude it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "analyze/messages.h"

namespace cairn::waits {

class Locks {
 public:
  void add(const analyze::LockCall &call);
  /// Of all calls that ended until `ns`: all that began until then must have been added. `each`: a call that waited,
  /// and the MPI_Win_unlock until whose begin it did.
  using Each = std::function<void(const analyze::CallTime &call, const analyze::CallTime &culprit)>;
  void settle(uint64_t ns, const Each &each);
  /// When the first of the calls began that have not been settled.
  [[nodiscard]] uint64_t earliest() const;

 private:
  static constexpr uint32_t kAll = UINT32_MAX;
  using Window = std::pair<uint32_t, uint32_t>;  ///< communicator and number
  using Key = std::tuple<Window, uint32_t>;      ///< and target
  struct GivenBack {
    analyze::CallTime call;
    bool exclusive = false;
  };
  using ByBegin = std::multimap<uint64_t, GivenBack>;

  static void find(const analyze::LockCall &call, const ByBegin &others, const analyze::CallTime **last);

  std::vector<analyze::LockCall> pending_;
  std::map<Key, ByBegin> given_back_;
};

}  // namespace cairn::waits
