// Part: the recordings of some ranks, merged: classes with their members, rows whose differing fields are columns
// along the ranks, statistics, sites and modules stored once. The value that travels up the reduction tree, lies in
// a spool, and is what a .cairn file holds when it covers all ranks.
//
// `merge(a, b)` accepts parts of any two disjoint sets of ranks, in any tree shape; the events that can be read back do
// not depend on the shape (the bytes may). Cost: proportional to the compressed sizes; where ranks of both sides lie
// among each other, to the ranks. It also adds what ranks did later to what they did before: then all ranks of b are
// ranks of a, with other threads or segments (an epilogue, a spilled segment), and a's word on the ranks stands.
// No MPI, no OS calls.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "trace/model/record.h"

namespace cairn::trace {

class Trace;
struct PackedClass;

/// The most memory that the recorder took on a rank, in bytes; of each, the most of all ranks.
struct MemoryPeaks {
  uint64_t recorded = 0;  ///< its tables, as far as they were ever touched
  uint64_t making = 0;    ///< beside them, to make parts of what the tables hold: while the program ran, and at the end
  uint64_t merging = 0;   ///< to join parts, and to write the file
  uint64_t together = 0;  ///< at any time

  void add(const MemoryPeaks &other);
  /// What runs take that hold little is not worth its bytes in a file.
  [[nodiscard]] bool worth_telling() const { return together >= uint64_t{4} << 20; }
};

/// CPU time that the recorder spent on the ranks themselves, in MPI_Finalize, to merge; what MPI took is not in it. And
/// what keeping times took, while the program ran and then.
struct MergeCost {
  uint64_t ranks = 0;  ///< that took part; 0: not known
  uint64_t sum_ns = 0;
  uint64_t most_ns = 0;
  timing::TimesCost times = {};  ///< of all these ranks, where the timing mode keeps times
  MemoryPeaks memory = {};

  void add(const MergeCost &other);
};

/// One of several jobs of one run, whose traces were joined (trace/read/join_jobs.h): one spawned the others.
struct Job {
  uint32_t first = 0;   ///< rank of the trace that its rank 0 is; its others follow, up to the next job's
  std::string command;  ///< as RunInfo's
  /// The rank of the trace whose call spawned it; nothing of the first job.
  std::optional<uint32_t> spawned_by = {};
  /// What readers call the communicator that this call made (analyze/communicator_names.h), as the job's processes
  /// don't know what it is called there.
  std::string parent = {};
};

/// What belongs to the run and not to a rank. Set once, by whoever writes the file.
struct RunInfo {
  std::string command;   ///< the traced command line
  std::string mpi;       ///< MPI_Get_library_version, first line
  std::string recorder;  ///< "cairn 0.1.0 libmpich.so.12"
  std::string timing;    ///< name of the timing mode (src/timing/mode.h); "none" where there are no calls
  std::string status;    ///< "complete", "aborted", "recovered", …
  int64_t start_unix_ns = 0;
  uint64_t wall_ns = 0;
  MergeCost merge = {};
  /// What the launcher calls the job, and, if it was spawned, the process that did that: "1518010369.3" is rank 3 of
  /// job 1518010369. Both are written only of a job that was spawned, or that calls one of `spawning`, which a trace
  /// that is read has not; where the launcher gives no names, neither.
  std::string job = {};
  std::string spawned_by = {};
  std::vector<uint32_t> spawning = {};  ///< functions; empty: it spawned others
  std::vector<Job> jobs = {};           ///< by their ranks; none: it is one job
};

class Part {
 public:
  Part();
  Part(Part &&) noexcept;
  Part &operator=(Part &&) noexcept;
  ~Part();

  static Result<Part> of(const ProcessRecord &process);
  /// Takes less memory: what has become part of the Part is gone from the record.
  static Result<Part> of(ProcessRecord &&process);
  static Result<Part> merge(Part left, Part right);
  /// Looks into no class: what is wrong there is an error of the merge that needs it, or of `to_file`.
  static Result<Part> parse(ByteView bytes);
  [[nodiscard]] Bytes serialise() const;

  /// The complete bytes of a .cairn file (docs/format.md), but for `blocks` bytes in blocks, which belong behind the
  /// first trace::kHeaderBytes of them; those from `bundles` on, if it is said, are bundles. Fails if what was parsed,
  /// and not yet looked into, is damaged.
  [[nodiscard]] Result<Bytes> to_file(const RunInfo &run, uint64_t blocks = 0,
                                      std::optional<uint64_t> bundles = std::nullopt) const;

  /// Packed classes of more than an eighth of `most` bytes leave: opened to be merged, they would take many times that.
  /// Where all together still take more than `most`, those of fewest ranks do, until half of it is left. They come as a
  /// bundle (bundle.h), a block for the section `blocks` of the file that this is to become; empty where none leaves.
  /// No rank is forgotten: what else is known of it stays. Classes that are open are few and small, and leave only
  /// where `most` is 0.
  [[nodiscard]] Result<Bytes> take_bundle(size_t most);
  /// The same as several bundles, each of `at_once` bytes of packed classes at most, or of one class: `add` gets one
  /// after the other, and memory is needed for one.
  [[nodiscard]] Result<void> take_bundles(size_t most, size_t at_once, const std::function<void(Bytes)> &add);

  /// For a part of one rank whose RankBlock lies at `offset` among the blocks: the times leave the part.
  void times_lie_at(uint64_t offset);

  struct Body;
  [[nodiscard]] const Body &body() const { return *body_; }

 private:
  friend class Edited;  // read/edit.h
  explicit Part(std::unique_ptr<Body> body);
  static Result<Part> of(const ProcessRecord &process, ProcessRecord *used_up);
  [[nodiscard]] Result<Bytes> bundle_of(std::vector<PackedClass> classes) const;
  std::unique_ptr<Body> body_;
};

/// `file`, which `to_file` made without it, with what the merge cost: that is known only once the file is made.
Bytes with_merge_cost(ByteView file, const MergeCost &cost, uint64_t blocks = 0);

}  // namespace cairn::trace
