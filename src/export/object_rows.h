// ObjectRows: what became of each object and each request of a rank, as rows of two tables (tables.h). docs/export.md
// has their columns.
//
// Fed with all calls of the rank in their order; a row is written where its object ends, or at the end. With a window
// only what was there within it, and has times, is told. Borrows the scope, the layouts and the writer. One thread.
// Memory for what is there.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "export/scope.h"
#include "export/tables.h"
#include "objects/rank_objects.h"

namespace cairn::exporting {

class ObjectRows {
 public:
  ObjectRows(const Scope &scope, uint32_t rank, objects::TypeLayouts *layouts, TableWriter *writer)
      : scope_(scope), rank_(rank), objects_(layouts), writer_(*writer) {}
  static const Table &objects_table();
  static const Table &requests_table();

  void see(const trace::Event &event);
  /// What is still there.
  void finish();
  /// Whether the tables could be begun.
  [[nodiscard]] const Result<void> &end() const { return end_; }

 private:
  /// `ended`: nullptr: it is still there.
  void request(const objects::Object &object, const trace::Event *ended);
  void object(const objects::Object &object, const trace::Event *ended);
  void forget(uint64_t call);
  /// What was there from that call on was so within the window.
  [[nodiscard]] bool is_wanted(uint64_t since, const trace::Event *ended) const;
  void row(const Table &table, const std::vector<Cell> &cells);

  const Scope &scope_;
  uint32_t rank_;
  objects::RankObjects objects_;
  TableWriter &writer_;
  struct Begin {
    uint64_t ns = 0;
    uint64_t open = 0;  ///< how many it made or started that have not ended
  };
  std::map<uint64_t, Begin> began_;  ///< with a window: by the calls that made or started something
  Result<void> end_;
};

}  // namespace cairn::exporting
