#include "mpi/store/spool_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "base/file_size.h"
#include "base/spool_files.h"
#include "base/whole.h"
#include "mpi/store/descriptors.h"

namespace cairn::recorder {

bool write_file(const std::string &path, ByteView bytes) {
  if (!may_grow_to(bytes.size())) {
    errno = EFBIG;
    return false;
  }
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (file < 0) return false;
  int why = write_all(file, bytes);
  if (close(file) != 0 && why == 0) why = errno;
  if (why == 0) return true;
  unlink(path.c_str());
  errno = why;
  return false;
}

bool enter_spool(const char *folder) {
  if (mkdir(folder, 0700) != 0 && errno == ENOENT) {
    // The folder around it went as well.
    const std::string_view spool = folder;
    const std::string around(spool.substr(0, spool.find_last_of('/')));
    mkdir(around.c_str(), 0777);
    mkdir(folder, 0700);
  }
  struct stat status {};
  return lstat(folder, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid();
}

void leave_spool(const Config &config) {
  if (config.spool == nullptr || rmdir(config.spool) != 0) return;
  const std::string_view spool = config.spool;
  const std::string around(spool.substr(0, spool.find_last_of('/')));
  if (around == std::string(config.output) + ".spool") rmdir(around.c_str());
}

namespace {

void leave_line(const Run &run, std::string_view ending, const char *reason) {
  if (run.config.spool == nullptr) return;
  const std::string path = run.file_in(run.config.spool, std::string(ending.substr(1)));
  char line[256];
  snprintf(line, sizeof line, "%s%s", kReasonMagic.data(), reason);
  with_descriptors([&] {
    if (write_file(path, {reinterpret_cast<const uint8_t *>(line), strlen(line)})) return;
    // No room for a line: a file without one says so.
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file >= 0) close(file);
  });
}

/// ".1790000000000000000.alone": jobs may share a spool.
std::string alone_ending(const Run &run) { return "." + std::to_string(run.job) + std::string(kAloneEnding); }

}  // namespace

void tell_alone(const Run &run) { leave_line(run, alone_ending(run), "another user"); }

void take_back_alone(const Run &run) {
  if (run.config.spool != nullptr) unlink(run.file_in(run.config.spool, alone_ending(run).substr(1)).c_str());
}

bool is_told_alone(const Run &run) {
  bool told = false;
  if (run.config.spool == nullptr || run.size == 1) return told;
  with_descriptors([&] {
    const std::string ending = alone_ending(run);
    DIR *folder = opendir(run.config.spool);
    if (folder == nullptr) return;
    while (const dirent *entry = readdir(folder)) told = told || std::string_view(entry->d_name).ends_with(ending);
    closedir(folder);
  });
  return told;
}

void leave_reason(const Run &run, const char *reason) { leave_line(run, kReasonEnding, reason); }

void leave_lost(Run &run, const char *why) {
  run.lost = true;
  leave_line(run, kLostEnding, why);
}

void remove_lost(const Run &run) {
  if (run.lost) unlink(run.file_in(run.config.spool, std::string(kLostEnding.substr(1))).c_str());
}

}  // namespace cairn::recorder
