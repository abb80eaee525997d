#include "cli/spool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <thread>

#include "analyze/sources.h"
#include "base/whole.h"
#include "cli/recovery.h"
#include "gpu/file/spooled.h"
#include "trace/file/disk.h"
#include "trace/file/file.h"
#include "trace/read/edit.h"

namespace cairn::cli {
namespace fs = std::filesystem;

namespace {

constexpr uint64_t kOneJob = 60'000'000'000;  // ns between the first and the last start

Error at(ErrorKind kind, std::string message, const std::string &path, std::string hint = {}) {
  return {kind, std::move(message), path, Error::kNoOffset, std::move(hint)};
}

/// run.cairn before run-2.cairn before run-10.cairn.
bool job_order(const std::string &a, const std::string &b) { return std::tuple(a.size(), a) < std::tuple(b.size(), b); }

Result<Bytes> read_file(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  Bytes bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in.good() && !in.eof()) {
    return tl::unexpected<Error>(
        at(ErrorKind::environment, fmt::format("cannot be read: {}", std::strerror(errno)), path));
  }
  return bytes;
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

Result<SpoolPart> spool_part(const std::string &path, Bytes bytes) {
  ByteReader in(bytes);
  auto header = read_spool_header(in);
  if (!header) {
    header.error().path = path;
    return tl::unexpected(header.error());
  }
  return SpoolPart{path, *std::move(header), std::move(bytes), in.position()};
}

void read_spool_file(const std::string &path, Spool &spool) {
  auto bytes = read_file(path);
  if (!bytes) {
    spool.damaged.push_back(bytes.error());
    return;
  }
  auto part = spool_part(path, *std::move(bytes));
  if (!part) {
    spool.damaged.push_back(part.error());
    return;
  }
  spool.files.push_back(path);
  (part->header.kind == SpoolHeader::Kind::main ? spool.parts : spool.epilogues).push_back(*std::move(part));
}

Spool read_spool(const std::string &folder) {
  Spool spool;
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto &entry : fs::directory_iterator(folder, error)) paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end(), job_order);
  std::set<std::string> reasons;
  for (const std::string &path : paths) {
    const std::string name = fs::path(path).filename().string();
    if (name.ends_with(".cairn")) {
      spool.traces.push_back(path);
    } else if (name.ends_with(".part") || name.ends_with(".epilogue")) {
      read_spool_file(path, spool);
    } else if (name.ends_with(".segment") || name.ends_with(".timing")) {
      spool.files.push_back(path);  // read together with their arena
    } else if (name.ends_with(gpu::kSpooledEnding)) {
      spool.gpu.push_back(path);
      spool.files.push_back(path);
    } else if (name.ends_with(".arena")) {
      spool.arenas.push_back(path);
    } else if (name.starts_with("unrecorded.") || name.ends_with(".unrecorded")) {
      std::ifstream in(path);
      std::string line;
      std::getline(in, line);
      if (line.empty()) line = "there was no room on the disk of " + folder + " to write the trace, or to say so";
      if (!line.empty() && reasons.insert(line).second) spool.reasons.push_back(line);
      spool.files.push_back(path);
    }
  }
  // A process that aborts writes its part and dies with its arena still there: that one holds nothing more.
  const auto has_part = [&](const std::string &arena) {
    const std::string part = fs::path(arena).replace_extension(".part").string();
    return std::any_of(spool.parts.begin(), spool.parts.end(),
                       [&](const SpoolPart &each) { return each.path == part; });
  };
  for (const std::string &arena : spool.arenas) {
    if (has_part(arena)) spool.files.push_back(arena);
  }
  std::erase_if(spool.arenas, has_part);
  std::vector<std::string> lost;
  for (const std::string &arena : spool.arenas) {
    auto part = recover(arena);
    if (!part) {
      spool.damaged.push_back(part.error());
      lost.push_back(arena);
      continue;
    }
    spool.files.push_back(arena);
    if (part->bytes.empty()) continue;
    const bool killed = part->header.kind == SpoolHeader::Kind::main;
    if (killed) ++spool.recovered;
    (killed ? spool.parts : spool.epilogues).push_back(std::move(*part));
  }
  spool.arenas = std::move(lost);
  return spool;
}

std::vector<Job> jobs_of(const std::vector<SpoolPart> &parts) {
  std::vector<const SpoolPart *> ordered;
  ordered.reserve(parts.size());
  for (const SpoolPart &part : parts) ordered.push_back(&part);
  std::sort(ordered.begin(), ordered.end(), [](const SpoolPart *a, const SpoolPart *b) {
    return std::tuple(a->header.start_unix_ns, a->header.rank) < std::tuple(b->header.start_unix_ns, b->header.rank);
  });
  std::vector<Job> jobs;
  std::vector<std::set<uint32_t>> ranks;
  for (const SpoolPart *part : ordered) {
    size_t chosen = jobs.size();
    for (size_t i = 0; i < jobs.size() && chosen == jobs.size(); ++i) {
      const SpoolHeader &first = jobs[i].parts.front()->header;
      const bool fits = first.command == part->header.command && first.size == part->header.size &&
                        part->header.start_unix_ns - first.start_unix_ns <= kOneJob &&
                        ranks[i].count(part->header.rank) == 0;
      if (fits) chosen = i;
    }
    if (chosen == jobs.size()) {
      jobs.emplace_back();
      ranks.emplace_back();
    }
    jobs[chosen].parts.push_back(part);
    ranks[chosen].insert(part->header.rank);
  }
  for (Job &job : jobs) {
    std::sort(job.parts.begin(), job.parts.end(),
              [](const SpoolPart *a, const SpoolPart *b) { return a->header.rank < b->header.rank; });
  }
  return jobs;
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

Result<trace::Part> parse_and_reduce(const std::vector<const SpoolPart *> &files) {
  std::vector<trace::Part> parts;
  for (const SpoolPart *file : files) {
    auto part = trace::Part::parse(ByteView(file->bytes).subspan(file->offset));
    if (!part) {
      part.error().path = file->path;
      if (part.error().offset != Error::kNoOffset) part.error().offset += file->offset;
      return tl::unexpected(part.error());
    }
    parts.push_back(std::move(*part));
  }
  return reduce(std::move(parts));
}

/// "complete" if all ranks are there and say so.
std::string status_of(const Job &job) {
  for (const SpoolPart *part : job.parts) {
    if (part->header.status != "complete") return part->header.status;
  }
  return job.parts.size() == job.parts.front()->header.size ? "complete" : "incomplete";
}

}  // namespace

Result<TraceBytes> join(const Job &job) {
  constexpr size_t kFewest = 8;  // parts worth a thread
  const size_t threads =
      std::clamp<size_t>(job.parts.size() / kFewest, 1, std::max(1U, std::thread::hardware_concurrency()));
  // Contiguous blocks of ranks concatenate; interleaved ones would cost.
  std::vector<std::optional<Result<trace::Part>>> blocks(threads);
  std::vector<std::thread> workers;
  for (size_t i = 0; i < threads; ++i) {
    workers.emplace_back([&, i] {
      const auto begin = job.parts.begin() + static_cast<std::ptrdiff_t>(job.parts.size() * i / threads);
      const auto end = job.parts.begin() + static_cast<std::ptrdiff_t>(job.parts.size() * (i + 1) / threads);
      blocks[i].emplace(parse_and_reduce({begin, end}));
    });
  }
  for (std::thread &worker : workers) worker.join();
  std::vector<trace::Part> parts;
  for (auto &block : blocks) {
    if (!*block) return tl::unexpected(block->error());
    parts.push_back(std::move(**block));
  }
  auto merged = reduce(std::move(parts));
  if (!merged) return tl::unexpected(merged.error());
  const SpoolHeader &header = job.parts.front()->header;
  trace::RunInfo run;
  run.command = header.command;
  run.mpi = header.mpi;
  run.recorder = header.recorder;
  run.timing = header.timing;
  run.status = status_of(job);
  uint64_t start = UINT64_MAX;
  for (const SpoolPart *part : job.parts) start = std::min(start, part->header.start_unix_ns);
  run.start_unix_ns = static_cast<int64_t>(start);
  // How long it took stands with the ranks: read it back before writing for good.
  auto without_time = merged->to_file(run);
  if (!without_time) return tl::unexpected(without_time.error());
  auto trace = trace::Trace::from_bytes(*std::move(without_time), "merged parts");
  if (!trace) return tl::unexpected(trace.error());
  for (const uint32_t rank : trace->ranks()) run.wall_ns = std::max(run.wall_ns, trace->rank_info(rank).wall_ns);
  auto file = merged->to_file(run);
  if (!file) return tl::unexpected(file.error());
  return TraceBytes{*std::move(file), 0, {}};
}

Result<TraceBytes> with_epilogues(TraceBytes bytes, const std::string &path, const std::vector<SpoolPart> &epilogues) {
  if (epilogues.empty()) return bytes;
  auto trace = opened(bytes, path);
  if (!trace) return tl::unexpected(trace.error());
  std::vector<const SpoolPart *> files;
  for (const SpoolPart &each : epilogues) {
    const auto start = static_cast<uint64_t>(trace->run().start_unix_ns);
    const uint64_t apart = std::max(start, each.header.start_unix_ns) - std::min(start, each.header.start_unix_ns);
    if (each.header.command == trace->run().command && each.header.size == trace->rank_count() && apart <= kOneJob) {
      files.push_back(&each);
    }
  }
  if (files.empty()) return bytes;
  std::sort(files.begin(), files.end(),
            [](const SpoolPart *a, const SpoolPart *b) { return a->header.rank < b->header.rank; });
  auto later = parse_and_reduce(files);
  if (!later) return tl::unexpected(later.error());
  auto merged = trace::Part::merge(trace::to_part(*trace), std::move(*later));
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

Result<void> write_trace(const std::string &path, const TraceBytes &bytes, bool force) {
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

std::string numbered(const std::string &path, size_t number) {
  if (number <= 1) return path;
  const fs::path whole(path);
  const std::string name = fmt::format("{}-{}{}", whole.stem().string(), number, whole.extension().string());
  return (whole.parent_path() / name).string();
}

}  // namespace cairn::cli
