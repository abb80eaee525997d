// Writes sample traces: sample_trace OUT SEED writes OUT.cairn and OUT.txt (what is in it, as plain text). SEED 0 is a
// 3 x 3 stencil, others are random programs of several kinds; from 50 to 59 with gaps at call sites, from
// 60 to 99 with heap segments, from 80 on with threads instead, from 450 on with branches, from 500 on with
// lossless times, in blocks, from 550 on with corrections of them; from 600 on classes are in bundles; from 700 on a
// thousand ranks with lagged columns. The golden files in testdata/ are such samples, which stay as they are: readers
// must read them for ever.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "trace/read/edit.h"
#include "trace/testing/in_blocks.h"
#include "trace/testing/plain_text.h"
#include "trace/testing/synthetic.h"

namespace {

bool save(const std::string &path, const void *data, size_t size) {
  std::FILE *file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return false;
  const bool good = std::fwrite(data, 1, size, file) == size;
  return (std::fclose(file) == 0) && good;
}

cairn::trace::Corrections corrections_of(const cairn::trace::Trace &trace) {
  cairn::trace::Corrections made{1000, 20, 10, 30, 0, 500'000, {}};
  for (const uint32_t rank : trace.ranks()) {
    cairn::trace::RankShift shift;
    for (uint64_t i = 0; i < rank % 3; ++i) {
      shift.after.add({2'000'000 * i + 5'000 * rank, 10'000 + rank});
      shift.after.add({2'000'000 * i + 5'000 * rank + 1'000'000 + 100 * rank, 0});
      shift.before.add({2'000'000 * i + 1'500'000, 7'000 * (i % 2)});
    }
    made.ranks.push_back(std::move(shift));
  }
  return made;
}

/// Of every other site of each process.
void add_gaps(std::vector<cairn::trace::ProcessRecord> *processes, uint64_t seed) {
  for (cairn::trace::ProcessRecord &process : *processes) {
    for (cairn::trace::SequenceRecord &sequence : process.sequences) {
      sequence.gaps.resize(sequence.sites.size());
      for (size_t site = 1; site < sequence.sites.size(); site += 2) {
        for (uint64_t i = 0; i < 3 + site; ++i) {
          seed = seed * 6364136223846793005U + 1442695040888963407U;
          sequence.gaps[site].add(seed >> 40 >> (i % 4 * 6));
        }
      }
    }
  }
}

}  // namespace

int main(int argc, char **argv) {
  using namespace cairn;
  using namespace cairn::trace;
  if (argc != 3) return 2;
  const std::string out = argv[1];
  const uint64_t seed = std::strtoull(argv[2], nullptr, 10);
  std::vector<ProcessRecord> processes;
  const bool bundles = seed >= 600 && seed < 700;
  const bool blocks = seed >= 500 && seed < 600;
  if (seed == 0) {
    for (uint32_t rank = 0; rank < 9; ++rank) processes.push_back(stencil_rank(rank, 3, 3, 20));
  } else if (seed >= 700) {
    processes = skewed_program(33, seed);
  } else if (bundles && seed % 2 == 0) {
    processes = polling_program(3 + static_cast<uint32_t>(seed % 9), seed);
  } else if (blocks || bundles) {
    processes = lossless_program(3 + static_cast<uint32_t>(seed % 9), seed);
  } else if (seed >= 450) {
    processes = branching_program(1 + static_cast<uint32_t>(seed % 9), seed);
  } else if (seed >= 400) {
    processes = polling_program(1 + static_cast<uint32_t>(seed % 9), seed);
  } else if (seed >= 350) {
    const auto kind = static_cast<Neighbours>(seed % 4);
    processes = neighbours_program(2 + static_cast<uint32_t>(seed % 7), seed, kind).processes;
  } else if (seed >= 300) {
    processes = draining_program(1 + static_cast<uint32_t>(seed % 4), seed, seed % 2 == 0).processes;
  } else if (seed >= 200) {
    processes = exchanging_program(1 + static_cast<uint32_t>(seed % 9), seed);
  } else if (seed >= 100) {
    processes = varying_program(1 + static_cast<uint32_t>(seed % 9), seed);
  } else {
    processes = random_program(3 + static_cast<uint32_t>(seed % 9), seed);
    if (seed >= 50 && seed < 60) add_gaps(&processes, seed);
    if (seed >= 60) add_heap(&processes, seed, seed >= 80);
  }
  const InBlocks all = bundles ? in_bundles(processes, seed % 3 * 200)
                               : in_blocks(processes, [](uint32_t rank) { return rank % 4 == 1; });
  // Pair by pair where ranks are many, else one after the other.
  std::vector<Part> parts;
  parts.reserve(processes.size());
  for (const ProcessRecord &process : processes) parts.push_back(*Part::of(process));
  while (parts.size() > 1) {
    const size_t pairs = seed >= 700 ? parts.size() / 2 : 1;
    for (size_t i = 0; i < pairs; ++i) {
      Result<Part> merged = Part::merge(std::move(parts[2 * i]), std::move(parts[2 * i + 1]));
      if (!merged) return 1;
      parts[i] = *std::move(merged);
    }
    std::move(parts.begin() + static_cast<ptrdiff_t>(2 * pairs), parts.end(),
              parts.begin() + static_cast<ptrdiff_t>(pairs));
    parts.resize(parts.size() - pairs);
  }
  const Part &part = parts.front();
  const bool timed = std::any_of(processes.begin(), processes.end(), [](const ProcessRecord &process) {
    return std::any_of(process.sequences.begin(), process.sequences.end(),
                       [](const SequenceRecord &sequence) { return !sequence.times.empty(); });
  });
  const RunInfo run = {
      "mpiexec -n 9 ./sample",   "An MPI 1.0",  "cairn 0.1.0 sample",     timed ? "lossless" : "stats", "complete",
      1'700'000'000'000'000'000, 1'234'567'890, {9, 8'765'432, 4'321'098}};
  Result<Trace> trace = Trace::from_bytes(blocks || bundles ? all.file(run) : *part.to_file(run), out);
  if (!trace) return 1;
  std::vector<std::pair<Site, Source>> sources;
  for (uint32_t c = 0; c < trace->class_count(); ++c) {
    const std::vector<Site> sites = trace->sites(c);
    if (sites.size() <= 1) continue;
    Source source{"main", "sample.c", 10 + c};
    if (seed % 2 != 0) source.tail_call = std::make_shared<const Source>(Source{"wrapper_", "wrap.c", 100 + c});
    sources.emplace_back(sites[1], std::move(source));
  }
  Bytes bytes = with_sources(*trace, sources);
  trace = Trace::from_bytes(bytes, out);
  if (!trace) return 1;
  if (blocks && seed >= 550) {
    bytes = with_corrections(*trace, corrections_of(*trace));
    trace = Trace::from_bytes(bytes, out);
    if (!trace) return 1;
  }
  const std::string text = plain_text(*trace);
  const bool good = save(out + ".cairn", bytes.data(), bytes.size()) && save(out + ".txt", text.data(), text.size());
  return good ? 0 : 1;
}
