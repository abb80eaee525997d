#include "arrays/reader/open_views.h"

#include <cstdio>
#include <mutex>

namespace cairn::arrays {

OpenViews &OpenViews::all() {
  static auto *const views = new OpenViews;  // programs read to their very end
  return *views;
}

bool OpenViews::opened(int file, const char *name) {
  closed(file);  // whoever closed the last one of that number, we may not have seen it
  static thread_local bool inside = false;
  if (inside) return true;  // our own reading
  inside = true;
  bool good = true;
  if (PlainView::is_compressed(file)) {
    Result<std::shared_ptr<PlainView>> view = PlainView::of(file, name);
    good = view.has_value();
    if (good) {
      const std::unique_lock lock(lock_);
      views_[file] = *std::move(view);
      count_ = views_.size();
    } else {
      fprintf(stderr, "cairn arrays: %s: %s%s%s\n", name, view.error().message.c_str(),
              view.error().hint.empty() ? "" : "; ", view.error().hint.c_str());
    }
  }
  inside = false;
  return good;
}

std::shared_ptr<PlainView> OpenViews::of(int file) const {
  if (count_ == 0) return nullptr;
  const std::shared_lock lock(lock_);
  const auto found = views_.find(file);
  return found == views_.end() ? nullptr : found->second;
}

void OpenViews::closed(int file) {
  if (count_ == 0) return;
  std::shared_ptr<PlainView> last;  // closes its file, for which the lock must be free
  const std::unique_lock lock(lock_);
  const auto found = views_.find(file);
  if (found == views_.end()) return;
  last = std::move(found->second);
  views_.erase(found);
  count_ = views_.size();
}

void OpenViews::duplicated(int from, int to) {
  closed(to);
  if (count_ == 0) return;
  const std::unique_lock lock(lock_);
  const auto found = views_.find(from);
  if (found == views_.end()) return;
  views_[to] = std::shared_ptr<PlainView>(found->second);
  count_ = views_.size();
}

}  // namespace cairn::arrays
