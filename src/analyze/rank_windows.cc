#include "analyze/rank_windows.h"

#include <memory>
#include <utility>

#include "base/as_size.h"

namespace cairn::analyze {
namespace {

constexpr int64_t kStarts = 0;
constexpr int64_t kCompletes = 1;

}  // namespace

std::unique_ptr<WindowFollower> RankWindows::follow(const MessageScope &scope, uint32_t rank, Posts *posts,
                                                    Gatherings *gatherings) {
  return std::make_unique<RankWindows>(scope, rank, posts, gatherings);
}

std::unique_ptr<WindowSync> RankWindows::read(const trace::Row &row, const RowScope &scope) const {
  const auto sync = window_sync(row, scope);
  return sync ? std::make_unique<WindowSync>(*sync) : nullptr;
}

void RankWindows::see_group(const trace::Row &row, const RowScope &scope, std::optional<uint32_t> communicator) {
  const RowAccess access(row, scope);
  if (const auto window = access.handle("win")) {
    const auto found = windows_.find(*window);
    communicator = found == windows_.end() ? std::nullopt : std::optional(found->second.communicator);
  }
  groups_.see(access, communicator ? scope_.members[*communicator] : nullptr);
}

void RankWindows::act(const WindowSync &sync, std::optional<uint32_t> communicator, MessageStep *step) {
  if (sync.role == WindowRole::makes) {
    windows_.erase(sync.window);
    if (!communicator || scope_.places[*communicator].empty()) return;
    Window &made = windows_[sync.window];
    made.communicator = *communicator;
    made.number = ++made_[*communicator];
    return;
  }
  const auto found = windows_.find(sync.window);
  if (found == windows_.end()) return;
  Window &window = found->second;
  switch (sync.role) {
    case WindowRole::fences:
      return meet(&window, sync.ends, step);
    case WindowRole::frees:
      meet(&window, true, step);
      windows_.erase(found);
      return;
    case WindowRole::posts:
      return post(&window, sync.group ? groups_.of(*sync.group) : nullptr, *step);
    case WindowRole::starts:
      window.entered = sync.group ? groups_.of(*sync.group) : nullptr;
      return send(window, kStarts, step);
    case WindowRole::completes:
      send(window, kCompletes, step);
      window.entered = nullptr;
      return;
    case WindowRole::waits:
      return complete(&window, step);
    case WindowRole::locks:
    case WindowRole::unlocks:
      return lock(&window, sync, step);
    default:
      return;
  }
}

void RankWindows::meet(Window *window, bool waits, MessageStep *step) {
  const auto place = scope_.places[window->communicator].find(rank_);
  if (place == scope_.places[window->communicator].end()) return;
  MeetingPart part;
  part.gathering = gatherings_.of({window->communicator, window->number, 0, window->meetings++}, step->call.function);
  part.gathering->meeting.customary = true;
  part.place = place->second;
  part.awaited.all = waits;
  step->enters.push_back(part);
  step->leaves.push_back(std::move(part));
}

void RankWindows::send(const Window &window, int64_t tag, MessageStep *step) {
  if (window.entered == nullptr) return;
  for (const uint32_t to : *window.entered) {
    auto message = std::make_shared<Sent>();
    message->from = step->call;
    message->timed = step->timed;
    step->sends.push_back({{window.communicator, rank_, to, tag, window.number}, message});
    step->completes.push_back(message);
  }
}

void RankWindows::post(Window *window, const Groups::Members &group, const MessageStep &step) {
  window->posted.clear();
  if (group == nullptr) return;
  for (const uint32_t from : *group) {
    for (const int64_t tag : {kStarts, kCompletes}) {
      auto receive = std::make_shared<Receive>();
      receive->posting = step.call;
      receive->communicator = window->communicator;
      receive->window = window->number;
      receive->from = from;
      receive->tag = tag;
      posts_.post(receive);
      window->posted.push_back(std::move(receive));
    }
  }
}

void RankWindows::complete(Window *window, MessageStep *step) {
  for (ReceivePointer &receive : window->posted) {
    posts_.received(receive, *receive->from, *receive->tag);
    step->arriving.push_back({std::move(receive)});
  }
  window->posted.clear();
}

void RankWindows::lock(Window *window, const WindowSync &sync, MessageStep *step) {
  LockCall made;
  made.call = step->call;
  made.communicator = window->communicator;
  made.window = window->number;
  if (sync.target) {
    const std::vector<uint32_t> &members = *scope_.members[window->communicator];
    if (*sync.target < 0 || as_size(*sync.target) >= members.size()) return;
    made.target = members[as_size(*sync.target)];
  }
  if (sync.role == WindowRole::locks) window->locks[sync.target] = sync.exclusive;
  const auto held = window->locks.find(sync.target);
  made.exclusive = held != window->locks.end() && held->second;
  made.gives_back = sync.role == WindowRole::unlocks;
  if (made.gives_back && held != window->locks.end()) window->locks.erase(held);
  step->lock = made;
}

}  // namespace cairn::analyze
