#include "spool/contents.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <tuple>

#include "base/spool_files.h"
#include "mpi/store/arena_file.h"
#include "spool/folder.h"
#include "spool/recovery.h"

namespace cairn::spool {
namespace fs = std::filesystem;

namespace {

/// run.cairn before run-2.cairn before run-10.cairn.
bool job_order(const std::string &a, const std::string &b) { return std::tuple(a.size(), a) < std::tuple(b.size(), b); }

Result<Bytes> bytes_of(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  Bytes bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in.good() && !in.eof()) {
    return tl::unexpected(Error{
        ErrorKind::environment, fmt::format("cannot be read: {}", std::strerror(errno)), path, Error::kNoOffset, {}});
  }
  return bytes;
}

std::vector<std::string> files_in(const std::string &folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto &entry : fs::directory_iterator(folder, error)) paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end(), job_order);
  return paths;
}

std::string name_of(const std::string &path) { return fs::path(path).filename().string(); }

bool is_part(std::string_view name) { return name.ends_with(kPartEnding) || name.ends_with(kEpilogueEnding); }

bool is_reason(std::string_view name) { return name.starts_with("unrecorded.") || name.ends_with(kReasonEnding); }

void add_part(const std::string &path, Contents &to) {
  auto bytes = bytes_of(path);
  if (!bytes) return to.damaged.push_back(bytes.error());
  auto part = part_file(path, *std::move(bytes));
  if (!part) return to.damaged.push_back(part.error());
  to.files.push_back(path);
  const bool main = part->header.kind == SpoolHeader::Kind::main;
  (main ? to.parts : to.epilogues).push_back(*std::move(part));
}

/// `has_part`: the process wrote its part before it was killed, so that at most what came after is new.
void add_arena(const std::string &path, bool has_part, std::optional<int64_t> ended_unix_ns, Contents &to) {
  auto part = recover(path, ended_unix_ns);
  if (!part && !has_part) return to.damaged.push_back(part.error());
  to.files.push_back(path);
  if (!part || part->bytes.empty()) return;
  const bool killed = part->header.kind == SpoolHeader::Kind::main;
  if (killed && has_part) return;
  (killed ? to.parts : to.epilogues).push_back(*std::move(part));
}

/// The line that a process left; nothing if there was no room for one.
std::string line_of(const std::string &path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line.erase(0, kReasonMagic.size());
}

void add_lost(const std::string &path, Contents &to) {
  const std::string line = line_of(path);
  ++to.lost[line.empty() ? "its disk has no room; make room there, or choose another place with --spool" : line];
  to.files.push_back(path);
}

void add_reason(const std::string &path, Contents &to) {
  std::string line = line_of(path);
  if (line.empty()) {
    line = "there was no room on the disk of " + fs::path(path).parent_path().string() +
           " to write the trace, or to say so";
  }
  if (std::find(to.reasons.begin(), to.reasons.end(), line) == to.reasons.end()) to.reasons.push_back(line);
  to.files.push_back(path);
}

/// `node1.17.`, what begins the names of all that a process leaves, of the path of its arena.
std::string process_of(const std::string &arena) {
  return name_of(arena).substr(0, name_of(arena).size() - kArenaEnding.size() + 1);
}

void add(const std::string &path, Contents &to) {
  const std::string name = name_of(path);
  switch (owner_of(path)) {
    case Owner::cairn:
      break;
    case Owner::stranger:
      return to.damaged.push_back({ErrorKind::environment, "it belongs to another user, so it is left alone", path,
                                   Error::kNoOffset, "let its owner merge it"});
    case Owner::unknown:
      // What only looks like a recording's file is told, and kept.
      if (is_part(name)) return add_part(path, to);
      if (name.ends_with(kArenaEnding)) return add_arena(path, false, std::nullopt, to);
      return;
  }
  if (name.ends_with(kTraceEnding)) {
    // In a folder of the user's own lie the user's own traces.
    const bool made_there = name_of(fs::path(path).parent_path().string()).starts_with(kSpoolFolder);
    if (made_there) to.traces.push_back(path);
  } else if (is_part(name)) {
    add_part(path, to);
  } else if (is_reason(name)) {
    add_reason(path, to);
  } else if (name.ends_with(kLostEnding)) {
    add_lost(path, to);
  } else if (name.ends_with(kGpuEnding)) {
    std::error_code error;
    if (fs::file_size(path, error) != 0) to.gpu.push_back(path);
    to.files.push_back(path);
  } else if (!name.ends_with(kArenaEnding)) {
    to.files.push_back(path);  // read together with their arena, or never finished
  }
}

}  // namespace

void Contents::append(Contents other) {
  const auto all = [](auto &to, auto &from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  };
  all(traces, other.traces);
  all(parts, other.parts);
  all(epilogues, other.epilogues);
  all(gpu, other.gpu);
  all(reasons, other.reasons);
  for (const auto &[why, processes] : other.lost) lost[why] += processes;
  all(files, other.files);
  all(damaged, other.damaged);
}

Result<PartFile> part_file(const std::string &path, Bytes bytes) {
  ByteReader in(bytes);
  auto header = read_spool_header(in);
  if (!header) {
    header.error().path = path;
    return tl::unexpected(header.error());
  }
  return PartFile{path, *std::move(header), std::move(bytes), in.position()};
}

Contents read_folder(const std::string &folder, Deaths deaths) {
  Contents contents;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const std::optional<int64_t> ended_unix_ns =
      deaths == Deaths::now ? std::optional(int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec) : std::nullopt;
  const std::vector<std::string> paths = files_in(folder);
  for (const std::string &path : paths) add(path, contents);
  for (const std::string &path : paths) {
    if (!name_of(path).ends_with(kArenaEnding) || owner_of(path) != Owner::cairn) continue;
    const std::string part = process_of(path) + std::string(kPartEnding.substr(1));
    add_arena(path,
              std::any_of(contents.parts.begin(), contents.parts.end(),
                          [&](const PartFile &each) { return name_of(each.path) == part; }),
              ended_unix_ns, contents);
  }
  return contents;
}

Contents read_file(const std::string &path) {
  Contents contents;
  if (name_of(path).ends_with(kArenaEnding)) {
    add_arena(path, false, std::nullopt, contents);
  } else if (name_of(path).ends_with(kGpuEnding)) {
    contents.gpu.push_back(path);
  } else {
    add_part(path, contents);
  }
  return contents;
}

std::vector<std::string> held_arenas(const std::string &folder) {
  std::vector<std::string> held;
  for (const std::string &path : files_in(folder)) {
    if (name_of(path).ends_with(kArenaEnding) && is_held(path)) held.push_back(path);
  }
  return held;
}

bool is_held(const std::string &file) { return owner_of(file) == Owner::cairn && recorder::is_held(file); }

size_t living_in(const std::string &folder) {
  std::set<std::string> processes;
  for (const std::string &path : files_in(folder)) {
    // node1.17 of node1.17.arena and node1.17.1.gpu
    fs::path name = fs::path(path).filename();
    if (name.extension() == kGpuEnding) name = name.stem();
    const bool may_be_held = name_of(path).ends_with(kArenaEnding) || name_of(path).ends_with(kGpuEnding);
    if (may_be_held && is_held(path)) processes.insert(name.stem().string());
  }
  return processes.size();
}

}  // namespace cairn::spool
