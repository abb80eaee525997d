#include "arrays/reader/open_views.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <mutex>

namespace cairn::arrays {

OpenViews &OpenViews::all() {
  static auto *const views = new OpenViews;  // programs read to their very end
  return *views;
}

namespace {
thread_local bool inside = false;  ///< our own reading
}

bool OpenViews::opened(int file, const char *name) {
  if (inside) return true;
  closed(file);  // whoever closed the last one of that number, we may not have seen it
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

std::shared_ptr<PlainView> OpenViews::of(int file) {
  if (file == STDIN_FILENO && !inside && !looked_at_input_.exchange(true)) {
    const int error = errno;
    if ((fcntl(file, F_GETFL) & O_ACCMODE) == O_RDONLY) (void)opened(file, "standard input");
    errno = error;
  }
  if (count_ == 0) return nullptr;
  const std::shared_lock lock(lock_);
  const auto found = views_.find(file);
  return found == views_.end() ? nullptr : found->second;
}

void OpenViews::closed(int file) {
  if (file == STDIN_FILENO) looked_at_input_ = true;
  if (count_ == 0) return;
  std::shared_ptr<PlainView> last;  // closes its file, for which the lock must be free
  const std::unique_lock lock(lock_);
  const auto found = views_.find(file);
  if (found == views_.end()) return;
  last = std::move(found->second);
  views_.erase(found);
  count_ = views_.size();
}

std::optional<off_t> OpenViews::size_of(const FileIdentity &identity) const {
  if (inside) return identity.size;
  const std::shared_lock lock(lock_);
  const auto found = sizes_.find(identity);
  return found == sizes_.end() ? std::nullopt : std::optional(found->second);
}

off_t OpenViews::find_size(int file, const char *name, const FileIdentity &identity) {
  constexpr size_t kMost = 1024;
  inside = true;
  off_t size = identity.size;
  if (PlainView::is_compressed(file)) {
    if (const auto view = PlainView::of(file, name)) size = static_cast<off_t>((*view)->size());
  }
  inside = false;
  const std::unique_lock lock(lock_);
  if (sizes_.size() >= kMost) sizes_.clear();
  sizes_[identity] = size;
  return size;
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
