// Trace: a .cairn file opened for reading. Who wants its calls begins with events.h; edit.h makes other files of it.
//
// `open` checks magic, version, directory and the checksum of every section it loads, and gives an Error naming section
// and byte on anything else, but for times: where these are damaged, all else can be read, and all times of blocks that
// are not. Values of one rank are found without expanding the others: cost in proportion to the rows
// of its classes. Const after open: any number of threads may read.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "timing/mode.h"
#include "trace/file/block_source.h"
#include "trace/file/wanted_bundles.h"
#include "trace/merge/part.h"
#include "trace/model/record.h"
#include "trace/read/axis.h"
#include "trace/read/row_stats.h"
#include "trace/values/rank_set.h"

namespace cairn::trace {

/// (rank, thread) pairs whose structure is identical, in one segment of their lives.
struct ClassView {
  uint32_t thread = 0;
  uint32_t segment = 0;
  std::vector<uint32_t> ranks;  ///< members, ascending
  const grammar::Grammar *calls = nullptr;
  uint32_t rows = 0;
  bool counted = false;  ///< some rows are counted ones: members differ in how many calls they made
};

/// One sequence of one rank.
struct SequenceView {
  uint32_t rank = 0;
  uint32_t thread = 0;
  uint32_t segment = 0;
  uint32_t class_index = 0;
  uint64_t begin_ns = 0;  ///< SequenceRecord::begin_ns
};

/// A call with all its values, and how often it stands in its sequence.
struct CountedRow {
  Row row;
  uint32_t class_row = 0;  ///< the row of the class that it is
  uint64_t count = 0;
};

/// Where the calls of one thread stand among those of its process's other threads: the first has `first_ticket`, each
/// further one the ticket of the one before plus 1 plus its symbol in `skips` (whose first symbol means nothing).
struct CallOrder {
  uint64_t first_ticket = 0;
  grammar::Grammar skips;
};

/// When heap segments began and ended among the calls of a sequence (HeapEvent says where an event stands).
struct HeapHistory {
  std::vector<HeapEvent> events;                  ///< the distinct ones
  std::shared_ptr<const grammar::Grammar> order;  ///< its symbols are their numbers
};

/// Source position of a site, if it was resolved (by `cairn record`, or by the reading verb).
struct Source {
  std::string function;
  std::string file;
  uint32_t line = 0;
  /// Where the function that is called there jumped on to MPI, if it did (analyze/tail_calls.h); has none itself.
  std::shared_ptr<const Source> tail_call = nullptr;
};

/// The stored times of a sequence: a stream of timing/stream.h.
struct TimesBytes {
  ByteView stream;
  uint64_t calls = 0;  ///< that the sequence has
  bool in_block = false;
  /// What is wrong with the bytes that they lie in. Then only those blocks are right that their own check says so of.
  std::optional<Error> damage = {};
  bool end_is_sure = true;            ///< damage has neither cut the stream short nor added to it
  std::shared_ptr<const void> owner;  ///< of the bytes, where the trace is not
};

class Trace {
 public:
  /// Reads the file, but for blocks, which `times_bytes` reads, and bundles that are not wanted.
  static Result<Trace> open(const std::string &path, const WantedBundles &wanted = {});
  /// A whole one. `path` is for errors, here and below.
  static Result<Trace> from_bytes(Bytes bytes, std::string path);
  /// `absent` bytes of blocks, which are not among `bytes`, lie in the file `blocks`, at the same place.
  static Result<Trace> from_bytes(Bytes bytes, std::string path, uint64_t absent, const std::string &blocks,
                                  const WantedBundles &wanted = {});
  /// The same of blocks that `read` gives, by places in the file.
  static Result<Trace> with_blocks(Bytes bytes, std::string path, uint64_t absent, ReadBytes read,
                                   const WantedBundles &wanted = {});
  Trace(Trace &&) noexcept;
  Trace &operator=(Trace &&) noexcept;
  ~Trace();

  [[nodiscard]] const RunInfo &run() const;
  [[nodiscard]] uint32_t rank_count() const;  ///< size of MPI_COMM_WORLD; of joined jobs, of all of them together
  /// The job that a rank is of: its number, from 0 on, which rank here is its rank 0, and the size of its
  /// MPI_COMM_WORLD.
  struct JobPlace {
    uint32_t number = 0;
    uint32_t first = 0;
    uint32_t size = 0;
    auto operator<=>(const JobPlace &) const = default;
  };
  [[nodiscard]] JobPlace job_of(uint32_t rank) const;
  [[nodiscard]] std::vector<uint32_t> ranks() const;  ///< those present
  [[nodiscard]] uint32_t class_count() const;
  [[nodiscard]] ClassView class_view(uint32_t index) const;
  /// The members of class `index`, which must exist, without expanding them.
  [[nodiscard]] const RankSet &class_ranks(uint32_t index) const;
  /// Its thread, likewise.
  [[nodiscard]] uint32_t class_thread(uint32_t index) const;
  /// The classes that these ranks are of, ascending. Cost: the ranks.
  [[nodiscard]] std::vector<uint32_t> classes_of(const std::vector<uint32_t> &ranks) const;
  /// Sequences of one rank in order of (thread, segment); empty if there is no such rank.
  [[nodiscard]] std::vector<SequenceView> sequences(uint32_t rank) const;

  /// Row `row` of a class as it was on `rank`; without function and fields if there is no such row or member. In static
  /// addresses the module is its number in modules().
  [[nodiscard]] Row row(uint32_t class_index, uint32_t row, uint32_t rank) const;
  /// The distinct calls of a sequence with all their values: what `row` gives, and once for each combination of the
  /// values that have moved into streams (see call_reader.h for their order). Calls that never happen are left out.
  /// Expands the calls of groups that have streams, and nothing else.
  [[nodiscard]] std::vector<CountedRow> counted_rows(const SequenceView &sequence) const;
  /// The same of the rows of the class that are `wanted`, by their numbers. Functions at call sites that have none of
  /// them cost nothing.
  [[nodiscard]] std::vector<CountedRow> counted_rows(const SequenceView &sequence,
                                                     const std::function<bool(uint32_t)> &wanted) const;
  /// How often each row of a class was called: by all its members, or in one sequence. Where unsuccessful
  /// polls are counted (ClassView::counted), members differ, and the grammar alone does not say it.
  [[nodiscard]] std::vector<uint64_t> row_counts(uint32_t class_index) const;
  [[nodiscard]] std::vector<uint64_t> row_counts(const SequenceView &sequence) const;
  /// How long a rank was outside MPI before each of its calls, in the mean, by its sums alone.
  [[nodiscard]] double mean_gap_ns(uint32_t rank) const;
  /// Several threads of a rank called MPI.
  [[nodiscard]] bool has_threads(uint32_t rank) const;
  /// How many calls a rank made: those sums.
  [[nodiscard]] uint64_t call_count(uint32_t rank) const;
  /// What the calls of each row of a class returned, where it is the same on all members each time; else nothing.
  [[nodiscard]] std::vector<std::optional<Field>> results(uint32_t class_index) const;
  /// Function, site and depth only: the same on all members.
  [[nodiscard]] Row row_head(uint32_t class_index, uint32_t row) const;
  /// Nothing if the timing mode keeps no statistics. Where statistics do not tell some rows apart, the lowest of them
  /// has those of all, the others have none (0 calls).
  [[nodiscard]] std::optional<RowStats> row_stats(uint32_t class_index, uint32_t row) const;

  /// The times of a sequence's calls as they are stored, which CallTimes reads (call_times.h); empty unless the timing
  /// mode keeps them (timing::keeps_times).
  [[nodiscard]] Result<TimesBytes> times_bytes(const SequenceView &sequence) const;
  /// What is wrong with the file's own section of times, if it is damaged. No part is made of such a trace (edit.h).
  [[nodiscard]] const std::optional<Error> &damage() const;
  /// What is wrong with them.
  [[nodiscard]] Error times_error(const TimesBytes &times, const std::string &what) const;
  /// What `tickets` expands; nullopt with one thread.
  [[nodiscard]] std::optional<CallOrder> order(const SequenceView &sequence) const;
  /// Process-wide ticket of every call of the sequence, in order, for merging threads; empty with one thread, and for
  /// more than kMostTickets calls: walk `order` then.
  static constexpr uint64_t kMostTickets = uint64_t{1} << 27;
  [[nodiscard]] std::vector<uint64_t> tickets(const SequenceView &sequence) const;

  /// nullopt if nothing is told of heap segments: there were none, or the trace was recorded before these were kept.
  [[nodiscard]] std::optional<HeapHistory> heap(const SequenceView &sequence) const;

  [[nodiscard]] const std::vector<Module> &modules() const;
  /// All sites and the frames that called them; Site::caller is 1 + an index into this, 0 if nothing is known.
  [[nodiscard]] const std::vector<Site> &all_sites() const;
  /// A class's sites; Row::site indexes this. Module indexes modules().
  [[nodiscard]] std::vector<Site> sites(uint32_t class_index) const;
  [[nodiscard]] std::optional<Source> source(const Site &site) const;

  struct RankInfo {
    std::string host;
    std::string degraded;  ///< losses (model/losses.h)
    bool complete = true;
    uint64_t wall_ns = 0;
    uint64_t mpi_ns = 0;
    uint64_t peak_memory = 0;
    RankClock clock;
  };
  [[nodiscard]] RankInfo rank_info(uint32_t rank) const;
  /// How long a rank's calls of a function took together, within 0.002 %; nothing where the timing mode keeps no
  /// statistics or the file does not hold it (trace/merge/function_sums.h).
  [[nodiscard]] std::vector<uint32_t> summed_functions() const;  ///< of which that is known, ascending
  [[nodiscard]] std::optional<uint64_t> function_ns(uint32_t rank, uint32_t function) const;
  /// How long all ranks were outside MPI before the calls of a class's site (Row::site), together; nullptr where the
  /// timing mode does not keep that.
  [[nodiscard]] const timing::GapStats *gaps(uint32_t class_index, uint32_t site) const;
  [[nodiscard]] std::vector<std::string> hosts() const;
  [[nodiscard]] const Axis &axis() const;
  /// All times are as the clocks were measured from now on. Not while another thread reads.
  void take_corrections_back();
  [[nodiscard]] Axis::Place place_on_axis(uint32_t rank) const;

  /// Section name → bytes in the file, plus "directory" (with header and footer) and "total" (the sum). Sections of
  /// bundles that were opened count as those of the file; "bundles" is what bundles take beside them.
  [[nodiscard]] std::map<std::string, uint64_t> section_bytes() const;

  /// Bytes of blocks that were left in the file.
  [[nodiscard]] uint64_t absent() const;
  /// What is made of the file's bytes may take so much memory (base/allowance.h).
  [[nodiscard]] uint64_t memory() const;
  /// What the sections `gpu` and `warps` hold, decompressed, for src/gpu; nothing where the run traced no kernel.
  [[nodiscard]] Result<std::pair<Bytes, Bytes>> gpu() const;
  /// How many calls readers of its sequences (call_reader.h) have given until now, each reader's told by the thousand;
  /// but for what finds the calls that times are of. For who shows how far an analysis is. Any thread.
  [[nodiscard]] uint64_t calls_given() const;
  /// For what lies beside this file: events.h, call_reader.h, edit.h.
  struct Body;
  [[nodiscard]] const Body &body() const { return *body_; }

 private:
  explicit Trace(std::unique_ptr<Body> body);
  std::unique_ptr<Body> body_;
};

}  // namespace cairn::trace
