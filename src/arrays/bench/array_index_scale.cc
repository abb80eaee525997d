// What the index of an array file costs when many ranks write it: a job of P ranks, played by one process.
//
//   array_index_scale [--ranks P] [--variables V] [--steps S] [--whole] FILE
//
// The ranks hold boxes of a three-dimensional grid, 32^3 floats each. In each of S steps each rank writes its box of
// each of V record variables, collectively, in the layout dense, and the job synchronises. Blocks shrink to 40 to 80 %
// of their bytes, checksums are random; of the boxes that are read at the end, which are stored, both are real. What
// goes into the file are its header and index as the layer puts them there (arrays/layer/publishing.cc: the same
// functions, in the same order, with the same decisions); the blocks are holes. --whole: without segments, as each sync
// was before there were any.
//
// One line: blocks; bytes of the index that are in use at the end, in all and for a block; bytes that were written for
// it in all syncs, and in the last one; most bytes of memory that rank 0 held for it, and that another rank held to
// write a segment (malloc's own count); seconds of CPU of the last sync on rank 0, and of the rank that writes most;
// then what a reader takes who opens the file and reads a plane of one variable at one step: seconds, blocks that it
// took in, and bytes of memory.
#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

#include "arrays/file/index.h"
#include "arrays/file/physical.h"
#include "arrays/file/stored_file.h"
#include "base/hash.h"
#include "base/whole.h"

namespace {

using namespace cairn;
using namespace cairn::arrays;

constexpr uint64_t kEdge = 32;
constexpr int kEpochShift = 20;  // as in the layer

struct Job {
  uint64_t ranks = 1000;
  uint64_t variables = 20;
  uint64_t steps = 10;
  bool whole = false;
  std::string path;
};

[[noreturn]] void stop(const std::string &what) {
  fmt::print(stderr, "array_index_scale: {}\n", what);
  exit(1);
}

uint64_t memory() { return mallinfo2().uordblks + mallinfo2().hblkhd; }

double cpu() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  constexpr double kMicro = 1e-6;
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         kMicro * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/// The sides of a grid of so many ranks, about equal.
std::array<uint64_t, 3> grid_of(uint64_t ranks) {
  std::array<uint64_t, 3> best{ranks, 1, 1};
  for (uint64_t x = 1; x * x * x <= ranks; ++x) {
    if (ranks % x != 0) continue;
    for (uint64_t y = x; y * y <= ranks / x; ++y) {
      if (ranks / x % y == 0 && ranks / x / y < best[0]) best = {ranks / x / y, y, x};
    }
  }
  return best;
}

class Simulation {
 public:
  explicit Simulation(Job job) : job_(std::move(job)), grid_(grid_of(job_.ranks)), random_(1) {
    if (job_.whole) sizes_.segment = UINT64_MAX / 256;
    make_header();
    file_ = open(job_.path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file_ < 0) stop("cannot write " + job_.path);
    index_.data_begin = room_for_header(header_, 512);
    index_.home = index_.end = index_.data_begin;
    before_ = memory();
  }

  void run() {
    for (uint64_t step = 0; step < job_.steps; ++step) {
      write_step(step);
      synchronise(step + 1 == job_.steps);
    }
    close(file_);
    const uint64_t blocks = job_.ranks * job_.variables * job_.steps;
    const uint64_t index = in_use();
    fmt::print(
        "{} ranks, {} variables, {} steps: {} blocks, index {} bytes ({:.1f} a block), written {} in all and {} "
        "in the last sync; memory of rank 0 {}, of a rank that writes segments {}; last sync {:.3f} s on rank 0, "
        "{:.3f} s on another\n",
        job_.ranks, job_.variables, job_.steps, blocks, index, static_cast<double>(index) / static_cast<double>(blocks),
        written_, last_, most_memory_, leader_memory_, rank0_seconds_, leader_seconds_);
  }

  /// The first plane of grid points of a variable at a step; of those boxes all blocks are real.
  void read() {
    const uint64_t at_start = memory();
    const double start = cpu();
    const auto began = std::chrono::steady_clock::now();
    const Result<StoredFile> stored = StoredFile::open(job_.path, StoredFile::Take::as_needed);
    if (!stored) stop(stored.error().message);
    Region plane;
    plane.offset = header_.variables[of_read()].begin + job_.steps / 2 * header_.record_size;
    plane.run = edge(1) * edge(2) * sizeof(float);
    Bytes values(plane.bytes());
    if (const Result<void> done = stored->read({&plane, 1}, values.data()); !done) stop(done.error().message);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    fmt::print("a plane of {} bytes: {:.3f} s ({:.3f} s of CPU), {} blocks taken in, {} bytes of memory\n",
               values.size(), took.count(), cpu() - start, stored->index().blocks().size(), memory() - at_start);
  }

 private:
  [[nodiscard]] uint64_t edge(size_t axis) const { return kEdge * grid_[axis]; }
  [[nodiscard]] size_t of_read() const { return job_.variables / 2; }

  void make_header() {
    Header header;
    header.records = job_.steps;
    header.dimensions = {{"time", 0}, {"x", edge(0)}, {"y", edge(1)}, {"z", edge(2)}};
    const uint64_t slab = edge(0) * edge(1) * edge(2) * sizeof(float);
    for (uint64_t v = 0; v < job_.variables; ++v) {
      Variable variable;
      variable.name = fmt::format("v{}", v);
      variable.type = NcType::f32;
      variable.dimensions = {0, 1, 2, 3};
      header.variables.push_back(std::move(variable));
    }
    const uint64_t front = write_header(header).size();
    for (uint64_t v = 0; v < job_.variables; ++v) header.variables[v].begin = front + v * slab;
    index_.header = write_header(header);
    header_ = *parse_header(index_.header)->header;
  }

  Block block_of(uint64_t rank, uint64_t variable, uint64_t step) {
    const uint64_t x = rank / (grid_[1] * grid_[2]);
    const uint64_t y = rank / grid_[2] % grid_[1];
    const uint64_t z = rank % grid_[2];
    Region box;
    box.offset = header_.variables[variable].begin + step * header_.record_size +
                 ((x * kEdge * edge(1) + y * kEdge) * edge(2) + z * kEdge) * sizeof(float);
    box.run = kEdge * sizeof(float);
    if (!box.repeat(kEdge, edge(2) * sizeof(float)) || !box.repeat(kEdge, edge(1) * edge(2) * sizeof(float)))
      stop("a box is no region");
    Block block;
    block.regions = {box};
    block.element = codec::Element::f32;
    block.shape = {kEdge, kEdge, kEdge};
    const bool real = x == 0 && variable == of_read() && step == job_.steps / 2;
    block.codec = real ? codec::kStore : codec::find_array_codec("xor")->id;
    block.size = real ? block.bytes() : block.bytes() * 2 / 5 + random_() % (block.bytes() * 2 / 5);
    block.checksum = real ? hash64(Bytes(block.bytes())) : random_();
    block.sequence = (epoch_ << kEpochShift) * job_.ranks + rank;
    return block;
  }

  /// Every variable in a collective call: a rank's block, and its record of the journal.
  void write_step(uint64_t step) {
    constexpr uint64_t kRecord = 70;  // about
    fresh_.assign(job_.ranks, {});
    for (uint64_t v = 0; v < job_.variables; ++v) {
      ++epoch_;
      for (uint64_t rank = 0; rank < job_.ranks; ++rank) {
        Block block = block_of(rank, v, step);
        block.offset = index_.end;
        index_.end += block.size + kRecord + random_() % 4;
        fresh_[rank].push_back(std::move(block));
      }
    }
  }

  void put(uint64_t at, ByteView bytes) {
    if (write_at(file_, at, bytes) != 0) stop("the file cannot be written");
    last_ += bytes.size();
  }

  void write_groups() {
    const uint64_t size = sizes_.group(job_.variables);
    leader_seconds_ = 0;
    for (uint64_t first = 0; first < job_.ranks; first += size) {
      const bool measured = first == size;  // one of them: malloc takes long to count
      const uint64_t memory_before = measured ? memory() : 0;
      const double start = cpu();
      std::vector<const Block *> blocks;
      for (uint64_t rank = std::max<uint64_t>(first, 1); rank < std::min(job_.ranks, first + size); ++rank) {
        for (const Block &block : fresh_[rank]) blocks.push_back(&block);
      }
      // What it has got from the others, in the form that it came in.
      std::vector<Block> copies;
      copies.reserve(blocks.size());
      for (const Block *block : blocks) copies.push_back(*block);
      Filing filing = file_blocks(std::move(blocks), index_.end, sizes_);
      if (measured) leader_memory_ = std::max(leader_memory_, memory() - memory_before);
      leader_seconds_ = std::max(leader_seconds_, cpu() - start);
      put(index_.end, filing.bytes);
      index_.end += filing.bytes.size();
      told_.insert(told_.end(), filing.segments.begin(), filing.segments.end());
    }
  }

  void synchronise(bool last) {
    last_ = 0;
    const bool groups = job_.ranks > 1 && job_.ranks * job_.variables > sizes_.gathered();
    if (groups) write_groups();
    std::vector<std::vector<Block>> fresh = std::move(fresh_);
    fresh_.clear();
    double seconds = 0;
    for (uint64_t rank = 0; rank < (groups ? 1 : job_.ranks); ++rank) {
      const double start = cpu();
      for (Block &block : fresh[rank]) {
        if (!index_.add(std::move(block))) stop("a block was refused");
      }
      seconds += cpu() - start;
    }
    fresh.clear();
    fresh.shrink_to_fit();
    const double start = cpu();
    index_.add_segments(std::move(told_));
    told_ = {};
    if (std::optional<Index::Plan> plan = index_.plan(sizes_)) {
      put(index_.end, plan->bytes);
      index_.filed(std::move(*plan));
    }
    const Bytes root = pack(index_);
    // In two places in turn, as in the layer.
    Run &slot = slots_[turn_ = 1 - turn_];
    if (slot.bytes < root.size()) {
      slot = {index_.end, last ? root.size() : root.size() * 3 / 2};
      index_.end = slot.end();
    }
    put(slot.offset, root);
    root_ = root.size();
    const IndexPlace place{slot.offset, root.size(), hash64(root), last ? 0 : 1, Storage::dense};
    put(0, physical_header(header_, place, index_.data_begin, index_.end));
    most_memory_ = std::max(most_memory_, memory() - before_);
    index_.let_go(sizes_.held());
    rank0_seconds_ = seconds + cpu() - start;
    written_ += last_;
    if (ftruncate(file_, static_cast<off_t>(index_.end)) != 0) stop("the file cannot be made longer");
  }

  uint64_t in_use() {
    uint64_t bytes = root_;
    for (const Segment &segment : index_.segments()) {
      bytes += segment.size;
      if (!segment.list) continue;
      Bytes list(segment.size);
      size_t got = 0;
      const int file = open(job_.path.c_str(), O_RDONLY | O_CLOEXEC);
      if (read_at(file, segment.offset, list, &got) != 0 || got != list.size()) stop("a list cannot be read");
      close(file);
      const Result<Unfiled> unfiled = unfile(segment, list);
      if (!unfiled) stop(unfiled.error().message);
      for (const Segment &each : unfiled->segments) bytes += each.size;
    }
    return bytes;
  }

  Job job_;
  std::array<uint64_t, 3> grid_;
  std::mt19937_64 random_;
  IndexSizes sizes_;
  Header header_;
  Index index_;  ///< of rank 0
  std::vector<std::vector<Block>> fresh_;
  std::vector<Segment> told_;
  std::array<Run, 2> slots_{};
  size_t turn_ = 0;
  int file_ = -1;
  uint64_t epoch_ = 1;
  uint64_t root_ = 0;
  uint64_t written_ = 0;
  uint64_t last_ = 0;
  uint64_t before_ = 0;
  uint64_t most_memory_ = 0;
  uint64_t leader_memory_ = 0;
  double rank0_seconds_ = 0;
  double leader_seconds_ = 0;
};

}  // namespace

int main(int argc, char **argv) {
  Job job;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    uint64_t *number = word == "--ranks"       ? &job.ranks
                       : word == "--variables" ? &job.variables
                       : word == "--steps"     ? &job.steps
                                               : nullptr;
    if (number != nullptr) {
      *number = i + 1 < argc ? strtoull(argv[++i], nullptr, 10) : 0;
      if (*number == 0) stop(word + " needs a number above 0");
    } else if (word == "--whole") {
      job.whole = true;
    } else if (job.path.empty() && !word.starts_with("-")) {
      job.path = word;
    } else {
      stop("usage: array_index_scale [--ranks P] [--variables V] [--steps S] [--whole] FILE");
    }
  }
  if (job.path.empty()) stop("usage: array_index_scale [--ranks P] [--variables V] [--steps S] [--whole] FILE");
  Simulation simulation(std::move(job));
  simulation.run();
  simulation.read();
}
