#include "spool/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include "base/spool_files.h"
#include "mpi/store/arena_file.h"
#include "trace/file/file.h"

namespace cairn::spool {
namespace fs = std::filesystem;

namespace {

Error cannot_make(const std::string &path, int number) {
  return {ErrorKind::environment, fmt::format("cannot make the spool: {}", std::strerror(number)), path,
          Error::kNoOffset, "choose a place that can be written"};
}

/// `place` and what is missing around it, like mkdir -p; those that were made.
Result<std::vector<std::string>> make_around(const std::string &place) {
  std::vector<std::string> made;
  std::error_code error;
  fs::path missing(place);
  while (!missing.empty() && !fs::exists(missing, error) && missing != missing.parent_path()) {
    made.insert(made.begin(), missing.string());
    missing = missing.parent_path();
  }
  for (const std::string &each : made) {
    if (mkdir(each.c_str(), 0777) != 0 && errno != EEXIST) return tl::unexpected(cannot_make(place, errno));
  }
  return made;
}

/// A folder of this user, and no link to one.
bool is_own_folder(const std::string &path) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid();
}

bool is_named_ours(const std::string &path) { return fs::path(path).filename().string().starts_with(kSpoolFolder); }

/// How files of that name begin; nothing if no file of Cairn's is called so.
std::optional<std::string_view> beginning(std::string_view name) {
  if (name.starts_with("unrecorded.") || name.ends_with(kReasonEnding) || name.ends_with(kLostEnding) ||
      name.ends_with(kAloneEnding)) {
    return kReasonMagic;
  }
  if (name.ends_with(kTraceEnding)) return trace::file_magic();
  for (const std::string_view ending : {kPartEnding, kEpilogueEnding, kSegmentEnding}) {
    if (name.ends_with(ending)) return kPartMagic;
  }
  if (name.ends_with(kTimingEnding)) return kTimingMagic;
  if (name.ends_with(kGpuEnding)) return kGpuMagic;
  return std::nullopt;
}

/// What the name is without ".partial"; of a trace, which many ranks write, without ".<host>.<pid>.partial".
std::string_view finished_name(std::string_view name) {
  if (!name.ends_with(kPartialEnding)) return name;
  name.remove_suffix(kPartialEnding.size());
  if (beginning(name)) return name;
  const size_t trace = name.rfind(std::string(kTraceEnding) + ".");
  return trace == std::string_view::npos ? name : name.substr(0, trace + kTraceEnding.size());
}

/// Whether what lies there begins so; of a file that is being written nothing, or zeros, may be there yet.
bool begins(const std::string &path, std::string_view with, bool partial) {
  char front[16] = {};
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return false;
  const ssize_t got = pread(file, front, with.size(), 0);
  close(file);
  const std::string_view seen(front, static_cast<size_t>(std::max<ssize_t>(got, 0)));
  if (partial && std::all_of(seen.begin(), seen.end(), [](char c) { return c == '\0'; })) return true;
  return seen == with;
}

}  // namespace

Result<Folder> make_folder(const std::string &place) {
  auto around = make_around(place);
  if (!around) return tl::unexpected(around.error());
  std::string path = place + "/" + std::string(kSpoolFolder) + "XXXXXX";
  if (mkdtemp(path.data()) == nullptr) {
    const int why = errno;
    remove_if_empty({place, *around});
    return tl::unexpected(cannot_make(place, why));
  }
  return Folder{path, *std::move(around)};
}

Result<Folder> share_folder(const std::string &place, std::string_view name) {
  auto around = make_around(place);
  if (!around) return tl::unexpected(around.error());
  const std::string path = place + "/" + std::string(kSpoolFolder) + std::string(name);
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return tl::unexpected(cannot_make(place, errno));
  if (!is_own_folder(path)) {
    return tl::unexpected(Error{ErrorKind::environment, "it is no folder of yours", path, Error::kNoOffset,
                                "choose another place with --spool"});
  }
  return Folder{path, *std::move(around)};
}

void remove_if_empty(const Folder &folder) {
  rmdir(folder.path.c_str());
  for (auto each = folder.around.rbegin(); each != folder.around.rend(); ++each) rmdir(each->c_str());
}

std::vector<std::string> own_folders(const std::string &place) {
  std::error_code error;
  if (is_named_ours(place)) return {place};
  std::vector<std::string> found;
  for (const auto &entry : fs::directory_iterator(place, error)) {
    const std::string path = entry.path().string();
    if (is_named_ours(path) && is_own_folder(path) && !fs::is_empty(path, error)) found.push_back(path);
  }
  std::sort(found.begin(), found.end());
  return found;
}

Owner owner_of(const std::string &file) {
  struct stat status {};
  if (lstat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return Owner::unknown;
  if (status.st_uid != geteuid()) return Owner::stranger;
  const std::string name = fs::path(file).filename().string();
  if (name.ends_with(kArenaEnding)) return recorder::is_arena(file) ? Owner::cairn : Owner::unknown;
  const std::string_view finished = finished_name(name);
  const auto magic = beginning(finished);
  // A reason for which the disk had no room is empty, and what a process was killed over when it had just made it.
  const bool may_be_empty =
      finished.size() != name.size() || ((magic == kReasonMagic || magic == kGpuMagic) && status.st_size == 0);
  return magic && begins(file, *magic, may_be_empty) ? Owner::cairn : Owner::unknown;
}

void remove_own(const std::string &file) {
  if (owner_of(file) == Owner::cairn) unlink(file.c_str());
}

}  // namespace cairn::spool
