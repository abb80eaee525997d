#include "waits/locks.h"

#include <algorithm>
#include <utility>

namespace cairn::waits {

using analyze::CallTime;
using analyze::LockCall;

void Locks::add(const LockCall &call) {
  if (!call.gives_back) {
    pending_.push_back(call);
    return;
  }
  const Key key(Window(call.communicator, call.window), call.target.value_or(kAll));
  given_back_[key].emplace(call.call.begin_ns, GivenBack{call.call, call.exclusive});
}

uint64_t Locks::earliest() const {
  uint64_t found = UINT64_MAX;
  for (const LockCall &call : pending_) found = std::min(found, call.call.begin_ns);
  return found;
}

void Locks::find(const LockCall &call, const ByBegin &others, const CallTime **last) {
  auto other = others.lower_bound(call.call.end_ns);
  while (other != others.begin()) {
    --other;
    const CallTime &found = other->second.call;
    if (found.begin_ns <= call.call.begin_ns || (*last != nullptr && found.begin_ns <= (*last)->begin_ns)) return;
    if (found.rank == call.call.rank || (!call.exclusive && !other->second.exclusive)) continue;
    *last = &found;
    return;
  }
}

void Locks::settle(uint64_t ns, const Each &each) {
  const auto is_open = [&](const LockCall &call) { return call.call.end_ns > ns; };
  const auto settled = std::stable_partition(pending_.begin(), pending_.end(), is_open);
  for (auto call = settled; call != pending_.end(); ++call) {
    const Window window(call->communicator, call->window);
    const CallTime *last = nullptr;
    if (call->target) {
      for (const uint32_t target : {*call->target, kAll}) {
        const auto others = given_back_.find({window, target});
        if (others != given_back_.end()) find(*call, others->second, &last);
      }
    } else {
      for (auto others = given_back_.lower_bound({window, 0});
           others != given_back_.end() && std::get<0>(others->first) == window; ++others) {
        find(*call, others->second, &last);
      }
    }
    if (last != nullptr) each(call->call, *last);
  }
  pending_.erase(settled, pending_.end());
  const uint64_t over = std::min(ns, earliest());
  for (auto others = given_back_.begin(); others != given_back_.end();) {
    others->second.erase(others->second.begin(), others->second.upper_bound(over));
    others = others->second.empty() ? given_back_.erase(others) : std::next(others);
  }
}

}  // namespace cairn::waits
