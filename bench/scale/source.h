// Source: what the recorder of each rank of a made-up program would hand over, made when it is asked for.
//
// Grammars come from the recorder's own Builder, fed call by call; equal ones are made once. One thread. Cost: the
// pattern's, and 10 to 100 ns a call for structures that were not met before.
#pragma once

#include <memory>
#include <unordered_map>

#include "base/hash.h"
#include "scale/patterns.h"
#include "trace/model/record.h"

namespace cairn::scale {

struct SourceOptions {
  /// What is a rank's own in a real run too: host, clocks, statistics of the calls. Off: all alike, no statistics.
  bool own = true;
};

class Source {
 public:
  Source(const Pattern &pattern, Setting setting, SourceOptions options = {});
  ~Source();
  Source(const Source &) = delete;
  Source &operator=(const Source &) = delete;

  [[nodiscard]] const Setting &setting() const { return setting_; }
  [[nodiscard]] uint32_t ranks() const { return setting_.ranks; }
  trace::ProcessRecord record(uint32_t rank);
  /// Calls of the rank in order, as numbers of rows, expanded from the program itself and not from the grammar.
  [[nodiscard]] std::vector<uint32_t> calls(uint32_t rank) const;

  /// Of all records made so far.
  struct Totals {
    uint64_t calls = 0;
    uint64_t least_rows = UINT64_MAX;
    uint64_t most_rows = 0;
  };
  [[nodiscard]] const Totals &totals() const { return totals_; }

 private:
  struct Structure {
    grammar::Grammar calls;
    std::vector<uint64_t> counts;  ///< of each row
  };
  struct BuilderMemory;

  const Structure &structure_of(const Script &script);
  grammar::Grammar built(const Script &script, uint64_t length);

  const Pattern &pattern_;
  Setting setting_;
  SourceOptions options_;
  Totals totals_;
  std::unordered_map<Hash128, Structure, HashOf128> known_;
  std::unique_ptr<BuilderMemory> memory_;
};

}  // namespace cairn::scale
