#include "mpi/finish/finish.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "base/file_size.h"
#include "base/spool_files.h"
#include "base/whole.h"
#include "mpi/finish/bundles.h"
#include "mpi/finish/compare_clocks.h"
#include "mpi/finish/times_in_place.h"
#include "mpi/store/descriptors.h"
#include "mpi/store/harvest.h"
#include "mpi/store/segments.h"
#include "mpi/store/small_blocks.h"
#include "mpi/store/spool_file.h"
#include "spec/ids.h"
#include "trace/file/file.h"
#include "trace/merge/part.h"

namespace cairn::recorder {
namespace {

using trace::Part;

/// Writes all but the `blocks` bytes that lie in the file already, behind the header's place; errno says why not.
bool complete_file(const std::string &path, ByteView bytes, uint64_t blocks) {
  if (!may_grow_to(bytes.size() + blocks)) {
    errno = EFBIG;
    return false;
  }
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  int why = write_all(file, bytes.first(trace::kHeaderBytes));
  if (why == 0) why = write_at(file, trace::kHeaderBytes + blocks, bytes.subspan(trace::kHeaderBytes));
  if (close(file) != 0 && why == 0) why = errno;
  errno = why;
  return why == 0;
}

/// run.cairn, run-2.cairn, …
std::string numbered(const std::string &path, int n) {
  if (n == 1) return path;
  const size_t slash = path.find_last_of('/');
  const size_t dot = path.find_last_of('.');
  const size_t end = dot == std::string::npos || (slash != std::string::npos && dot < slash) ? path.size() : dot;
  return path.substr(0, end) + "-" + std::to_string(n) + path.substr(end);
}

/// The name of the trace while it is written, which the root gives it. Empty without memory.
std::string partial_name(const Process &of) {
  if (of.run.rank != 0) return {};
  try {
    return std::string(of.run.config.output) + "." + of.run.host + "." + std::to_string(of.run.pid) + ".partial";
  } catch (...) {
    return {};
  }
}

/// Links `partial`, which is written or completed first, to the `first` free of path, path-2, …; gives that name, or
/// nothing (errno). The partial name goes in either case.
std::string publish(const std::string &partial, const std::string &path, int first, ByteView bytes, uint64_t blocks) {
  if (blocks == 0 && !write_file(partial, bytes)) return {};
  if (blocks != 0 && !complete_file(partial, bytes, blocks)) {
    const int why = errno;
    unlink(partial.c_str());
    errno = why;
    return {};
  }
  constexpr int kMost = 10000;
  for (int n = first; n < kMost; ++n) {
    std::string name = numbered(path, n);
    bool linked = link(partial.c_str(), name.c_str()) == 0;
    if (!linked && errno != EEXIST) {
      // A file system without hard links: rename, having looked first.
      struct stat status {};
      linked = stat(name.c_str(), &status) != 0 && rename(partial.c_str(), name.c_str()) == 0;
      if (linked) return name;
    }
    if (linked) {
      unlink(partial.c_str());
      return name;
    }
  }
  unlink(partial.c_str());
  return {};
}

/// `end_ns`: of all ranks.
trace::RunInfo run_info(const Process &of, const char *status, uint64_t end_ns) {
  trace::RunInfo run;
  run.command = of.run.command;
  run.mpi = of.run.mpi_version;
  run.recorder = of.run.recorder;
  run.timing = of.run.timing;
  run.status = status;
  run.job = of.run.launcher_job;
  run.spawned_by = of.run.spawned_by;
  run.spawning = {spec::function_id::Comm_spawn, spec::function_id::Comm_spawn_multiple};
  run.start_unix_ns = of.run.start_unix_ns;
  run.wall_ns = of.run.since_begin(end_ns);
  return run;
}

/// `joined`: as with_segments says.
Result<Part> own_part(const Process &of, uint64_t end_ns, timing::TimesCost *cost, const SegmentJoined &joined = {}) {
  Result<trace::ProcessRecord> record = harvest(of, end_ns);
  if (!record) return tl::unexpected(record.error());
  *cost = record->times_cost;
  Result<Part> part = Part::of(*std::move(record));
  if (!part || of.run.config.spool == nullptr) return part;
  return with_segments(of, of.run.config.spool, std::move(*part), joined);
}

/// CPU time of the calling thread between `go` and `stop`, which alternate.
class Stopwatch {
 public:
  void go() { since_ = now(); }
  void stop() { spent_ += now() - since_; }
  [[nodiscard]] uint64_t spent() const { return spent_; }

 private:
  static uint64_t now() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
  }
  uint64_t since_ = 0;
  uint64_t spent_ = 0;
};

/// Joins what comes from the ranks above; gives the part for the rank below. An empty part (nothing but a length of
/// zero on the wire) stands for one that was lost. What it cost a rank is known only once its part is on its way, so
/// that follows as a message of its own.
class Tree {
  /// Segments of one rank that take more than this part of its memory leave before they meet those of others.
  static constexpr size_t kShareOfPart = 8;
  /// And so much a bundle: what is made of it takes many times its bytes.
  static constexpr size_t kShareOfBundle = 32;

 public:
  /// All ranks have ended what is recorded by now.
  Tree(Process &of, mpi::Handle comm, uint64_t end_ns)
      : of_(of), comm_(comm), end_ns_(end_ns), all_end_ns_(of.clock.now()), bundles_(of.run, comm) {
    own_.go();
  }
  [[nodiscard]] uint64_t all_end_ns() const { return all_end_ns_; }

  /// The part of all ranks at the root, where the clock goes on; nothing elsewhere.
  std::unique_ptr<Part> run(const std::string &partial) {
    // Times are to be written as blocks of their own, once all are there.
    const SegmentJoined leave = of_.run.config.times ? SegmentJoined() : [&](Part *joined) {
      return bundle(joined, std::max(of_.run.config.bundles_from, of_.run.config.memory / kShareOfPart));
    };
    std::unique_ptr<Part> part;
    with_descriptors([&] { part = guarded([&] { return own_part(of_, end_ns_, &times_cost_, leave); }); });
    own_.stop();
    making_ = SmallBlocks::most_held();
    SmallBlocks::count_anew();
    const uint64_t begin = Clock::monotonic();
    blocks_ = write_times_in_place(of_.run, comm_, part.get(), partial);
    if (blocks_ != 0) times_cost_.writing_ns += Clock::monotonic() - begin;
    own_.go();
    for (int64_t step = 1; step < of_.run.size; step *= 2) {
      if ((of_.run.rank & step) != 0) {
        send(std::move(part), static_cast<int>(of_.run.rank - step));
        return nullptr;
      }
      if (of_.run.rank + step < of_.run.size)
        part = join(std::move(part), receive(static_cast<int>(of_.run.rank + step)));
    }
    return part;
  }

  /// Collective, after `run`; `part` is what that gave. False, and errno, on the root if there is no room for them.
  bool write_bundles(const std::string &partial, const Part *part) {
    own_.stop();
    const uint64_t total = part == nullptr ? 0 : others_bundles_ + bundles_.bytes();
    const bool written = bundles_.write(partial, blocks_, total);
    own_.go();
    if (total != 0) bundles_at_ = blocks_;
    blocks_ += total;
    return written;
  }

  /// What some rank had could not be taken along.
  [[nodiscard]] bool lost() const { return lost_; }
  /// Bytes that the ranks wrote into the file themselves.
  [[nodiscard]] uint64_t blocks() const { return blocks_; }
  /// Where among them bundles begin.
  [[nodiscard]] std::optional<uint64_t> bundles() const { return bundles_at_; }

  /// Of all ranks whose parts came here, and this one up to now.
  trace::MergeCost cost() {
    own_.stop();
    own_.go();
    const uint64_t merging = SmallBlocks::most_held();
    const uint64_t tables = of_.arena->touched();
    const uint64_t together = std::max(tables + making_, of_.arena->resident() + merging);
    trace::MergeCost all = {1, own_.spent(), own_.spent(), times_cost_, {tables, making_, merging, together}};
    all.add(others_);
    return all;
  }

 private:
  /// The trace room allocates; running out of memory here must not end the program.
  template <typename Make>
  std::unique_ptr<Part> guarded(Make make) {
    try {
      Result<Part> made = make();
      if (made) return std::make_unique<Part>(std::move(*made));
      of_.losses.note(made.error().message.c_str());
    } catch (...) {
      of_.losses.note("no memory to merge");
    }
    lost_ = true;
    return nullptr;
  }

  void send(std::unique_ptr<Part> part, int to) {
    Bytes bytes;
    try {
      if (part != nullptr) bytes = part->serialise();
    } catch (...) {
      bytes.clear();
    }
    lost_ = lost_ || bytes.empty();
    part.reset();
    own_.stop();
    mpi::send(comm_, bytes.data(), bytes.size(), to);
    own_.go();
    const Spent spent = {cost(), others_bundles_ + bundles_.bytes(), lost_ ? 1U : 0U};
    mpi::send(comm_, &spent, sizeof spent, to);
  }

  std::unique_ptr<Part> receive(int from) {
    uint8_t *bytes = nullptr;
    uint64_t size = 0;
    std::unique_ptr<Part> part;
    own_.stop();
    const bool came = mpi::receive(comm_, &bytes, &size, from);
    own_.go();
    const CountedBuffer counted(came ? size : 0);
    if (came && size != 0) part = guarded([&] { return Part::parse({bytes, size}); });
    free(bytes);
    own_.stop();
    receive_cost(from);
    own_.go();
    return part;
  }

  void receive_cost(int from) {
    uint8_t *bytes = nullptr;
    uint64_t size = 0;
    Spent theirs;
    if (mpi::receive(comm_, &bytes, &size, from) && size == sizeof theirs) {
      memcpy(&theirs, bytes, sizeof theirs);
      others_.add(theirs.cost);
      others_bundles_ += theirs.bundles;
      lost_ = lost_ || theirs.lost != 0;
    } else {
      lost_ = true;
    }
    free(bytes);
  }

  std::unique_ptr<Part> join(std::unique_ptr<Part> left, std::unique_ptr<Part> right) {
    if (left == nullptr) return right;
    if (right == nullptr) return left;
    return guarded([&]() -> Result<Part> {
      Result<Part> both = Part::merge(std::move(*left), std::move(*right));
      if (!both) return both;
      Result<void> taken = bundle(&*both, of_.run.config.bundles_from);
      if (!taken) return tl::unexpected(taken.error());
      return both;
    });
  }

  /// What is too much leaves the part, if it takes more than `most` bytes.
  Result<void> bundle(Part *part, size_t most) {
    return part->take_bundles(most, of_.run.config.memory / kShareOfBundle,
                              [this](Bytes bundle) { bundles_.add(std::move(bundle)); });
  }

  /// What a rank says of itself and of those above it, when it has sent its part.
  struct Spent {
    trace::MergeCost cost;
    uint64_t bundles = 0;  ///< bytes
    uint64_t lost = 0;     ///< 1: something is missing in what it sent
  };

  Process &of_;
  mpi::Handle comm_;
  uint64_t end_ns_;
  uint64_t all_end_ns_;
  BundleStore bundles_;
  Stopwatch own_;
  timing::TimesCost times_cost_;  ///< of this rank
  trace::MergeCost others_;
  uint64_t others_bundles_ = 0;
  uint64_t making_ = 0;  ///< bytes that parts of what this rank recorded took at most
  uint64_t blocks_ = 0;
  std::optional<uint64_t> bundles_at_;
  bool lost_ = false;
};

bool write_spool(const Process &of, const Part &part, SpoolHeader::Kind kind, const char *status,
                 std::string_view ending) {
  if (of.run.config.spool == nullptr) return false;
  const std::string path = of.run.file_in(of.run.config.spool, std::string(ending.substr(1)));
  // Readers take every *.part they find: it must appear whole.
  return write_file(path + ".partial", spool_file_of(of, kind, status, part)) &&
         rename((path + ".partial").c_str(), path.c_str()) == 0;
}

/// errno says why.
std::string cannot_write(const Process &of) {
  return std::string("cannot write ") + of.run.config.output + ": " + strerror(errno);
}

/// Writes the trace and gives its name; or nothing, and `*why`.
std::string write_trace(const Process &of, Tree &tree, const Part &all, const std::string &partial, std::string *why) {
  const uint64_t blocks = tree.blocks();
  const Result<Bytes> bare = all.to_file(run_info(of, "complete", tree.all_end_ns()), blocks, tree.bundles());
  if (!bare) {
    *why = bare.error().message;
    return {};
  }
  const Bytes file = trace::with_merge_cost(*bare, tree.cost(), blocks);
  std::string written;
  bool thrown = false;
  with_descriptors([&] {
    try {
      written = publish(partial, of.run.config.output, of.run.spawned ? 2 : 1, file, blocks);
      if (written.empty()) *why = cannot_write(of);
    } catch (...) {
      thrown = true;
    }
  });
  if (thrown) throw std::bad_alloc();
  if (!written.empty() && !of.run.config.quiet) {
    fprintf(stderr, "cairn: %d ranks recorded in %s (%zu bytes)\n", of.run.size, written.c_str(), file.size() + blocks);
  }
  return written;
}

/// For tests that kill ranks meanwhile.
void pause(const Process &of) {
  const long time = of.run.config.merge_pause_ms;
  const timespec pause = {time / 1000, time % 1000 * 1'000'000L};
  if (time != 0) clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, nullptr);
}

/// On the root: the trace of all ranks is there.
bool write_as_root(Process &of, Tree &tree, const Part *all, const std::string &partial, bool bundled) {
  std::string written;
  std::string why = of.losses.other;
  try {
    // Without the bundles some calls would look like all.
    if (!bundled) why = cannot_write(of);
    if (tree.lost()) why = "a rank's recording could not be merged";
    if (bundled && all != nullptr && !tree.lost()) written = write_trace(of, tree, *all, partial, &why);
  } catch (...) {
    why = "no memory to write the trace";
  }
  if (!written.empty()) return true;
  if (tree.blocks() != 0) unlink(partial.c_str());
  leave_reason(of.run, why.c_str());
  if (of.run.config.quiet) return false;
  const char *spool = of.run.config.spool;
  fprintf(stderr, "cairn: no trace: %s%s%s\n", why.c_str(),
          spool == nullptr ? "" : "; join what ranks leave with cairn merge ", spool == nullptr ? "" : spool);
  return false;
}

}  // namespace

bool finish_together(Process &of, mpi::Handle comm, uint64_t end_ns) {
  const SmallBlocks blocks;
  RootWord root;
  compare_clocks(of.run, comm, &root, &of.run.common.last);
  Tree tree(of, comm, end_ns);
  const std::string partial = partial_name(of);
  pause(of);
  const std::unique_ptr<Part> all = tree.run(partial);
  pause(of);
  const bool bundled = tree.write_bundles(partial, all.get());
  uint64_t written = 0;
  if (of.run.rank == 0) written = write_as_root(of, tree, all.get(), partial, bundled) ? 1 : 0;
  pause(of);
  // No rank lets go of what it has before the trace is there.
  return mpi::broadcast(comm, &written, sizeof written) && written == 1;
}

namespace {

bool leave_part(Process &of, const char *status, uint64_t end_ns) {
  const SmallBlocks blocks;
  try {
    timing::TimesCost cost;
    const Result<Part> part = own_part(of, end_ns, &cost);
    if (!part) {
      leave_reason(of.run, part.error().message.c_str());
      return false;
    }
    of.progress.left_part = write_spool(of, *part, SpoolHeader::Kind::main, status, kPartEnding);
    if (!of.progress.left_part) {
      leave_reason(of.run, (std::string("cannot write to the spool: ") + strerror(errno)).c_str());
    }
  } catch (...) {
    leave_reason(of.run, "no memory to write the record");
  }
  return of.progress.left_part;
}

bool leave_epilogue(const Process &of) {
  const SmallBlocks blocks;
  try {
    timing::TimesCost cost;
    const Result<Part> part = own_part(of, of.clock.now(), &cost);
    return part && write_spool(of, *part, SpoolHeader::Kind::epilogue, "complete", kEpilogueEnding);
  } catch (...) {
    return false;
  }
}

}  // namespace

bool finish_alone(Process &of, const char *status, uint64_t end_ns) {
  bool left = false;
  with_descriptors([&] { left = leave_part(of, status, end_ns); });
  return left;
}

bool finish_epilogue(Process &of) {
  bool left = false;
  with_descriptors([&] { left = leave_epilogue(of); });
  return left;
}

}  // namespace cairn::recorder
