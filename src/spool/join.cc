#include "spool/join.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include "analyze/sources.h"
#include "base/in_order.h"
#include "base/whole.h"
#include "spec/ids.h"
#include "trace/file/disk.h"
#include "trace/file/file.h"
#include "trace/read/edit.h"

namespace cairn::spool {
namespace fs = std::filesystem;

namespace {

Error at(ErrorKind kind, std::string message, const std::string &path, std::string hint = {}) {
  return {kind, std::move(message), path, Error::kNoOffset, std::move(hint)};
}

/// Without the classes in bundles, which may be too many for memory and are what they are.
Result<trace::Trace> opened(const TraceBytes &from, const std::string &path) {
  return trace::Trace::from_bytes(from.bytes, path, from.absent, from.blocks, trace::no_bundles);
}

}  // namespace

Result<TraceBytes> read_trace(const std::string &path) {
  auto file = trace::read_without_blocks(path);
  if (!file) return tl::unexpected(file.error());
  return TraceBytes{std::move(file->bytes), file->absent, path};
}

namespace {

/// Merges neighbours pairwise, so that each level works on parts of about one size.
Result<trace::Part> reduce(std::vector<trace::Part> parts) {
  while (parts.size() > 1) {
    std::vector<trace::Part> next;
    for (size_t i = 0; i + 1 < parts.size(); i += 2) {
      auto merged = trace::Part::merge(std::move(parts[i]), std::move(parts[i + 1]));
      if (!merged) return tl::unexpected(merged.error());
      next.push_back(std::move(*merged));
    }
    if (parts.size() % 2 == 1) next.push_back(std::move(parts.back()));
    parts = std::move(next);
  }
  if (parts.empty()) return fail(ErrorKind::internal, "nothing to merge");
  return std::move(parts.front());
}

/// Some of a job's parts, neighbours, merged.
struct Merged {
  std::optional<trace::Part> part;  ///< nothing if none of them is sound
  std::vector<const PartFile *> files;
  std::vector<Error> damaged;
};

Result<Merged> parse_and_reduce(const std::vector<const PartFile *> &files) {
  Merged merged;
  std::vector<trace::Part> parts;
  for (const PartFile *file : files) {
    auto part = trace::Part::parse(ByteView(file->bytes).subspan(file->offset));
    if (!part) {
      part.error().path = file->path;
      if (part.error().offset != Error::kNoOffset) part.error().offset += file->offset;
      merged.damaged.push_back(part.error());
      continue;
    }
    merged.files.push_back(file);
    parts.push_back(std::move(*part));
  }
  if (parts.empty()) return merged;
  auto whole = reduce(std::move(parts));
  if (!whole) return tl::unexpected(whole.error());
  merged.part = *std::move(whole);
  return merged;
}

/// "complete" if all ranks are there and say so.
std::string status_of(const std::vector<const PartFile *> &files) {
  for (const PartFile *file : files) {
    if (file->header.status != "complete") return file->header.status;
  }
  return files.size() == files.front()->header.size ? "complete" : "incomplete";
}

/// A trace of that job's sound parts.
Result<Joined> join(const Job &job) {
  constexpr size_t kFewest = 8;  // parts worth a thread
  const size_t threads = std::clamp<size_t>(job.parts.size() / kFewest, 1, usable_cores());
  Joined joined;
  std::vector<trace::Part> parts;
  std::vector<const PartFile *> sound;
  std::optional<Error> wrong;
  // Contiguous blocks of ranks concatenate; interleaved ones would cost.
  const auto block = [&](size_t i) {
    const auto begin = job.parts.begin() + static_cast<std::ptrdiff_t>(job.parts.size() * i / threads);
    const auto end = job.parts.begin() + static_cast<std::ptrdiff_t>(job.parts.size() * (i + 1) / threads);
    return parse_and_reduce({begin, end});
  };
  in_order(threads, block, [&](size_t, Result<Merged> &&merged) {
    if (!merged) {
      wrong = merged.error();
      return false;
    }
    if (merged->part) parts.push_back(*std::move(merged->part));
    sound.insert(sound.end(), merged->files.begin(), merged->files.end());
    joined.damaged.insert(joined.damaged.end(), merged->damaged.begin(), merged->damaged.end());
    return true;
  });
  if (wrong) return tl::unexpected(*std::move(wrong));
  joined.ranks = sound.size();
  if (sound.empty()) return joined;
  auto merged = reduce(std::move(parts));
  if (!merged) return tl::unexpected(merged.error());
  const SpoolHeader &header = sound.front()->header;
  trace::RunInfo run;
  run.command = header.command;
  run.mpi = header.mpi;
  run.recorder = header.recorder;
  run.timing = header.timing;
  run.status = status_of(sound);
  run.job = header.launcher_job;
  run.spawned_by = header.spawned_by;
  run.spawning = {spec::function_id::Comm_spawn, spec::function_id::Comm_spawn_multiple};
  uint64_t start = UINT64_MAX;
  for (const PartFile *part : sound) {
    start = std::min(start, part->header.job != 0 ? part->header.job : part->header.start_unix_ns);
  }
  run.start_unix_ns = static_cast<int64_t>(start);
  // How long it took stands with the ranks: read it back before writing for good.
  auto without_time = merged->to_file(run);
  if (!without_time) return tl::unexpected(without_time.error());
  auto trace = trace::Trace::from_bytes(*std::move(without_time), "merged parts");
  if (!trace) return tl::unexpected(trace.error());
  for (const uint32_t rank : trace->ranks()) run.wall_ns = std::max(run.wall_ns, trace->rank_info(rank).wall_ns);
  auto file = merged->to_file(run);
  if (!file) return tl::unexpected(file.error());
  joined.trace = TraceBytes{*std::move(file), 0, {}};
  return joined;
}

}  // namespace

Result<Joined> trace_of(const Run &run) {
  if (run.trace.empty()) return join(run.job);
  auto bytes = read_trace(run.trace);
  if (!bytes) return tl::unexpected(bytes.error());
  const auto trace = opened(*bytes, run.trace);
  return Joined{trace ? trace->ranks().size() : 1, *std::move(bytes), {}};
}

Result<TraceBytes> with_epilogues(TraceBytes bytes, const std::string &path, const std::vector<PartFile> &epilogues) {
  if (epilogues.empty()) return bytes;
  auto trace = opened(bytes, path);
  if (!trace) return tl::unexpected(trace.error());
  std::vector<const PartFile *> files;
  for (const PartFile &each : epilogues) {
    if (is_of(each, *trace)) files.push_back(&each);
  }
  if (files.empty()) return bytes;
  std::sort(files.begin(), files.end(),
            [](const PartFile *a, const PartFile *b) { return a->header.rank < b->header.rank; });
  auto later = parse_and_reduce(files);
  if (!later) return tl::unexpected(later.error());
  if (!later->damaged.empty()) return tl::unexpected(later->damaged.front());
  if (trace->damage()) return tl::unexpected(*trace->damage());
  auto merged = trace::Part::merge(trace::to_part(*trace), *std::move(later->part));
  if (!merged) return tl::unexpected(merged.error());
  auto file = merged->to_file(trace->run(), bytes.absent, trace::bundles_begin(*trace));
  if (!file) return tl::unexpected(file.error());
  bytes.bytes = *std::move(file);
  return bytes;
}

Result<TraceBytes> with_sources(TraceBytes bytes, const std::string &path) {
  auto trace = opened(bytes, path);
  if (!trace) return tl::unexpected(trace.error());
  const auto resolved = analyze::Sources(*trace).resolved();
  if (!resolved.empty()) bytes.bytes = trace::with_sources(*trace, resolved);
  return bytes;
}

namespace {

/// 0 or errno.
int write_whole(int file, const TraceBytes &trace) {
  if (trace.absent == 0) return write_all(file, trace.bytes);
  const auto blocks = trace::Disk::open(trace.blocks);
  if (!blocks) return errno;
  int number = write_all(file, ByteView(trace.bytes).first(trace::kHeaderBytes));
  constexpr uint64_t kStep = 1 << 20;
  for (uint64_t done = 0; done < trace.absent && number == 0;) {
    const auto bytes = (*blocks)->read(trace::kHeaderBytes + done, std::min(kStep, trace.absent - done));
    if (!bytes) return errno;
    if (bytes->empty()) return EIO;  // it has become shorter
    number = write_all(file, *bytes);
    done += bytes->size();
  }
  return number != 0 ? number : write_all(file, ByteView(trace.bytes).subspan(trace::kHeaderBytes));
}

}  // namespace

Result<void> may_write(const std::string &path, const std::string &shown, bool force) {
  const auto refuse = [&](const char *message, const char *hint) {
    return tl::unexpected(Error{ErrorKind::environment, message, shown, Error::kNoOffset, hint});
  };
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) return refuse("this is a folder", "name a file with -o");
  if (!fs::exists(status)) return {};
  if (!force) return refuse("it exists already", "choose another name with -o, or --force");
  if (!fs::is_regular_file(status) || !trace::begins_as_trace(path)) {
    if (!fs::exists(path, error)) return {};  // another process of the job has set it aside meanwhile
    return refuse("it exists already, and is no trace", "choose another name with -o: --force overwrites traces alone");
  }
  return {};
}

Result<void> write_trace(const std::string &path, const TraceBytes &bytes, bool force) {
  if (force) {
    if (auto may = may_write(path, path, force); !may) return may;
  }
  const std::string temporary = fmt::format("{}.{}.tmp", path, getpid());
  const auto complain = [&](int number) {
    unlink(temporary.c_str());
    return tl::unexpected<Error>(at(ErrorKind::environment, fmt::format("cannot be written: {}", std::strerror(number)),
                                    path, number == ENOSPC ? "make room on the disk" : "choose another place with -o"));
  };
  const int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return complain(errno);
  int number = write_whole(file, bytes);
  if (number == 0 && fsync(file) != 0 && errno != EINVAL) number = errno;
  if (close(file) != 0 && number == 0) number = errno;
  if (number != 0) return complain(number);
  if (force) {
    if (rename(temporary.c_str(), path.c_str()) != 0) return complain(errno);
    return {};
  }
  // A link fails where a rename would overwrite; file systems without links get the check before.
  if (link(temporary.c_str(), path.c_str()) == 0) {
    unlink(temporary.c_str());
    return {};
  }
  if (errno == EEXIST || access(path.c_str(), F_OK) == 0) {
    unlink(temporary.c_str());
    return tl::unexpected<Error>(
        at(ErrorKind::environment, "it exists already", path, "choose another name with -o, or --force"));
  }
  if (rename(temporary.c_str(), path.c_str()) != 0) return complain(errno);
  return {};
}

Result<std::string> set_aside(const std::string &path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error) || !trace::begins_as_trace(path)) return std::string();
  std::string old = path + ".old";
  if (auto may = may_write(old, old, true); !may) return tl::unexpected(may.error());
  fs::rename(path, old, error);
  if (error == std::errc::no_such_file_or_directory) return std::string();  // another process was faster
  if (error)
    return tl::unexpected<Error>(at(ErrorKind::environment, "cannot be renamed: " + error.message(), path, ""));
  return old;
}

std::string numbered(const std::string &path, size_t number) {
  if (number <= 1) return path;
  const fs::path whole(path);
  const std::string name = fmt::format("{}-{}{}", whole.stem().string(), number, whole.extension().string());
  return (whole.parent_path() / name).string();
}

}  // namespace cairn::spool
