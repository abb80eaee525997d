// smallest_trace OUT: writes the smallest file that a recording makes, which docs/format.md explains byte by byte ("The
// smallest trace"): one rank calls MPI_Init(NULL, NULL) and MPI_Finalize(). explained.py holds the page against it.
//
// Names and times are made up, and as short as may be. So each section is smaller as it is than compressed, and the
// file is the same with every version of zstd.
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include "spec/ids.h"
#include "trace/merge/part.h"

namespace {

using namespace cairn;
using namespace cairn::trace;

Field field_of(Atom atom) {
  Field field;
  field.atoms = {atom};
  return field;
}

/// A call with these parameters that gave MPI_SUCCESS, and took so long.
void add(SequenceRecord *sequence, Row row, uint64_t nanoseconds) {
  row.fields.push_back(field_of(0));
  ByteWriter packed;
  pack_row(row, packed);
  sequence->rows.push_back(packed.take());
  timing::CallStats stats = {1, nanoseconds, nanoseconds, nanoseconds, {}};
  stats.histogram[static_cast<size_t>(timing::CallStats::bucket(nanoseconds))] = 1;
  sequence->stats.push_back(stats);
}

ProcessRecord process() {
  SequenceRecord sequence;
  sequence.calls = grammar::Grammar::from_symbols({0, 1});
  sequence.sites = {{}, {0, 0x1040, 0}, {0, 0x1045, 0}};
  add(&sequence, {spec::function_id::Init, 1, 0, {field_of(kNull), field_of(kNull)}}, 3000);
  add(&sequence, {spec::function_id::Finalize, 2, 0, {}}, 2000);

  ProcessRecord process;
  process.host = "h";
  process.wall_ns = 9000;
  process.mpi_ns = 5000;
  process.peak_memory = 65536;
  process.modules = {{{0xab, 0xcd}, "/a"}};
  process.sequences.push_back(std::move(sequence));
  return process;
}

RunInfo run() {
  RunInfo run;
  run.command = "a";
  run.mpi = "M";
  run.recorder = "c";
  run.timing = "stats";
  run.status = "complete";
  run.start_unix_ns = 1000;
  run.wall_ns = 10000;
  return run;
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  const Result<Part> part = Part::of(process());
  if (!part) return 1;
  const Result<Bytes> file = part->to_file(run());
  if (!file) return 1;
  std::FILE *out = std::fopen(argv[1], "wb");
  if (out == nullptr) return 1;
  const bool good = std::fwrite(file->data(), 1, file->size(), out) == file->size();
  return std::fclose(out) == 0 && good ? 0 : 1;
}
