// Pieces of synthetic recordings: fields, rows in order of first occurrence, statistics, modules.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "trace/model/record.h"

namespace cairn::trace::synthetic {

constexpr Atom constant(uint16_t id) { return special(static_cast<uint16_t>(kFirstConstant + id)); }
constexpr Atom kProcNull = constant(3);
constexpr Atom kDouble = constant(120);
constexpr Atom kWorld = constant(40);

inline Field atoms(std::vector<Atom> values) {
  Field field;
  field.atoms = std::move(values);
  return field;
}

inline Field bytes(const std::string &text) {
  Field field;
  field.is_bytes = true;
  field.bytes.assign(text.begin(), text.end());
  return field;
}

/// Rows in order of first occurrence, and calls.
class Recording {
 public:
  void call(Row row) {
    ByteWriter out;
    row.fields.push_back(atoms({0}));  // MPI_SUCCESS
    pack_row(row, out);
    const Bytes packed = out.take();
    const auto found = std::find(rows_.begin(), rows_.end(), packed);
    calls_.push_back(static_cast<uint32_t>(found - rows_.begin()));
    if (found == rows_.end()) rows_.push_back(packed);
  }
  [[nodiscard]] const std::vector<uint32_t> &calls() const { return calls_; }
  [[nodiscard]] const std::vector<Bytes> &rows() const { return rows_; }

 private:
  std::vector<Bytes> rows_;
  std::vector<uint32_t> calls_;
};

inline std::vector<timing::CallStats> durations(const std::vector<uint32_t> &calls, size_t rows, uint64_t seed) {
  std::vector<timing::CallStats> stats(rows);
  std::mt19937_64 random(seed);
  for (const uint32_t row : calls) {
    timing::CallStats &s = stats[row];
    // A few hundred nanoseconds with a long tail.
    uint64_t time = 200 + random() % 400 + row * 20;
    while (random() % 4 == 0) time *= 2;
    s.minimum = s.count == 0 ? time : std::min(s.minimum, time);
    s.maximum = std::max(s.maximum, time);
    ++s.count;
    s.sum += time;
    ++s.histogram[static_cast<size_t>(timing::CallStats::bucket(time))];
  }
  return stats;
}

inline Module module(uint8_t seed, std::string path) {
  Module result{{}, std::move(path)};
  uint32_t state = seed;
  for (int i = 0; i < 20; ++i) {
    state = state * 1664525 + 1013904223;
    result.build_id.push_back(static_cast<uint8_t>(state >> 24));
  }
  return result;
}

/// A process with one module that has done nothing yet.
inline ProcessRecord idle_process(uint32_t rank, uint32_t ranks) {
  ProcessRecord process;
  process.rank = rank;
  process.size = ranks;
  process.host = "node";
  process.wall_ns = 1000;
  process.modules = {module(1, "/program")};
  return process;
}

/// A process with one thread whose call sites 1 to 4 lie in one module.
inline ProcessRecord single_thread(uint32_t rank, uint32_t ranks, const Recording &recording, uint64_t seed) {
  ProcessRecord process = idle_process(rank, ranks);
  SequenceRecord sequence;
  sequence.calls = grammar::Grammar::from_symbols(recording.calls());
  sequence.rows = recording.rows();
  sequence.stats = durations(recording.calls(), recording.rows().size(), seed);
  sequence.sites.resize(5);
  for (uint64_t site = 1; site < 5; ++site) sequence.sites[site].offset = 1000 * site;
  process.sequences.push_back(std::move(sequence));
  return process;
}

}  // namespace cairn::trace::synthetic
