#include "arrays/layer/open_files.h"

#include <map>
#include <mutex>
#include <string_view>

namespace cairn::arrays {
namespace {

thread_local Opening *expected_opening = nullptr;
thread_local const char *expected_plain = nullptr;

}  // namespace

struct OpenFiles::State {
  std::mutex mutex;
  std::map<MPI_File, std::unique_ptr<Handle>> handles;
  std::map<int, std::pair<std::shared_ptr<VirtualFile>, std::string>> named;
};

/// Never destroyed: programs close files in destructors of their own.
OpenFiles::State *OpenFiles::state() {
  static auto *const state = new State;
  return state;
}

OpenFiles &OpenFiles::instance() {
  static OpenFiles files;
  return files;
}

void OpenFiles::expect(Opening *opening) { expected_opening = opening; }

Opening *OpenFiles::expected(const char *path) {
  return expected_opening != nullptr && path != nullptr && expected_opening->path == path ? expected_opening : nullptr;
}

void OpenFiles::expect_plain(const char *path) { expected_plain = path; }

bool OpenFiles::plain_expected(const char *path) {
  return expected_plain != nullptr && path != nullptr && std::string_view(expected_plain) == path;
}

void OpenFiles::add(MPI_File handle, Handle opened) {
  const std::scoped_lock lock(state()->mutex);
  state()->handles[handle] = std::make_unique<Handle>(std::move(opened));
}

Handle *OpenFiles::find(MPI_File handle) {
  const std::scoped_lock lock(state()->mutex);
  const auto found = state()->handles.find(handle);
  return found == state()->handles.end() ? nullptr : found->second.get();
}

void OpenFiles::remove(MPI_File handle) {
  const std::scoped_lock lock(state()->mutex);
  state()->handles.erase(handle);
}

void OpenFiles::name(int ncid, std::shared_ptr<VirtualFile> file, const std::string &path) {
  const std::scoped_lock lock(state()->mutex);
  state()->named[ncid] = {std::move(file), path};
}

std::shared_ptr<VirtualFile> OpenFiles::find(int ncid, std::string *path) {
  const std::scoped_lock lock(state()->mutex);
  const auto found = state()->named.find(ncid);
  if (found == state()->named.end()) return nullptr;
  if (path != nullptr) *path = found->second.second;
  return found->second.first;
}

void OpenFiles::forget(int ncid) {
  const std::scoped_lock lock(state()->mutex);
  state()->named.erase(ncid);
}

}  // namespace cairn::arrays
