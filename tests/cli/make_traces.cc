// Makes the traces that the CLI tests read: recordings made up by hand, so that the tests need no MPI and their output
// is exact. `make_traces FOLDER`; prints nothing.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "base/spool_header.h"
#include "gpu/file/collect.h"
#include "gpu/file/launches.h"
#include "spec/spec.h"
#include "trace/merge/part.h"
#include "trace/model/record_times.h"
#include "trace/read/edit.h"
#include "trace/read/join_jobs.h"
#include "trace/read/trace.h"

namespace {

using namespace cairn;
using trace::Atom;

Atom constant(const char *name) {
  for (const spec::Constant &each : spec::constants()) {
    if (std::string_view(each.name) == name)
      return trace::special(static_cast<uint16_t>(trace::kFirstConstant + each.id));
  }
  std::fprintf(stderr, "make_traces: no constant %s\n", name);
  std::exit(1);
}

trace::Field atoms(std::vector<Atom> values) {
  trace::Field field;
  field.atoms = std::move(values);
  return field;
}

trace::Field text(const std::string &value) {
  trace::Field field;
  field.is_bytes = true;
  field.bytes.assign(value.begin(), value.end());
  return field;
}

/// One thread's recording, call by call.
class Thread {
 public:
  explicit Thread(uint32_t number, uint32_t segment = 0, uint64_t begin_ns = 0) {
    record_.thread = number;
    record_.segment = segment;
    record_.begin_ns = begin_ns;
  }

  /// Arguments by name; parameters not named are absent. `ns` is the duration of this and every like call.
  void call(const std::string &name, uint32_t site, std::map<std::string, trace::Field> arguments, uint64_t ns,
            std::vector<Atom> result = {0}, uint32_t depth = 0) {
    const spec::Function *function = spec::find_function(name);
    if (function == nullptr) {
      std::fprintf(stderr, "make_traces: no function %s\n", name.c_str());
      std::exit(1);
    }
    trace::Row row;
    row.function = function->id;
    row.site = site;
    row.depth = depth;
    for (size_t i = 0; i < function->parameter_count; ++i) {
      const auto found = arguments.find(function->parameters[i].name);
      row.fields.push_back(found == arguments.end() ? trace::Field() : found->second);
      if (found != arguments.end()) arguments.erase(found);
    }
    if (!arguments.empty()) {
      std::fprintf(stderr, "make_traces: %s has no %s\n", name.c_str(), arguments.begin()->first.c_str());
      std::exit(1);
    }
    row.fields.push_back(atoms(std::move(result)));
    ByteWriter packed;
    trace::pack_row(row, packed);
    const Bytes bytes = packed.take();
    size_t number = 0;
    while (number < record_.rows.size() && record_.rows[number] != bytes) ++number;
    if (number == record_.rows.size()) {
      record_.rows.push_back(bytes);
      stats_.emplace_back();
    }
    symbols_.push_back(static_cast<grammar::Symbol>(number));
    durations_.push_back(ns);
    timing::CallStats &stats = stats_[number];
    stats.minimum = stats.count == 0 ? ns : std::min(stats.minimum, ns);
    stats.maximum = std::max(stats.maximum, ns);
    ++stats.count;
    stats.sum += ns;
    ++stats.histogram[static_cast<size_t>(timing::CallStats::bucket(ns))];
  }

  void ticket(uint64_t number) { tickets_.push_back(number); }
  [[nodiscard]] uint64_t total() const {
    uint64_t sum = 0;
    for (const uint64_t ns : durations_) sum += ns;
    return sum;
  }

  trace::SequenceRecord finish(const std::vector<trace::Site> &sites, bool lossless) {
    record_.calls = grammar::Grammar::from_symbols(symbols_);
    record_.sites = sites;
    if (!lossless) {
      record_.stats = stats_;
    } else {
      std::vector<timing::CallTime> times;
      for (const uint64_t ns : durations_) times.push_back({1000, ns});
      record_.times = trace::exact_times(record_, std::move(times));
    }
    if (!tickets_.empty()) {
      std::vector<grammar::Symbol> skips;
      for (size_t i = 0; i < tickets_.size(); ++i) {
        skips.push_back(i == 0 ? 0 : static_cast<grammar::Symbol>(tickets_[i] - tickets_[i - 1] - 1));
      }
      record_.order = grammar::Grammar::from_symbols(skips);
      record_.first_ticket = tickets_.front();
    }
    return record_;
  }

 private:
  trace::SequenceRecord record_;
  std::vector<grammar::Symbol> symbols_;
  std::vector<uint64_t> durations_;
  std::vector<timing::CallStats> stats_;
  std::vector<uint64_t> tickets_;
};

constexpr uint64_t kStart = 1'700'000'000'000'000'000;

trace::RunInfo run_info(const std::string &timing, uint64_t wall) {
  trace::RunInfo run;
  run.command = "mpiexec -n 4 ./stencil 100";
  run.mpi = "MPICH Version: 4.0.2";
  run.recorder = "cairn 0.1.0 libmpich.so.12";
  run.timing = timing;
  run.status = "complete";
  run.start_unix_ns = kStart;
  run.wall_ns = wall;
  return run;
}

std::vector<trace::Module> modules() { return {{{0x12, 0x34, 0x56, 0x78}, "/nowhere/stencil"}}; }

std::vector<trace::Site> sites() {
  return {{0, 0}, {0, 0x1010}, {0, 0x1020}, {0, 0x1030}, {0, 0x1040}, {0, 0x1050}, {0, 0x1060}, {0, 0x1070}};
}

/// A ring: each rank receives from the left and sends to the right, then an Alltoallv as long as the communicator.
trace::ProcessRecord ring(uint32_t rank, uint32_t size, bool lossless) {
  trace::ProcessRecord process;
  process.rank = rank;
  process.size = size;
  process.host = rank < 2 ? "node1" : "node2";
  process.modules = modules();
  process.wall_ns = 1'000'000'000;
  process.peak_memory = 123'456;
  // Rank 1 begins 3 us after rank 0, and gains a millionth on its clock; what is between hosts is known to 3 us.
  process.clock = {static_cast<int64_t>(kStart + rank * 3'000), int64_t{rank} * 1'000,
                   rank < 2 ? int64_t{0} : int64_t{3'000}};
  Thread thread(0);
  const Atom world = constant("MPI_COMM_WORLD");
  const trace::Field doubles = atoms({constant("MPI_DOUBLE"), 0});
  const int64_t self = rank;
  const int64_t last = size - 1;
  const Atom left = rank == 0 ? constant("MPI_PROC_NULL") : self - 1;
  const Atom right = self == last ? constant("MPI_PROC_NULL") : self + 1;
  thread.call("MPI_Init", 1, {{"argc", atoms({trace::kNull})}, {"argv", atoms({trace::kNull})}}, 5'000'000);
  thread.call("MPI_Comm_rank", 2, {{"comm", atoms({world})}, {"rank", atoms({self})}}, 100);
  thread.call("MPI_Type_contiguous", 3, {{"count", atoms({10})}, {"oldtype", doubles}, {"newtype", atoms({3, 0})}},
              400);
  for (int i = 0; i < 100; ++i) {
    thread.call("MPI_Irecv", 4,
                {{"buf", atoms({trace::kHeap, 0, 0})},
                 {"count", atoms({100})},
                 {"datatype", doubles},
                 {"source", atoms({left})},
                 {"tag", atoms({7})},
                 {"comm", atoms({world})},
                 {"request", atoms({4, 0})}},
                250);
    thread.call("MPI_Isend", 5,
                {{"buf", atoms({trace::kHeap, 0, 128})},
                 {"count", atoms({10})},
                 {"datatype", atoms({3, 0})},
                 {"dest", atoms({right})},
                 {"tag", atoms({7})},
                 {"comm", atoms({world})},
                 {"request", atoms({5, 0})}},
                300);
    thread.call("MPI_Waitall", 6,
                {{"count", atoms({2})},
                 {"array_of_requests", atoms({4, 0, 5, 0})},
                 {"array_of_statuses", atoms({constant("MPI_STATUSES_IGNORE")})}},
                10'000 * (rank + 1));
  }
  std::vector<Atom> counts(size, 5);
  std::vector<Atom> places;
  for (uint32_t i = 0; i < size; ++i) places.push_back(5 * i);
  thread.call("MPI_Alltoallv", 7,
              {{"sendbuf", atoms({trace::kStack, 0, -64})},
               {"sendcounts", atoms(counts)},
               {"sdispls", atoms(places)},
               {"sendtype", doubles},
               {"recvbuf", atoms({trace::kStatic, 0, 0x40})},
               {"recvcounts", atoms(counts)},
               {"rdispls", atoms(places)},
               {"recvtype", doubles},
               {"comm", atoms({world})}},
              20'000);
  thread.call("MPI_Comm_set_name", 7, {{"comm", atoms({world})}, {"comm_name", text("a \"ring\"\n")}}, 100);
  thread.call("MPI_Finalize", 0, {}, 1'000'000);
  process.mpi_ns = thread.total();
  process.sequences.push_back(thread.finish(sites(), lossless));
  return process;
}

/// Two threads whose calls alternate.
trace::ProcessRecord threaded() {
  trace::ProcessRecord process;
  process.host = "node1";
  process.modules = modules();
  process.wall_ns = 5'000'000;
  const Atom self = constant("MPI_COMM_SELF");
  Thread threads[2] = {Thread(0), Thread(1)};
  for (uint64_t i = 0; i < 6; ++i) {
    Thread &thread = threads[i % 2];
    if (i < 4) {
      thread.call("MPI_Barrier", static_cast<uint32_t>(1 + i % 2), {{"comm", atoms({self})}}, 100);
    } else if (i == 4) {
      thread.call("MPI_Comm_size", 3, {{"comm", atoms({self})}, {"size", atoms({1})}}, 100);
    } else {
      thread.call("MPI_Abort", 4, {{"comm", atoms({self})}, {"errorcode", atoms({9})}}, 0, {trace::kNoReturn});
    }
    thread.ticket(i);
  }
  process.complete = false;
  process.losses = {{"memory ran out after 4 calls", 0, false},
                    {"a call stands without arguments", 1200, true},
                    {"a call was left out on request: --exclude", 1600, false, true}};
  process.mpi_ns = 500;
  process.sequences.push_back(threads[0].finish(sites(), false));
  process.sequences.push_back(threads[1].finish(sites(), false));
  return process;
}

/// A run of 24 ranks that hung and was killed: rank 0 waits for a message, rank 1 for requests, rank 2 computes, 3 and
/// 4 are in a barrier, and each other one waits for its neighbour.
trace::ProcessRecord hung(uint32_t rank) {
  constexpr uint64_t kSecond = 1'000'000'000;
  trace::ProcessRecord process;
  process.rank = rank;
  process.size = 24;
  process.host = "node1";
  process.modules = modules();
  process.wall_ns = 40 * kSecond;
  process.complete = false;
  process.losses = {{"killed: recorded up to the last call that ended", 0, false}};
  const Atom world = constant("MPI_COMM_WORLD");
  const trace::Field ints = atoms({constant("MPI_INT"), 0});
  const auto receive = [&](Thread *thread, uint32_t site, Atom source, Atom tag) {
    thread->call("MPI_Recv", site,
                 {{"buf", atoms({trace::kUnknown})},
                  {"count", atoms({1})},
                  {"datatype", ints},
                  {"source", atoms({source})},
                  {"tag", atoms({tag})},
                  {"comm", atoms({world})}},
                 31 * kSecond, {trace::kNoReturn});
  };
  Thread before(0);
  before.call("MPI_Init", 0, {}, 1000);
  before.call("MPI_Barrier", 1, {{"comm", atoms({world})}}, 1000);
  Thread pending(0, 1, (rank < 3 ? 9 : rank == 3 ? 28 : 8) * kSecond);
  if (rank == 0) receive(&pending, 2, 1, 7);
  if (rank == 1) {
    pending.call("MPI_Waitall", 3, {{"count", atoms({2})}, {"array_of_requests", atoms({2, 0, 2, 1})}}, 31 * kSecond,
                 {trace::kNoReturn});
  }
  if (rank == 3 || rank == 4) {
    pending.call("MPI_Barrier", 4, {{"comm", atoms({world})}}, 31 * kSecond, {trace::kNoReturn});
  }
  if (rank > 4) receive(&pending, 5, rank - 1, 0);
  process.sequences.push_back(before.finish(sites(), false));
  process.sequences.push_back(pending.finish(sites(), false));
  return process;
}

/// A run of 3 ranks that nobody waited for: two threads of rank 0 wait, one of them for requests; rank 1 ended itself;
/// rank 2 was killed in MPI_Finalize.
trace::ProcessRecord left(uint32_t rank) {
  trace::ProcessRecord process;
  process.rank = rank;
  process.size = 3;
  process.host = "node1";
  process.modules = modules();
  process.wall_ns = 9'000'000;
  process.complete = false;
  if (rank != 1) process.losses = {{"killed: recorded up to the last call that ended", 0, false}};
  const Atom world = constant("MPI_COMM_WORLD");
  const trace::Field ints = atoms({constant("MPI_INT"), 0});
  const auto begin = [&](Thread *thread, const char *function, uint32_t site, const char *peer, Atom other, Atom tag,
                         Atom place) {
    thread->call(function, site,
                 {{"buf", atoms({trace::kUnknown})},
                  {"count", atoms({1})},
                  {"datatype", ints},
                  {peer, atoms({other})},
                  {"tag", atoms({tag})},
                  {"comm", atoms({world})},
                  {"request", atoms({site, place})}},
                 100);
  };
  Thread before(0);
  before.call("MPI_Init", 0, {}, 1000);
  for (Atom step = 0; step < 3; ++step) {
    begin(&before, "MPI_Irecv", 2, "source", 1, step, 0);
    begin(&before, "MPI_Irecv", 2, "source", 2, step, 1);
    begin(&before, "MPI_Isend", 3, "dest", 2, step, 0);
    if (step < 2) before.call("MPI_Barrier", 1, {{"comm", atoms({world})}}, 1000);
  }
  process.sequences.push_back(before.finish(sites(), false));
  if (rank == 1) return process;
  Thread waits(0, 1, 8'000'000);
  if (rank == 0) {
    waits.call("MPI_Waitall", 4, {{"count", atoms({3})}, {"array_of_requests", atoms({2, 0, 2, 1, 3, 0})}}, 1'000'000,
               {trace::kNoReturn});
  } else {
    waits.call("MPI_Finalize", 5, {}, 1'000'000, {trace::kNoReturn});
  }
  process.sequences.push_back(waits.finish(sites(), false));
  if (rank == 2) return process;
  Thread other(1, 0, 9'000'000);
  other.call("MPI_Wait", 6, {{"request", atoms({2 + (Atom{1} << 32), 1})}}, 0, {trace::kNoReturn});
  process.sequences.push_back(other.finish(sites(), false));
  return process;
}

/// One rank of a spawned job: a persistent request that is started, of a buffer on a device. It was killed in a
/// callback of MPI_Comm_free.
trace::ProcessRecord spawned() {
  trace::ProcessRecord process;
  process.host = "node1";
  process.modules = modules();
  process.wall_ns = 9'000'000;
  process.complete = false;
  process.losses = {{"killed: recorded up to the last call that ended", 0, false}};
  const Atom world = constant("MPI_COMM_WORLD");
  Thread before(0);
  before.call("MPI_Init", 1, {}, 1000);
  before.call("MPI_Send_init", 2,
              {{"buf", atoms({trace::kDevice, 0, 0})},
               {"count", atoms({1})},
               {"datatype", atoms({constant("MPI_INT"), 0})},
               {"dest", atoms({0})},
               {"tag", atoms({0})},
               {"comm", atoms({world})},
               {"request", atoms({2, 0})}},
              100);
  before.call("MPI_Start", 3, {{"request", atoms({2, 0})}}, 100);
  before.call("MPI_Wait", 4, {{"request", atoms({2, 0})}, {"status", atoms({constant("MPI_STATUS_IGNORE")})}}, 100);
  trace::SequenceRecord calls = before.finish(sites(), false);
  calls.heap_events = {trace::ThreadEvent{0, 0, 0, false}.packed(), trace::DeviceEvent{1, 0, 4096}.packed(),
                       trace::ThreadEvent{3, 0, 0, true}.packed()};
  calls.heap = grammar::Grammar::from_symbols({0, 1, 2});
  process.sequences.push_back(std::move(calls));
  Thread pending(0, 1, 8'000'000);
  pending.call("MPI_Comm_free", 5, {{"comm", atoms({world})}}, 1'000'000, {trace::kNoReturn});
  pending.call("MPI_Barrier", 6, {{"comm", atoms({world})}}, 1'000'000, {trace::kNoReturn}, 1);
  process.sequences.push_back(pending.finish(sites(), false));
  return process;
}

/// Each rank sends to the right, from two places of one function, and takes what comes: on rank 0 each third message is
/// too long. A communicator of its own for the first two ranks and one for the others. Call stacks were kept.
trace::ProcessRecord failing(uint32_t rank, bool lossless) {
  constexpr uint32_t kSize = 4;
  trace::ProcessRecord process;
  process.rank = rank;
  process.size = kSize;
  process.host = "node1";
  process.modules = modules();
  process.wall_ns = 10'000'000;
  // main() calls exchange() in lines 20 and 30, which calls MPI in lines 40 and 50.
  process.frames = {{0, 0x1020, 0}, {0, 0x1030, 0}};
  const std::vector<trace::Site> sites = {{0, 0},         {0, 0x1010, 0}, {0, 0x1040, 1},
                                          {0, 0x1040, 2}, {0, 0x1050, 1}, {0, 0x1050, 2}};
  const Atom world = constant("MPI_COMM_WORLD");
  const trace::Field ints = atoms({constant("MPI_INT"), 0});
  const int64_t self = rank;
  const int64_t before = (self + kSize - 1) % kSize;
  Thread thread(0);
  thread.call("MPI_Init", 1, {}, 1'000'000);
  thread.call("MPI_Comm_split", 1,
              {{"comm", atoms({world})},
               {"color", atoms({self / 2})},
               {"key", atoms({self})},
               {"newcomm", atoms({2, 0, 0, 2 * (self / 2)})}},
              5'000);
  for (int64_t i = 0; i < 6; ++i) {
    const uint32_t late = i < 4 ? 0 : 1;
    const Atom comm = late == 0 ? world : 2;
    thread.call("MPI_Send", 2 + late,
                {{"buf", atoms({trace::kStack, 0, 8})},
                 {"count", atoms({1})},
                 {"datatype", ints},
                 {"dest", atoms({late == 0 ? (self + 1) % kSize : 1 - self % 2})},
                 {"tag", atoms({10 * i})},
                 {"comm", atoms({comm})}},
                2'000);
    const bool fails = rank == 0 && i % 3 == 0;
    std::map<std::string, trace::Field> receive = {
        {"buf", atoms({trace::kStack, 0, 16})},          {"count", atoms({1})},    {"datatype", ints},
        {"source", atoms({constant("MPI_ANY_SOURCE")})}, {"tag", atoms({10 * i})}, {"comm", atoms({comm})}};
    if (!fails) {
      receive["status"] =
          atoms({late == 0 ? before : 1 - self % 2, trace::kImplied, 0, trace::kImplied, trace::kImplied});
    }
    const std::vector<Atom> result = fails ? std::vector<Atom>{constant("MPI_ERR_TRUNCATE"), 15} : std::vector<Atom>{0};
    thread.call("MPI_Recv", 4 + late, receive, fails ? 7'000 : 3'000, result);
  }
  thread.call("MPI_Finalize", 1, {}, 500'000);
  process.mpi_ns = thread.total();
  process.sequences.push_back(thread.finish(sites, lossless));
  return process;
}

/// Rows that no MPI program makes: an unknown function, too few fields, a field that is no status.
trace::ProcessRecord malformed() {
  trace::ProcessRecord process;
  process.host = "node1";
  trace::SequenceRecord sequence;
  for (int i = 0; i < 2; ++i) {
    trace::Row row;
    row.function = i == 0 ? 60'000 : spec::find_function("MPI_Get_count")->id;
    if (i == 1) row.fields = {atoms({1, 2}), {}, {}, atoms({0})};
    ByteWriter packed;
    trace::pack_row(row, packed);
    sequence.rows.push_back(packed.take());
  }
  sequence.calls = grammar::Grammar::from_symbols({0, 1});
  process.sequences.push_back(std::move(sequence));
  return process;
}

void save(const std::string &path, const Bytes &bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) {
    std::fprintf(stderr, "make_traces: cannot write %s\n", path.c_str());
    std::exit(1);
  }
}

template <typename T>
T must(Result<T> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "make_traces: %s\n", result.error().message.c_str());
  std::exit(1);
}

/// With these losses on rank 1.
trace::Part merged(uint32_t size, bool lossless, const std::vector<trace::Loss> &losses = {}) {
  trace::Part whole = must(trace::Part::of(ring(0, size, lossless)));
  for (uint32_t rank = 1; rank < size; ++rank) {
    trace::ProcessRecord process = ring(rank, size, lossless);
    if (rank == 1) process.losses = losses;
    whole = must(trace::Part::merge(std::move(whole), must(trace::Part::of(process))));
  }
  return whole;
}

/// `file_name`, `function`: of what is not in main().
Bytes with_lines(const Bytes &file, const char *file_name = "/home/me/src/stencil.cc",
                 const char *function = "exchange(int)") {
  const trace::Trace trace = must(trace::Trace::from_bytes(file, "ring"));
  std::vector<std::pair<trace::Site, trace::Source>> lines;
  for (uint32_t i = 1; i < sites().size(); ++i) {
    lines.push_back({sites()[i], {i < 4 ? "main" : function, file_name, 10 * i}});
  }
  return trace::with_sources(trace, lines);
}

void save_part(const std::string &path, const trace::ProcessRecord &process, SpoolHeader::Kind kind) {
  SpoolHeader header;
  header.kind = kind;
  header.start_unix_ns = kStart + process.rank;
  header.rank = process.rank;
  header.size = process.size;
  header.host = "node1";
  header.command = "./stencil";
  header.mpi = "MPICH Version: 4.0.2";
  header.recorder = "cairn 0.1.0 libmpich.so.12";
  header.timing = "stats";
  header.status = "complete";
  Bytes bytes = write_spool_header(header);
  const Bytes part = must(trace::Part::of(process)).serialise();
  bytes.insert(bytes.end(), part.begin(), part.end());
  save(path, bytes);
}

/// Four processes that did not merge; the third also called MPI after MPI_Finalize.
void save_spool(const std::string &folder) {
  for (uint32_t rank = 0; rank < 4; ++rank) {
    save_part(folder + "/" + std::to_string(rank) + ".part", ring(rank, 4, false), SpoolHeader::Kind::main);
  }
  trace::ProcessRecord process;
  process.rank = 2;
  process.size = 4;
  process.modules = modules();
  Thread thread(0);
  thread.call("MPI_Finalized", 1, {{"flag", atoms({1})}}, 100);
  trace::SequenceRecord sequence = thread.finish(sites(), false);
  sequence.segment = trace::SequenceRecord::kEpilogue;
  process.sequences.push_back(std::move(sequence));
  save_part(folder + "/2.epilogue", process, SpoolHeader::Kind::epilogue);
}

/// Two launches: warps in a loop that lanes leave, and one that had split.
/// `edited`: as another version of its source does it.
gpu::Launches kernels(bool edited) {
  gpu::Launches made;
  gpu::ProgramRecord program;
  program.file = "fire.cu";
  program.kernels = {"burn", "quench<4>"};
  program.locations = {{1, gpu::Kind::entry, "burn", "fire.cu", 10},
                       {2, gpu::Kind::loop, "burn", "fire.cu", 12},
                       {3, gpu::Kind::then, "spark", "fire.h", 3},
                       {4, gpu::Kind::otherwise, "spark", "fire.h", 5}};
  program.successors = {{0, 1}, {1, 2}, {2, 2}, {2, 3}};
  if (edited) {
    program.source_hash = 1;
    program.locations[1].line = 13;
    program.locations[3] = {4, gpu::Kind::label, "spark", "fire.h", 6};
  }
  for (uint32_t number = 0; number < 2; ++number) {
    gpu::LaunchRecord launch;
    launch.program = made.add(program);
    launch.kernel = number;
    launch.grid = {2, 1, 1};
    launch.block = {64, 1, 1};
    launch.end_block = 2;
    gpu::StreamForm form;
    form.guesses = made.programs[launch.program].guesses();
    for (uint32_t warp = 0; warp < (number == 0 ? 4u : 2u); ++warp) {
      std::vector<gpu::Event> events{{1, 0xffffffff}};
      if (number == 1) events.insert(events.end(), {{2, 0x0f0f0f0f}, {2, 0xf0f0f0f0}, {2, 0xffffffff}});
      for (uint32_t i = 0; number == 0 && i < 14 + warp % 2; ++i) events.push_back({2, 0xffffffff >> i});
      if (number == 0) events.push_back({3, warp % 2 == 0 || edited ? 0x3u : 0x1u});
      const std::vector<uint32_t> words = gpu::encode_stream(form, events, 0xffffffff);
      gpu::StreamRecord stream{events.size(), 0xffffffff, Bytes(words.size() * 4)};
      std::memcpy(stream.bytes.data(), words.data(), stream.bytes.size());
      launch.warps.push_back({warp, warp == 3 ? 2u : 0u, {made.add(std::move(stream))}});
    }
    made.launches.push_back(std::move(launch));
  }
  if (edited) {
    made.launches.push_back(made.launches[1]);
    made.launches[1].grid = {1, 1, 1};
    made.launches[1].warps.pop_back();
    made.launches[1].warps[0].streams = made.launches[0].warps[0].streams;
  }
  return made;
}

/// One warp in a loop, `times` times.
gpu::Launches long_kernel(uint32_t times) {
  gpu::Launches made = kernels(false);
  gpu::LaunchRecord launch = made.launches[0];
  std::vector<gpu::Event> events(times + 1, gpu::Event{2, 0xffffffff});
  events[0].location = 1;
  gpu::StreamForm form;
  form.guesses = made.programs[0].guesses();
  const std::vector<uint32_t> words = gpu::encode_stream(form, events, 0xffffffff);
  gpu::StreamRecord stream{events.size(), 0xffffffff, Bytes(words.size() * 4)};
  std::memcpy(stream.bytes.data(), words.data(), stream.bytes.size());
  made.streams.clear();
  launch.warps = {{0, 0, {0}}};
  made.streams.push_back(std::move(stream));
  made.launches = {launch};
  return made;
}

/// A warp whose lanes tell a bound, an address and a float.
gpu::Launches values() {
  gpu::Launches made;
  gpu::ProgramRecord program;
  program.file = "flood.cu";
  program.source_hash = 8;
  program.kernels = {"rise"};
  program.locations = {{1, gpu::Kind::entry, "rise", "flood.cu", 4},
                       {2, gpu::Kind::value, "rise", "flood.cu", 6},
                       {3, gpu::Kind::value, "rise", "flood.cu", 7}};
  gpu::LaunchRecord launch;
  launch.program = made.add(std::move(program));
  launch.end_block = 1;
  launch.block = {4, 1, 1};
  const auto bits = [](float value) {
    uint32_t as = 0;
    std::memcpy(&as, &value, sizeof as);
    return uint64_t{as};
  };
  const std::vector<gpu::Event> events{{1, 0xf},
                                       {2, 0xf, gpu::ValueType::i32, {0xfffffffd, 0xfffffffd, 0xfffffffd, 0xfffffffd}},
                                       {2, 0x6, gpu::ValueType::u64, {0x7f0000000000, 0x7f0000000008}},
                                       {3, 0x5, gpu::ValueType::f32, {bits(0.5f), bits(-2.25f)}},
                                       {3, 0xa, gpu::ValueType::f32, {bits(1e9f), bits(0.5f)}}};
  const gpu::StreamForm form = made.form(launch);
  const std::vector<uint32_t> words = gpu::encode_stream(form, events, 0xf);
  gpu::StreamRecord stream{events.size(), 0xf, Bytes(words.size() * 4)};
  std::memcpy(stream.bytes.data(), words.data(), stream.bytes.size());
  launch.warps.push_back({0, 0, {made.add(std::move(stream))}});
  made.launches.push_back(std::move(launch));
  return made;
}

/// Two blocks of one warp each, on two multiprocessors, whose lanes read global memory and write shared memory; the
/// second warp's end is not known. `fewer`: one lane does not write.
gpu::Launches touches(bool fewer) {
  gpu::Launches made;
  gpu::ProgramRecord program;
  program.file = "tide.cu";
  program.kernels = {"ebb"};
  program.locations = {{1, gpu::Kind::entry, "ebb", "tide.cu", 3},
                       {2, gpu::Kind::load, "ebb", "tide.cu", 5, 12},
                       {3, gpu::Kind::store, "ebb", "tide.cu", 6, 3}};
  gpu::LaunchRecord launch;
  launch.program = made.add(std::move(program));
  launch.grid = {2, 1, 1};
  launch.block = {4, 1, 1};
  launch.end_block = 2;
  launch.processors = 4;
  const auto at = [](uint64_t address, gpu::Space space) { return gpu::bits_of(gpu::Access{address, 4, space}); };
  std::vector<uint64_t> reads;
  std::vector<uint64_t> writes;
  for (uint64_t lane = 0; lane < 4; ++lane) {
    reads.push_back(at(0x7f0000000000 + 64 * lane, gpu::Space::global));
    if (lane != 0 || !fewer) writes.push_back(at(4 * lane, gpu::Space::shared));
  }
  const std::vector<gpu::Event> events{
      {1, 0xf}, {2, 0xf, gpu::ValueType::u64, reads}, {3, fewer ? 0xeU : 0xfU, gpu::ValueType::u64, writes}};
  const std::vector<uint32_t> words = gpu::encode_stream(made.form(launch), events, 0xf);
  gpu::StreamRecord stream{events.size(), 0xf, Bytes(words.size() * 4)};
  std::memcpy(stream.bytes.data(), words.data(), stream.bytes.size());
  const uint32_t number = made.add(std::move(stream));
  launch.warps = {{0, 0, {number}}, {1, 0, {number}}};
  launch.clocks = {{2, true, 0, 900}, {3, false, 40, 0}};
  made.launches.push_back(std::move(launch));
  return made;
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  const std::string folder = argv[1];
  const Bytes ring4 = with_lines(
      trace::with_merge_cost(*merged(4, false).to_file(run_info("stats", 1'000'000'000)), {4, 8'000'000, 5'000'000}));
  save(folder + "/ring.cairn", ring4);
  for (const uint32_t ranks : {3U, 6U}) {
    const Bytes file = *merged(ranks, false).to_file(run_info("stats", 1'000'000'000));
    save(folder + "/ring" + std::to_string(ranks) + ".cairn", with_lines(file));
  }
  save(folder + "/bare.cairn", *merged(2, false).to_file(run_info("stats", 1'000'000'000)));
  save(folder + "/lossless.cairn", with_lines(*merged(2, true).to_file(run_info("lossless", 1'000'000'000))));
  {
    // Of two jobs, as if the second had been spawned by rank 1 of the first.
    const auto job = must(
        trace::Trace::from_bytes(with_lines(*merged(2, true).to_file(run_info("lossless", 1'000'000'000))), "job"));
    std::vector<trace::Job> jobs(2);
    jobs[1].spawned_by = 1;
    jobs[1].parent = "comm(0@0)";
    save(folder + "/joined.cairn", must(trace::join_jobs({&job, &job}, std::move(jobs))));
  }
  // Of a program whose names are not UTF-8, some of whose calls nobody wanted.
  const trace::Loss left_out{"a call was left out on request: --exclude MPI_Comm_rank", 3, false, true};
  trace::RunInfo latin = run_info("lossless", 1'000'000'000);
  latin.command = "mpiexec -n 2 ./caf\xe9";
  save(folder + "/latin.cairn", with_lines(*merged(2, true, {left_out}).to_file(latin), "/home/me/d\xe9/caf\xe9.cc"));
  for (const bool times : {false, true}) {
    trace::Part whole = must(trace::Part::of(failing(0, times)));
    for (uint32_t rank = 1; rank < 4; ++rank) {
      whole = must(trace::Part::merge(std::move(whole), must(trace::Part::of(failing(rank, times)))));
    }
    const char *name = times ? "/failing_lossless.cairn" : "/failing.cairn";
    const Bytes file = *whole.to_file(run_info(times ? "lossless" : "stats", 10'000'000));
    save(folder + name, with_lines(file));
    if (times) continue;
    save(folder + "/long_names.cairn",
         with_lines(file, "/home/me/src/stencil-communication.cc",
                    "mesh::Domain<double>::exchange(mesh::Domain<double>&, int, int, bool, bool) const"));
  }
  trace::RunInfo aborted = run_info("stats", 5'000'000);
  aborted.status = "aborted";
  trace::Part hanging = must(trace::Part::of(hung(0)));
  for (uint32_t rank = 1; rank < 24; ++rank) {
    hanging = must(trace::Part::merge(std::move(hanging), must(trace::Part::of(hung(rank)))));
  }
  trace::RunInfo killed = run_info("stats", 40'000'000'000);
  killed.status = "killed";
  save(folder + "/hung.cairn", *hanging.to_file(killed));
  trace::Part abandoned = must(trace::Part::of(left(0)));
  for (uint32_t rank = 1; rank < 3; ++rank) {
    abandoned = must(trace::Part::merge(std::move(abandoned), must(trace::Part::of(left(rank)))));
  }
  killed.wall_ns = 9'000'000;
  save(folder + "/left.cairn", *abandoned.to_file(killed));
  killed.job = "17";
  killed.spawned_by = "16.2";
  trace::MergeCost much{1, 8'000'000, 8'000'000};
  much.memory = {5 << 20, 1 << 20, 2 << 20, 7 << 20};
  save(folder + "/spawned.cairn", trace::with_merge_cost(*must(trace::Part::of(spawned())).to_file(killed), much));
  save(folder + "/threads.cairn", *must(trace::Part::of(threaded())).to_file(aborted));
  save(folder + "/malformed.cairn", *must(trace::Part::of(malformed())).to_file(run_info("stats", 0)));

  gpu::Launches launches = kernels(false);
  const auto gpu_file = [](const gpu::Launches &of) { return gpu::file_of(of, "./fire", kStart, 1'000'000); };
  const Bytes gpu_trace = gpu_file(launches);
  save(folder + "/gpu.cairn", gpu_trace);
  save(folder + "/values.cairn", gpu_file(values()));
  save(folder + "/touches.cairn", gpu_file(touches(false)));
  save(folder + "/touches2.cairn", gpu_file(touches(true)));
  save(folder + "/biggpu.cairn", gpu_file(long_kernel(6'000'000)));
  save(folder + "/gpu2.cairn", gpu_file(kernels(true)));
  launches.streams[0].bytes = {0, 0, 0, 0};
  save(folder + "/badgpu.cairn", gpu_file(launches));
  const auto readable = trace::Trace::from_bytes(gpu_trace, "gpu");
  if (!readable) return 1;
  const auto kernels_of = must(readable->gpu());
  gpu::Launches timed = kernels(false);
  timed.launches[0].moment = {true, true, true, 1'500, 0, 1, 4'000, 65'000};
  timed.launches[1].rank = 1;
  timed.launches[1].moment = {true, true, false, -700, 0, 0, 0, 0};
  const auto timed_kernels = timed.write();
  for (const bool times : {true, false}) {  // calls as well
    const Bytes calls = *merged(2, times).to_file(run_info(times ? "lossless" : "stats", 1'000'000'000));
    const auto ranks = trace::Trace::from_bytes(with_lines(calls), "calls");
    if (!ranks) return 1;
    save(folder + (times ? "/both.cairn" : "/both_untimed.cairn"),
         trace::with_gpu(*ranks, kernels_of.first, kernels_of.second));
    if (times) save(folder + "/launches.cairn", trace::with_gpu(*ranks, timed_kernels.first, timed_kernels.second));
  }
  save(folder + "/nogpu.cairn", trace::with_gpu(*readable, {7}, {0}));  // seven programs, and then nothing

  Bytes cut = ring4;
  cut.resize(cut.size() / 2);
  save(folder + "/cut.cairn", cut);
  Bytes flipped = ring4;
  flipped[flipped.size() / 3] ^= 0x40;
  save(folder + "/flipped.cairn", flipped);
  Bytes newer = ring4;
  newer[8] = 99;
  save(folder + "/newer.cairn", newer);
  save(folder + "/foreign.cairn", {'P', 'K', 3, 4, 0, 0, 0, 0, 0, 0, 0, 0});
  save(folder + "/empty.cairn", {});
  save_spool(folder + "/spool");
  return 0;
}
