#include "replay/completion.h"

#include <algorithm>
#include <cstring>
#include <deque>

namespace cairn::replay {

Word load(const char *from, size_t bytes) {
  if (bytes == sizeof(int32_t)) {
    int32_t value = 0;
    std::memcpy(&value, from, sizeof value);
    return static_cast<Word>(static_cast<int64_t>(value));
  }
  Word value = 0;
  std::memcpy(&value, from, bytes);
  return value;
}

namespace {

void hide_others(Plan &plan) {
  for (Plan::HandleArray &array : plan.handle_arrays) {
    array.hidden.assign(array.slots.size(), false);
    const auto handle_at = [&](size_t i) { return load(array.buffer.data() + i * array.bytes, array.bytes); };
    std::vector<bool> wanted(array.slots.size(), false);
    for (const uint32_t place : plan.completed) {
      if (place >= wanted.size()) continue;
      wanted[place] = true;
      wait_until([&] { return is_done(handle_at(place)); });
    }
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i]) continue;
      array.hidden[i] = true;
      array.kept.resize(array.slots.size());
      array.kept[i] = handle_at(i);
      std::memcpy(array.buffer.data() + i * array.bytes, &array.null, array.bytes);
    }
  }
}

}  // namespace

void wait_for_outcome(Plan &plan, const Word *words) {
  switch (plan.await) {
    case Await::all_requests:
      for (const Plan::HandleUse &use : plan.handles) {
        if (plan.function->parameters[use.parameter].kind != spec::Kind::request) continue;
        const Word request = use.by_pointer ? load(reinterpret_cast<const char *>(words[use.parameter]), use.bytes)
                                            : words[use.parameter];
        wait_until([&] { return is_done(request); });
      }
      for (const Plan::HandleArray &array : plan.handle_arrays) {
        for (size_t i = 0; i < array.slots.size(); ++i) {
          wait_until([&] { return is_done(load(array.buffer.data() + i * array.bytes, array.bytes)); });
        }
      }
      return;
    case Await::some_requests:
      hide_others(plan);
      return;
    case Await::message:
      wait_until([&] { return is_there(plan.awaited_source, plan.awaited_tag, words[2]); });
      return;
    case Await::partition:
      wait_until([&] { return has_arrived(words[0], static_cast<int>(words[1])); });
      return;
    case Await::nothing:
    case Await::success:
      return;
  }
}

bool has_persistent(const Plan &plan) {
  return std::any_of(plan.handle_arrays.begin(), plan.handle_arrays.end(), [](const Plan::HandleArray &array) {
    return std::any_of(array.slots.begin(), array.slots.end(),
                       [](const Slot *slot) { return slot != nullptr && slot->persistent; });
  });
}

void complete_as_many(Plan *plan, const Word *words) {
  for (Plan::HandleArray &array : plan->handle_arrays) {
    if (!array.changes) continue;
    const auto is_done_at = [&](size_t i) {
      return load(array.buffer.data() + i * array.bytes, array.bytes) == array.null;
    };
    std::vector<size_t> active;  // before the call
    for (size_t i = 0; i < array.slots.size(); ++i) {
      if (array.slots[i] != nullptr) active.push_back(i);
    }
    const auto done = [&] { return static_cast<size_t>(std::count_if(active.begin(), active.end(), is_done_at)); };
    const size_t wanted = std::min(plan->completed.size(), active.size());
    while (done() < wanted) {
      if (plan->invoke(words) != 0) break;
    }
    // A name that the recording goes on with, whose request is done, goes to one that it takes for done.
    array.renamed.assign(array.slots.size(), nullptr);
    std::deque<size_t> without;
    const auto was_completed = [&](size_t i) {
      return std::find(plan->completed.begin(), plan->completed.end(), i) != plan->completed.end();
    };
    for (const size_t i : active) {
      if (is_done_at(i) && !was_completed(i)) without.push_back(i);
    }
    for (const size_t i : active) {
      if (is_done_at(i) || !was_completed(i) || without.empty()) continue;
      array.renamed[i] = array.slots[without.front()];
      without.pop_front();
    }
  }
}

}  // namespace cairn::replay
